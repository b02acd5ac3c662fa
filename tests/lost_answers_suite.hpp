// SPDX-License-Identifier: BSL-1.0
// A network loses, cuts or delays any one round trip of a call: callers get the outcome that is in
// the log, and everything settles. Place gives
//
//   database, options, proxy          The types: the store, its options, a proxy before its server.
//   place, options short_waits()      A new database of the shared server; limits for lost answers.
//   address_at(place, port)           The address of the database through another port.
#pragma once

#include "patiently.hpp"
#include "sql_proxy.hpp"

#include <settle/settle.hpp>
#include <settle/testing/faults.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>

namespace settle_test {

using namespace std::chrono_literals;

namespace lost_answers {

using settle::field;
using settle::param;
using settle::participant;

struct purse {
    BOOST_HANA_DEFINE_STRUCT(purse, (std::string, id), (std::int64_t, coins));
};
inline constexpr settle::collection<purse, "purses", &purse::id> purses;

struct gift {
    BOOST_HANA_DEFINE_STRUCT(gift, (std::string, from), (std::string, to), (std::int64_t, coins));
};
inline constexpr auto gift_type =
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
inline constexpr std::array faults{
    shown_fault{fault::drop_request, "lost request"}, shown_fault{fault::drop_reply, "lost reply"},
    shown_fault{fault::cut_reply, "cut reply"}, shown_fault{fault::hold_request, "late request"}};

/// Purses, a watcher that reaches the server, and an engine behind a bad network.
template <typename Place>
class scene {
    using database = typename Place::database;
    static constexpr std::int64_t opening = 1000;

public:
    explicit scene(settle::phases how) : how_(how) {
        for (auto const* const id : {"a", "b", "c", "d", "e", "f"}) {
            watcher.create(purses, purse{id, opening}).value();
        }
    }

    /// Runs `act(id)`, which gives outcomes, with each of its round trips disturbed in turn.
    /// Shape:   before(id) - with a good network; least - the number of round trips, at least
    template <typename Before, typename Act>
    void disturb_each(int least, Before&& before, Act&& act) {
        for (auto const& fault : faults) {
            int nth = 1;
            for (bool has_struck = true; has_struck; ++nth) {
                REQUIRE(nth < 100);
                INFO(fault.name, ", round trip ", nth, ", phases ", static_cast<int>(how_));
                auto const id = std::to_string(++count_);
                before(id);
                int const hits = between.hits();
                between.add({.sql = "settle_", .nth = nth, .what = fault.what});
                std::vector<settle::outcome> const outcomes = act(id);
                has_struck = between.hits() != hits;
                between.release();
                between.clear_rules();
                REQUIRE(between.wait_for_landing());
                settle_all();
                for (auto const& outcome : outcomes) check(outcome);
                check_sums();
            }
            CHECK(nth - 2 >= least);
        }
    }
    /// Leaves a transaction as a worker does that ends at its commit.
    void leave_open(std::string const& id, settle::testing::fault_kind kind) {
        namespace st = settle::testing;
        st::faulty<database> with_faults{direct_};
        settle::engine crashing{with_faults, settle::type<gift_type>, settle::two_phases};
        with_faults.plan([&](st::call const& call) {
            return st::fault{call.what == "commit" ? kind : st::fault_kind::none};
        });
        CHECK_THROWS_AS(std::ignore = crashing.run(id, gift{"a", "b", 1}), st::crash);
    }

private:
    void settle_all() {
        for (int tries = 0; tries < 2 || watcher.marks().value() != 0; ++tries) {
            REQUIRE(tries < 200);
            static_cast<void>(watcher.recover({.older_than = 0ms}));
            static_cast<void>(watcher.sweep());
            if (tries != 0) std::this_thread::sleep_for(5ms);
        }
    }
    void check(settle::outcome const& outcome) {
        auto const entry = watcher.find(outcome.id).value();
        if (!outcome.done() && !outcome.canceled()) return;
        REQUIRE(entry.has_value());
        CHECK((entry->state == settle::state::done) == outcome.done());
    }
    /// Compares the purses with the transactions that are done.
    void check_sums() {
        std::map<std::string, std::int64_t> expected;
        for (settle::entry const& entry : watcher.list()) {
            CHECK(settle::is_final(entry.state));
            if (entry.state != settle::state::done) continue;
            auto const parameters = settle::decode_json<gift>(entry.parameters).value();
            expected[parameters.from] -= parameters.coins;
            expected[parameters.to] += parameters.coins;
        }
        for (purse const& each : watcher.scan(purses)) {
            CHECK_MESSAGE(each.coins == opening + expected[each.id], each.id);
        }
        CHECK(watcher.marks().value() == 0);
    }
    [[nodiscard]] static auto engine_of(database& in, settle::phases how) {
        settle::options limits;
        limits.takeover = 100ms;
        return settle::engine{in, settle::type<gift_type>, how, limits};
    }

    settle::phases how_;
    int count_ = 0;
    typename Place::place own_{};
    database direct_{own_.address()};

public:
    decltype(engine_of(std::declval<database&>(), settle::phases::one)) watcher =
        engine_of(direct_, how_);
    typename Place::proxy between{own_.port()};

private:
    std::unique_ptr<database> disturbed_ = patiently([&] {
        return std::make_unique<database>(Place::address_at(own_, between.port()),
                                          Place::short_waits());
    });

public:
    decltype(watcher) engine = patiently([&] { return engine_of(*disturbed_, how_); });
};

} // namespace lost_answers

/// Shape:   least - the round trips of a transfer
template <typename Place>
void check_lost_answers_of_run(settle::phases how, int least) {
    lost_answers::scene<Place> s{how};
    s.disturb_each(
        least, [](auto const&) {},
        [&](std::string const& id) {
            return std::vector{s.engine.run(id, lost_answers::gift{"a", "b", 1})};
        });
}

template <typename Place>
void check_lost_answers_of_batch(settle::phases how, int least) {
    using lost_answers::gift;
    lost_answers::scene<Place> s{how};
    s.disturb_each(
        least, [](auto const&) {},
        [&](std::string const& id) {
            std::vector<std::pair<std::string, gift>> const gifts{
                {id + "/1", {"a", "b", 1}}, {id + "/2", {"c", "d", 1}}, {id + "/3", {"e", "f", 1}},
                {id + "/4", {"b", "c", 1}}, {id + "/5", {"d", "e", 1}}, {id + "/6", {"f", "a", 1}}};
            return s.engine.run_all(gifts);
        });
}

template <typename Place>
void check_lost_answers_of_cancel() {
    lost_answers::scene<Place> s{settle::phases::two};
    s.disturb_each(
        2,
        [&](std::string const& id) { s.leave_open(id, settle::testing::fault_kind::crash_before); },
        [&](std::string const& id) { return std::vector{s.engine.cancel(id)}; });
}

template <typename Place>
void check_lost_answers_of_recover() {
    for (auto const kind :
         {settle::testing::fault_kind::crash_before, settle::testing::fault_kind::crash_after}) {
        lost_answers::scene<Place> s{settle::phases::two};
        s.disturb_each(
            3, [&](std::string const& id) { s.leave_open(id, kind); },
            [&](std::string const&) {
                static_cast<void>(s.engine.recover({.older_than = 0ms}));
                return std::vector<settle::outcome>{};
            });
    }
}

} // namespace settle_test
