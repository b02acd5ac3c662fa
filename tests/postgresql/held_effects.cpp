// SPDX-License-Identifier: BSL-1.0
// What a part leaves in its wave when its column or its table refuses it, and what another program
// does to rows and marks while settle runs.
#include "sums.hpp"

#include <settle/postgresql.hpp>
#include <settle/settle.hpp>

#include <algorithm>

namespace held_effects {

using namespace settle_test;
namespace {

using settle::field;
using settle::may_pass_zero;
using settle::param;
using settle::participant;

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance));
};
inline constexpr settle::collection<account, "accounts", &account::id> accounts;

/// One transaction of a wave: any of a credit, a debit without and with a guard, an assignment.
struct order {
    BOOST_HANA_DEFINE_STRUCT(order, (std::string, id), (std::int64_t, credited),
                             (std::int64_t, debited), (std::int64_t, at_least));
};
constexpr auto move_type = settle::transaction<order, "move">(
    participant<"of">(accounts, param<&order::id>)
        .apply(field<&account::balance> += param<&order::credited>,
               may_pass_zero(field<&account::balance> -= param<&order::debited>))
        .compensate(settle::inverse)
        .require(field<&account::balance> >= param<&order::at_least>));
constexpr auto set_type = settle::transaction<order, "set">(
    participant<"of">(accounts, param<&order::id>)
        .confirm(field<&account::balance> = param<&order::credited>));

template <typename... Options>
auto make(pg::database& db, Options const&... options) {
    return settle::engine{db, settle::type<move_type>, settle::type<set_type>, options...};
}

constexpr char const* narrow =
    "CREATE TABLE accounts (id text COLLATE \"C\" PRIMARY KEY, balance smallint NOT NULL)";

std::string balance_of(std::string const& address) {
    return ask_one(address, "SELECT balance FROM accounts WHERE id = 'a'");
}

/// A program that ends after the first apply.
struct ended_here : settle::testing::crash {};

} // namespace

TEST_CASE("held effects: a part that its column refuses leaves nothing for the parts after it") {
    constexpr std::int64_t none = -100'000;
    std::vector<order> orders{{"a", 40'000, 0, none}, {"a", 1, 0, none},
                              {"a", 0, 40'000, none}, {"a", 0, 1, 100},
                              {"a", 32'600, 0, none}, {"a", 0, 200, 101}};
    for (auto const how : all_phases) {
        fresh_schema const own;
        ask(own.address(), narrow);
        pg::database db{own.address()};
        auto engine = make(db, how);
        engine.create(accounts, account{"a", 100}).value();
        std::vector<std::size_t> turn{0, 1, 2, 3, 4, 5};
        int round = 0;
        do {
            // Every eleventh order of the six is enough.
            if (round++ % 11 != 0) continue;
            std::vector<order> wave;
            std::string shown;
            for (auto const number : turn) {
                wave.push_back(orders[number]);
                shown += std::to_string(number) + " ";
            }
            ask(own.address(), "UPDATE accounts SET balance = 100");
            std::int64_t expected = 100;
            auto const outcomes = engine.run_all<move_type>(wave);
            for (std::size_t number = 0; number < wave.size(); ++number) {
                auto const& request = wave[number];
                auto const after = expected + request.credited - request.debited;
                bool const fits = after >= -32'768 && after <= 32'767;
                bool const holds = expected >= request.at_least && fits;
                CAPTURE(shown);
                CAPTURE(number);
                INFO(outcomes[number].text());
                CHECK(outcomes[number].done() == holds);
                CHECK(outcomes[number].canceled() == !holds);
                if (holds) expected = after;
            }
            CHECK(balance_of(own.address()) == std::to_string(expected));
            CHECK(engine.marks().value() == 0);
        } while (std::next_permutation(turn.begin(), turn.end()));
    }
}

TEST_CASE("held effects: an assignment that its column refuses leaves nothing, too") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        ask(own.address(), narrow);
        pg::database db{own.address()};
        auto engine = make(db, how);
        engine.create(accounts, account{"a", 100}).value();
        std::vector<order> const wave{{"a", 40'000, 0, 0}, {"a", 7, 0, 0}, {"a", -40'000, 0, 0}};
        auto const outcomes = engine.run_all<set_type>(wave);
        CHECK_MESSAGE(outcomes[0].canceled(), outcomes[0].text());
        CHECK_MESSAGE(outcomes[1].done(), outcomes[1].text());
        CHECK_MESSAGE(outcomes[2].canceled(), outcomes[2].text());
        CHECK(balance_of(own.address()) == "7");
        CHECK(engine.run<move_type>("one", order{"a", 1, 0, 7}).done());
        CHECK(balance_of(own.address()) == "8");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("held effects: a write that a trigger swallows is not told as done") {
    for (auto const how : all_phases) {
        for (bool const assigns : {true, false}) {
            CAPTURE(assigns);
            fresh_schema const own;
            pg::database db{own.address()};
            auto engine = make(db, how);
            engine.create(accounts, account{"a", 100}).value();
            ask(own.address(),
                "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS "
                "'BEGIN RETURN NULL; END'; CREATE TRIGGER no BEFORE UPDATE ON accounts "
                "FOR EACH ROW EXECUTE FUNCTION no()");
            settle::call_options soon;
            soon.deadline = 5s;
            auto const outcome = assigns ? engine.run<set_type>("t1", order{"a", 7, 0, 0}, soon)
                                         : engine.run<move_type>("t1", order{"a", 7, 0, 0}, soon);
            INFO(outcome.text());
            CHECK_FALSE(outcome.done());
            CHECK(outcome.text().find("has a trigger or row security") != std::string::npos);
            CHECK(balance_of(own.address()) == "100");
        }
    }
}

TEST_CASE("held effects: no record is created beside a mark of its key") {
    fresh_schema const own;
    pg::database db{own.address()};
    auto engine = make(db, settle::two_phases);
    engine.create(accounts, account{"a", 100}).value();
    auto killed = make(db, settle::two_phases, settle::observed_by([](settle::event const& seen) {
                           if (seen.taken == settle::step::apply) throw ended_here{};
                       }));
    CHECK_THROWS(std::ignore = killed.run<move_type>("t1", order{"a", 30, 0, 0}));
    REQUIRE(engine.marks().value() == 1);
    // Another program erases the row, and its mark stays.
    ask(own.address(), "DELETE FROM accounts");
    auto const refused = engine.create(accounts, account{"a", 1000});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.problem().code == settle::errc::record_exists);
    CHECK(engine.cancel("t1").canceled());
    engine.create(accounts, account{"a", 1000}).value();
    CHECK(balance_of(own.address()) == "1000");
}

TEST_CASE("held effects: marks that another program moved in their table are confirmed") {
    for (auto const* const move :
         {"UPDATE settle_mark SET epoch = epoch", "VACUUM FULL settle_mark", "SELECT 1"}) {
        CAPTURE(move);
        fresh_schema const own;
        pg::database db{own.address()};
        auto engine = make(db, settle::two_phases, settle::observed_by([&](auto const& seen) {
                               if (seen.taken == settle::step::apply) ask(own.address(), move);
                           }));
        engine.create(accounts, account{"a", 100}).value();
        std::vector<order> const wave{{"a", 1, 0, 0}, {"a", 0, 2, 0}, {"a", 4, 0, 0}};
        for (auto const& one : engine.run_all<move_type>(wave))
            CHECK_MESSAGE(one.done(), one.text());
        CHECK(engine.run<move_type>("one", order{"a", 8, 0, 0}).done());
        CHECK(balance_of(own.address()) == "111");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("held effects: an expression of a user raises no error of settle") {
    fresh_schema const own;
    pg::database db{own.address()};
    auto engine = make(db);
    engine.create(accounts, account{"a", 100}).value();
    ask(own.address(), "ALTER TABLE accounts ADD CHECK (1 / (107 - balance) IS NOT NULL)");
    auto const outcome = engine.run<move_type>("t1", order{"a", 7, 0, 0});
    INFO(outcome.text());
    CHECK(outcome.why == settle::reason::record_unusable);
    CHECK(outcome.text().find("division by zero") != std::string::npos);
    CHECK(outcome.text().find("trigger") == std::string::npos);
    CHECK(engine.run<move_type>("t2", order{"a", 8, 0, 0}).done());
}

} // namespace held_effects
