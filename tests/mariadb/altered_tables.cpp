// SPDX-License-Identifier: BSL-1.0
// Another program alters a table while settle runs: nothing moves in another unit, no column is
// lost, and what the alteration does not concern goes on.
#include "altered_tables_suite.hpp"
#include "fixtures.hpp"

namespace settle_test {
namespace {

using namespace altered_tables;

/// For altered_tables_suite.hpp.
struct fixture : mariadb_fixture {
    static void make_accounts(fresh_mariadb const& own, std::string const& type) {
        own.ask("CREATE TABLE accounts (id VARCHAR(50) CHARACTER SET utf8mb4 COLLATE "
                "utf8mb4_nopad_bin PRIMARY KEY, balance " +
                type + " NOT NULL)");
    }
    static void change_balance(fresh_mariadb const& own, std::string const& type) {
        own.ask("ALTER TABLE accounts MODIFY balance " + type + " NOT NULL");
    }
};

TEST_CASE("altered tables: another type or scale of a column stops all that uses it") {
    check_another_type<fixture>();
}

TEST_CASE("altered tables: a row with a column that was added is not erased without it") {
    check_added_column<fixture>();
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
            CHECK_MESSAGE(outcome.canceled(), outcome.text());
        }
        CHECK(own.ask_one("SELECT balance FROM accounts") == "101.00");
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

} // namespace
} // namespace settle_test
