// SPDX-License-Identifier: BSL-1.0
// Another program alters a table while settle runs: nothing moves in another unit, and a sentence
// says what to do.
#include "sums.hpp"

#include <settle/postgresql.hpp>
#include <settle/settle.hpp>

namespace altered_tables {

using namespace settle_test;
namespace {

using settle::field;
using settle::param;
using settle::participant;

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance));
};
inline constexpr settle::collection<account, "accounts", &account::id> accounts;

struct credit {
    BOOST_HANA_DEFINE_STRUCT(credit, (std::string, id), (std::int64_t, amount));
};
constexpr auto credit_type = settle::transaction<credit, "credit">(
    participant<"to">(accounts, param<&credit::id>)
        .apply(field<&account::balance> += param<&credit::amount>)
        .compensate(settle::inverse));
constexpr auto set_type = settle::transaction<credit, "set">(
    participant<"to">(accounts, param<&credit::id>)
        .confirm(field<&account::balance> = param<&credit::amount>));

struct removal {
    BOOST_HANA_DEFINE_STRUCT(removal, (std::string, id));
};
constexpr auto removal_type = settle::transaction<removal, "removal">(
    participant<"gone">(accounts, param<&removal::id>).confirm(settle::erase));

template <typename... Options>
auto make(pg::database& db, Options const&... options) {
    return settle::engine{db, settle::type<credit_type>, settle::type<set_type>,
                          settle::type<removal_type>, options...};
}

constexpr char const* sentence = "its table was altered since this program began. "
                                 "Start this program again";

} // namespace

TEST_CASE("altered tables: another type or scale of a column stops all that uses it") {
    for (auto const how : all_phases) {
        for (bool const is_fresh : {false, true}) {
            CAPTURE(is_fresh);
            fresh_schema const own;
            ask(own.address(), "CREATE TABLE accounts (id text COLLATE \"C\" PRIMARY KEY, "
                               "balance numeric(18,2) NOT NULL)");
            pg::database db{own.address()};
            auto engine = make(db, how);
            engine.create(accounts, account{"a", 100}).value();
            if (!is_fresh) {
                // Its statements are prepared, and one of another program's is not.
                CHECK(engine.run<credit_type>("t0", credit{"a", 1}).done());
                CHECK(engine.run<set_type>("t1", credit{"a", 100}).done());
            }
            for (char const* type : {"numeric(18,4)", "bigint"}) {
                INFO(type);
                ask(own.address(), std::string{"ALTER TABLE accounts ALTER balance TYPE "} + type);
                settle::call_options soon;
                soon.deadline = 20s;
                for (bool const assigns : {false, true}) {
                    auto const outcome = assigns ? engine.run<set_type>(credit{"a", 7}, soon)
                                                 : engine.run<credit_type>(credit{"a", 7}, soon);
                    INFO(outcome.text());
                    CHECK_FALSE(outcome.done());
                    CHECK(outcome.text().find(sentence) != std::string::npos);
                }
                CHECK(engine.create(accounts, account{"b", 7}).problem().text.find(sentence) !=
                      std::string::npos);
                CHECK(engine.read(accounts, "a").problem().text.find(sentence) !=
                      std::string::npos);
                CHECK(ask_one(own.address(), "SELECT sum(balance)::int FROM accounts") == "1");
            }
            auto again = make(db, how);
            CHECK(again.read(accounts, "a").value()->balance == 1);
            CHECK(again.run<credit_type>("t9", credit{"a", 7}).done());
        }
    }
}

TEST_CASE("altered tables: a row with a column that was added is not erased without it") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        pg::database db{own.address()};
        auto engine = make(db, how);
        engine.create(accounts, account{"a", 100}).value();
        ask(own.address(), "ALTER TABLE accounts ADD COLUMN owner text DEFAULT 'me'");
        settle::call_options soon;
        soon.deadline = 20s;
        auto const kept = engine.run<removal_type>("gone", removal{"a"}, soon);
        INFO(kept.text());
        CHECK_FALSE(kept.done());
        CHECK(kept.text().find(sentence) != std::string::npos);
        CHECK(engine.run<credit_type>("t1", credit{"a", 1}).done());
        auto again = make(db, how);
        CHECK(again.run<removal_type>("gone 2", removal{"a"}).done());
        auto const back = again.reverse("gone 2");
        CHECK_MESSAGE(back.done(), back.text());
        CHECK(ask_one(own.address(), "SELECT owner || balance FROM accounts") == "me101");
    }
}

} // namespace altered_tables
