// SPDX-License-Identifier: BSL-1.0
// Another program alters a table while settle runs: nothing moves in another unit, and a sentence
// says what to do. Fixture is an sql_fixture with
//
//   make_accounts(place, type)    makes the table of accounts with a balance of that type
//   change_balance(place, type)   changes the type of the balance
#pragma once

#include "failures.hpp"

#include <settle/settle.hpp>

#include <array>
#include <vector>

namespace settle_test::altered_tables {

using namespace std::chrono_literals;
using settle::field;
using settle::param;
using settle::participant;

inline constexpr std::array both{settle::phases::one, settle::phases::two};
inline constexpr char const* sentence = "its table was altered since this program began. "
                                        "Start this program again";

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance));
};
inline constexpr settle::collection<account, "accounts", &account::id> accounts;

struct credit {
    BOOST_HANA_DEFINE_STRUCT(credit, (std::string, id), (std::int64_t, amount));
};
inline constexpr auto credit_type = settle::transaction<credit, "credit">(
    participant<"to">(accounts, param<&credit::id>)
        .apply(field<&account::balance> += param<&credit::amount>)
        .compensate(settle::inverse));
inline constexpr auto set_type = settle::transaction<credit, "set">(
    participant<"to">(accounts, param<&credit::id>)
        .confirm(field<&account::balance> = param<&credit::amount>));
struct removal {
    BOOST_HANA_DEFINE_STRUCT(removal, (std::string, id));
};
inline constexpr auto removal_type = settle::transaction<removal, "removal">(
    participant<"gone">(accounts, param<&removal::id>).confirm(settle::erase));

template <typename Database, typename... Options>
auto make(Database& db, Options const&... options) {
    return settle::engine{db, settle::type<credit_type>, settle::type<set_type>,
                          settle::type<removal_type>, options...};
}

inline settle::call_options soon() {
    settle::call_options limits;
    limits.deadline = 20s;
    return limits;
}

template <typename Fixture>
void check_another_type() {
    for (auto const how : both) {
        for (bool const is_fresh : {false, true}) {
            CAPTURE(is_fresh);
            typename Fixture::place const own;
            Fixture::make_accounts(own, "DECIMAL(18,2)");
            typename Fixture::database db{own.address()};
            auto engine = make(db, how);
            engine.create(accounts, account{"a", 100}).value();
            if (!is_fresh) {
                CHECK(engine.template run<credit_type>("t0", credit{"a", 1}).done());
                CHECK(engine.template run<set_type>("t1", credit{"a", 100}).done());
            }
            for (char const* type : {"DECIMAL(18,4)", "BIGINT"}) {
                INFO(type);
                Fixture::change_balance(own, type);
                for (bool const assigns : {false, true}) {
                    auto const outcome =
                        assigns ? engine.template run<set_type>(credit{"a", 7}, soon())
                                : engine.template run<credit_type>(credit{"a", 7}, soon());
                    INFO(outcome.text());
                    CHECK(outcome.canceled());
                    CHECK(outcome.text().find(sentence) != std::string::npos);
                    std::vector<credit> const several(5, credit{"a", 7});
                    for (auto const& each : engine.template run_all<credit_type>(several)) {
                        CHECK_MESSAGE(each.canceled(), each.text());
                    }
                }
                CHECK(says(engine.create(accounts, account{"b", 7}).problem(), sentence));
                CHECK(says(engine.read(accounts, "a").problem(), sentence));
                CHECK(own.ask_one("SELECT CAST(SUM(balance) AS NUMERIC(18)) FROM accounts") == "1");
            }
            auto again = make(db, how);
            CHECK(again.read(accounts, "a").value()->balance == 1);
            CHECK(again.template run<credit_type>("t9", credit{"a", 7}).done());
        }
    }
}

template <typename Fixture>
void check_added_column() {
    for (auto const how : both) {
        typename Fixture::place const own;
        typename Fixture::database db{own.address()};
        auto engine = make(db, how);
        engine.create(accounts, account{"a", 100}).value();
        own.ask("ALTER TABLE accounts ADD COLUMN owner TEXT DEFAULT 'me'");
        auto const kept = engine.template run<removal_type>("gone", removal{"a"}, soon());
        INFO(kept.text());
        CHECK_FALSE(kept.done());
        CHECK(kept.text().find(sentence) != std::string::npos);
        CHECK(engine.template run<credit_type>("t1", credit{"a", 1}).done());
        auto again = make(db, how);
        CHECK(again.template run<removal_type>("gone 2", removal{"a"}).done());
        auto const back = again.reverse("gone 2");
        CHECK_MESSAGE(back.done(), back.text());
        CHECK(own.ask_one("SELECT CONCAT(owner, balance) FROM accounts") == "me101");
    }
}

} // namespace settle_test::altered_tables
