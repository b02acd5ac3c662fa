// SPDX-License-Identifier: BSL-1.0
// Another program alters a table while settle runs: nothing moves in another unit, no column is
// lost, and what the alteration does not concern goes on.
#include "fixtures.hpp"

#include <contains.hpp>

#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <array>

namespace mariadb_altered_tables {
namespace {

using namespace std::chrono_literals;
using settle::field;
using settle::param;
using settle::participant;
using settle_test::fresh_mariadb;
using testing::contains;

constexpr std::array both{settle::phases::one, settle::phases::two};

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance));
};
constexpr settle::collection<account, "accounts", &account::id> accounts;

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
auto make(settle::mariadb::database& db, Options const&... options) {
    return settle::engine{db, settle::type<credit_type>, settle::type<set_type>,
                          settle::type<removal_type>, options...};
}

settle::call_options soon() {
    settle::call_options limits;
    limits.deadline = 20s;
    return limits;
}

std::string const with_key = "CREATE TABLE accounts (id VARCHAR(50) CHARACTER SET utf8mb4 COLLATE "
                             "utf8mb4_nopad_bin PRIMARY KEY, balance ";

} // namespace

TEST_CASE("altered tables: another type or scale of a column stops all that uses it") {
    for (auto const how : both) {
        for (bool const is_fresh : {false, true}) {
            CAPTURE(is_fresh);
            fresh_mariadb const own;
            own.ask(with_key + "DECIMAL(18,2) NOT NULL)");
            settle::mariadb::database db{own.address()};
            auto engine = make(db, how);
            engine.create(accounts, account{"a", 100}).value();
            if (!is_fresh) {
                CHECK(engine.run<credit_type>("t0", credit{"a", 1}).done());
                CHECK(engine.run<set_type>("t1", credit{"a", 100}).done());
            }
            for (char const* type : {"DECIMAL(18,4)", "BIGINT"}) {
                INFO(type);
                own.ask(std::string{"ALTER TABLE accounts MODIFY balance "} + type + " NOT NULL");
                for (bool const assigns : {false, true}) {
                    auto const outcome = assigns ? engine.run<set_type>(credit{"a", 7}, soon())
                                                 : engine.run<credit_type>(credit{"a", 7}, soon());
                    INFO(outcome.text());
                    CHECK(outcome.canceled());
                    CHECK(outcome.text().find("altered") != std::string::npos);
                    std::vector<credit> const several(5, credit{"a", 7});
                    for (auto const& each : engine.run_all<credit_type>(several)) {
                        CHECK_MESSAGE(each.canceled(), each.text());
                    }
                }
                auto const made = engine.create(accounts, account{"b", 7});
                CHECK(made.problem().text.find("its table was altered since this program began. "
                                               "Start this program again") != std::string::npos);
                CHECK(engine.read(accounts, "a").problem().text.find("altered") !=
                      std::string::npos);
                CHECK(own.ask_one("SELECT CAST(SUM(balance) AS INT) FROM accounts") == "1");
            }
            auto again = make(db, how);
            CHECK(again.read(accounts, "a").value()->balance == 1);
            CHECK(again.run<credit_type>("t9", credit{"a", 7}).done());
        }
    }
}

TEST_CASE("altered tables: a whole number that became a fraction stops what uses it") {
    for (auto const how : both) {
        fresh_mariadb const own;
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        engine.create(accounts, account{"a", 100}).value();
        CHECK(engine.run<credit_type>(credit{"a", 1}).done());
        own.ask("ALTER TABLE accounts MODIFY balance DECIMAL(18,2) NOT NULL");
        for (auto const& outcome : {engine.run<credit_type>(credit{"a", 7}, soon()),
                                    engine.run<set_type>(credit{"a", 7}, soon())}) {
            INFO(outcome.text());
            CHECK_FALSE(outcome.done());
            CHECK(contains(outcome.text(), "its table was altered since this program began"));
            CHECK(contains(outcome.text(), "Start this program again"));
        }
        CHECK(contains(engine.read(accounts, "a").problem().text, "was altered"));
        CHECK(own.ask_one("SELECT balance FROM accounts") == "101.00");
    }
}

TEST_CASE("altered tables: a row with a column that was added is not erased without it") {
    for (auto const how : both) {
        fresh_mariadb const own;
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        engine.create(accounts, account{"a", 100}).value();
        own.ask("ALTER TABLE accounts ADD COLUMN owner TEXT DEFAULT 'me'");
        auto const kept = engine.run<removal_type>("gone", removal{"a"}, soon());
        INFO(kept.text());
        CHECK_FALSE(kept.done());
        CHECK(kept.text().find("its table was altered since this program began") !=
              std::string::npos);
        CHECK(engine.run<credit_type>("t1", credit{"a", 1}).done());
        auto again = make(db, how);
        CHECK(again.run<removal_type>("gone 2", removal{"a"}).done());
        auto const back = again.reverse("gone 2");
        CHECK_MESSAGE(back.done(), back.text());
        CHECK(own.ask_one("SELECT CONCAT(owner, balance) FROM accounts") == "me101");
    }
}

TEST_CASE("altered tables: columns that no member names come and go beside transactions") {
    for (auto const how : both) {
        fresh_mariadb const own;
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        for (char const* id : {"a", "b", "c", "d", "e"}) {
            engine.create(accounts, account{id, 0}).value();
        }
        std::vector<credit> const several{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};
        std::string const changes[]{"ADD COLUMN extra INT",        "ADD COLUMN first INT FIRST",
                                    "DROP COLUMN extra",           "ADD KEY (balance)",
                                    "MODIFY balance BIGINT FIRST", "FORCE"};
        for (auto const& change : changes) {
            INFO(change);
            own.ask("ALTER TABLE accounts " + change);
            CHECK(engine.run<credit_type>(credit{"a", 1}).done());
            for (auto const& outcome : engine.run_all<credit_type>(several)) {
                CHECK_MESSAGE(outcome.done(), outcome.text());
            }
            CHECK(engine.read(accounts, "b").has_value());
            std::size_t seen = 0;
            for (account const& each : engine.scan(accounts)) seen += each.id.size();
            CHECK(seen == 5);
        }
        CHECK(own.ask_one("SELECT SUM(balance) FROM accounts") == "36");
    }
}

TEST_CASE("altered tables: a table that is gone holds no transaction of another table") {
    struct order {
        BOOST_HANA_DEFINE_STRUCT(order, (std::int64_t, number), (std::string, note));
    };
    static constexpr settle::collection<order, "orders", &order::number> orders;
    struct payment {
        BOOST_HANA_DEFINE_STRUCT(payment, (std::string, from), (std::int64_t, number));
    };
    static constexpr auto payment_type = settle::transaction<payment, "payment">(
        participant<"from">(accounts, param<&payment::from>)
            .apply(field<&account::balance> -= settle::lit<10>)
            .compensate(settle::inverse)
            .require(field<&account::balance> >= settle::lit<10>),
        participant<"order">(orders, param<&payment::number>)
            .confirm(field<&order::note> = settle::lit<"paid">));
    for (auto const how : both) {
        for (std::string const change : {"ALTER TABLE orders DROP COLUMN note", "DROP TABLE orders",
                                         "RENAME TABLE orders TO others"}) {
            INFO(change);
            fresh_mariadb const own;
            settle::mariadb::database db{own.address()};
            settle::options limits;
            limits.patience = 3s;
            auto engine = make(db, settle::type<payment_type>, how, limits);
            engine.create(accounts, account{"a", 100}).value();
            engine.create(orders, order{1, "new"}).value();
            CHECK(engine.run(payment{"a", 1}).done());
            own.ask(change);
            CHECK(engine.submit<credit_type>("c1", credit{"a", 1}).problem.empty());
            CHECK(engine.submit<payment_type>("p1", payment{"a", 1}).problem.empty());
            CHECK(engine.submit<credit_type>("c2", credit{"a", 2}).problem.empty());
            CHECK(engine.work().done == 2);
            CHECK(engine.find("p1").value()->state != settle::state::done);
            CHECK(engine.run<credit_type>(credit{"a", 3}).done());
        }
    }
}

} // namespace mariadb_altered_tables
