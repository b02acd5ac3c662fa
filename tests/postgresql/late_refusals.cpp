// SPDX-License-Identifier: BSL-1.0
// What a table could refuse only at the confirm is refused at the apply, and a table that refuses
// everything holds no other table.
#include "sums.hpp"

#include <settle/postgresql.hpp>
#include <settle/settle.hpp>

#include <random>

namespace late_refusals {

using namespace settle_test;
namespace {

using settle::field;
using settle::param;
using settle::participant;

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance));
};
struct order {
    BOOST_HANA_DEFINE_STRUCT(order, (std::int64_t, number), (std::string, note));
};
inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::collection<order, "orders", &order::number> orders;

struct payment {
    BOOST_HANA_DEFINE_STRUCT(payment, (std::string, from), (std::int64_t, number),
                             (std::string, note));
};
constexpr auto payment_type = settle::transaction<payment, "payment">(
    participant<"from">(accounts, param<&payment::from>)
        .apply(field<&account::balance> -= settle::lit<10>)
        .compensate(settle::inverse)
        .require(field<&account::balance> >= settle::lit<10>),
    participant<"order">(orders, param<&payment::number>)
        .confirm(field<&order::note> = param<&payment::note>));

struct opening {
    BOOST_HANA_DEFINE_STRUCT(opening, (std::int64_t, number));
};
constexpr auto opening_type = settle::transaction<opening, "opening">(
    participant<"order">(orders, param<&opening::number>)
        .apply(settle::create(field<&order::note> = settle::lit<"new">))
        .compensate(settle::inverse));

struct credit {
    BOOST_HANA_DEFINE_STRUCT(credit, (std::string, id), (std::int64_t, amount));
};
constexpr auto credit_type = settle::transaction<credit, "credit">(
    participant<"to">(accounts, param<&credit::id>)
        .apply(field<&account::balance> += param<&credit::amount>)
        .compensate(settle::inverse));

template <typename... Options>
auto make(pg::database& db, Options const&... options) {
    return settle::engine{db, settle::type<payment_type>, settle::type<opening_type>,
                          settle::type<credit_type>, options...};
}

/// A text that does not compress.
std::string noise(std::size_t size) {
    std::mt19937 random{7};
    std::string made;
    while (made.size() < size) made += "0123456789abcdef"[random() % 16];
    return made;
}

} // namespace

TEST_CASE("late refusals: a text that an index cannot hold cancels, and the payer pays nothing") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        pg::database db{own.address()};
        auto engine = make(db, how);
        engine.create(accounts, account{"a", 100}).value();
        for (std::int64_t const number : {1, 2}) {
            engine.create(orders, order{number, "new"}).value();
        }
        ask(own.address(), "CREATE INDEX ON orders (note, number)");
        auto again = make(db, how);
        std::vector<payment> const wave{{"a", 1, noise(6400)}, {"a", 2, std::string(6400, 'x')}};
        auto const outcomes = again.run_all<payment_type>(wave);
        INFO(outcomes[0].text());
        CHECK(outcomes[0].why == settle::reason::record_unusable);
        CHECK(outcomes[0].text().find("SQLSTATE 54000") != std::string::npos);
        CHECK_MESSAGE(outcomes[1].done(), outcomes[1].text());
        CHECK(ask_one(own.address(), "SELECT balance FROM accounts") == "90");
        CHECK(ask_one(own.address(), "SELECT string_agg(left(note, 3), ' ' ORDER BY number) "
                                     "FROM orders") == "new xxx");
        CHECK(again.marks().value() == 0);
    }
}

TEST_CASE("late refusals: a key that the server draws is written all the same") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        ask(own.address(), "CREATE TABLE orders (number int8 GENERATED ALWAYS AS IDENTITY "
                           "PRIMARY KEY, note text NOT NULL)");
        pg::database db{own.address()};
        auto engine = make(db, how);
        engine.create(orders, order{7, "seven"}).value();
        auto const opened = engine.run("t1", opening{8});
        CHECK_MESSAGE(opened.done(), opened.text());
        CHECK(ask_one(own.address(), "SELECT sum(number) FROM orders") == "15");
    }
}

TEST_CASE("late refusals: a table that takes no change any more holds no other table") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        pg::database db{own.address()};
        auto engine = make(db, how);
        engine.create(accounts, account{"a", 100}).value();
        engine.create(orders, order{1, "new"}).value();
        ask(own.address(), "ALTER TABLE orders DROP COLUMN note");
        settle::call_options soon;
        soon.deadline = 20s;
        auto const held = engine.run("t1", payment{"a", 1, "paid"}, soon);
        INFO(held.text());
        CHECK_FALSE(held.done());
        CHECK(held.text().find("SQLSTATE 42703") != std::string::npos);
        std::vector<credit> const credits{{"a", 1}, {"a", 2}};
        for (auto const& outcome : engine.run_all<credit_type>(credits)) {
            CHECK_MESSAGE(outcome.done(), outcome.text());
        }
    }
}

TEST_CASE("late refusals: a table that takes no change any more holds no transaction of its wave") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        pg::database db{own.address()};
        settle::options limits;
        limits.patience = 5s;
        auto engine = make(db, how, limits);
        engine.create(accounts, account{"a", 100}).value();
        engine.create(orders, order{1, "new"}).value();
        ask(own.address(), "ALTER TABLE orders DROP COLUMN note");
        CHECK(engine.submit("c1", credit{"a", 1}).problem.empty());
        CHECK(engine.submit("p1", payment{"a", 1, "paid"}).problem.empty());
        CHECK(engine.submit("c2", credit{"a", 2}).problem.empty());
        CHECK(engine.work().done == 2);
        for (char const* const id : {"c1", "c2"}) {
            CHECK(engine.find(id).value()->state == settle::state::done);
        }
        CHECK(engine.find("p1").value()->state != settle::state::done);
    }
}

} // namespace late_refusals
