// SPDX-License-Identifier: BSL-1.0
// A network loses, cuts or delays any one of a transaction's round trips: callers get the outcome
// that is in the log, and everything settles.
#include "fixtures.hpp"
#include "patiently.hpp"
#include "proxy.hpp"

#include <settle/settle.hpp>

#include <doctest/doctest.h>

namespace {

using settle::field;
using settle::param;
using settle::participant;
using settle_test::ask_one;
using settle_test::fault;
using settle_test::fresh_schema;
using settle_test::proxy;

struct purse {
    BOOST_HANA_DEFINE_STRUCT(purse, (std::string, id), (std::int64_t, coins));
};
constexpr settle::collection<purse, "purses", &purse::id> purses;

struct gift {
    BOOST_HANA_DEFINE_STRUCT(gift, (std::string, from), (std::string, to), (std::int64_t, coins));
};
constexpr auto gift_type =
    settle::transaction<gift, "gift">(participant<"from">(purses, param<&gift::from>)
                                          .require(field<&purse::coins> >= param<&gift::coins>)
                                          .apply(field<&purse::coins> -= param<&gift::coins>)
                                          .compensate(settle::inverse),
                                      participant<"to">(purses, param<&gift::to>)
                                          .confirm(field<&purse::coins> += param<&gift::coins>));

struct shown_fault {
    fault what;
    char const* name;
};
constexpr shown_fault faults[]{{fault::drop_request, "lost request"},
                               {fault::drop_reply, "lost reply"},
                               {fault::cut_reply, "cut reply"},
                               {fault::hold_request, "late request"}};

} // namespace

TEST_CASE("lost answers: a transaction settles with the outcome that its caller got") {
    using namespace std::chrono_literals;
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        fresh_schema const own;
        settle::postgresql::database direct{own.address()};
        settle::engine watcher{direct, settle::type<gift_type>, how};
        watcher.create(purses, purse{"a", 1000}).value();
        watcher.create(purses, purse{"b", 0}).value();
        proxy between{own.port()};
        settle::postgresql::database_options short_waits;
        short_waits.statement_timeout = 250ms;
        short_waits.answer_timeout = 300ms;
        auto db = settle_test::patiently([&] {
            return std::make_unique<settle::postgresql::database>(
                own.address_at(between.port(), proxy::options), short_waits);
        });
        auto engine = settle_test::patiently(
            [&] { return settle::engine{*db, settle::type<gift_type>, how}; });
        std::int64_t moved = 0;
        int count = 0;
        // One phase has one round trip, and a repeated one may have more.
        int const expected = how == settle::phases::one ? 1 : 5;
        for (auto const& one : faults) {
            int const before = between.hits();
            for (int nth = 1; nth <= 5; ++nth) {
                INFO(one.name, ", round trip ", nth, ", phases ", static_cast<int>(how));
                between.clear_rules();
                between.add({.sql = "settle_", .nth = nth, .what = one.what});
                auto const id = std::to_string(++count);
                auto const outcome = engine.run(id, gift{"a", "b", 1});
                between.release();
                between.clear_rules();
                REQUIRE(between.wait_for_landing());
                for (int tries = 0; tries < 2 || watcher.marks().value() != 0; ++tries) {
                    REQUIRE(tries < 200);
                    static_cast<void>(watcher.recover({.older_than = 0ms}));
                    static_cast<void>(watcher.sweep());
                    std::this_thread::sleep_for(5ms);
                }
                auto const entry = watcher.find(id).value();
                if (outcome.done() || outcome.canceled()) {
                    REQUIRE(entry.has_value());
                    CHECK((entry->state == settle::state::done) == outcome.done());
                }
                if (entry) CHECK(settle::is_final(entry->state));
                moved += entry && entry->state == settle::state::done ? 1 : 0;
                CHECK(watcher.read(purses, "a").value()->coins == 1000 - moved);
                CHECK(watcher.read(purses, "b").value()->coins == moved);
                CHECK(watcher.marks().value() == 0);
            }
            CHECK(between.hits() - before >= expected);
        }
        CHECK(moved > 5);
    }
}
