// SPDX-License-Identifier: BSL-1.0
// A user with rights on the tables of a database alone is enough, and an error without one of them
// names the right.
#include "fixtures.hpp"

#include <settle/settle.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>

namespace mariadb_rights {
namespace {

using settle_test::fresh_mariadb;
using settle_test::mariadb_session;

/// A user of the server with rights on one database, or on tables of it.
class user {
public:
    user(fresh_mariadb const& in, std::string const& suffix, std::string const& rights,
         std::vector<std::string> tables = {"*"})
        : in_{in}, name_{in.name() + suffix}, tables_{std::move(tables)} {
        in_.ask("CREATE USER " + name_);
        grant(rights);
    }
    user(user const&) = delete;
    user& operator=(user const&) = delete;
    ~user() {
        try {
            in_.ask("DROP USER " + name_);
        } catch (std::exception const&) {
            // The database's end reports a server that is gone.
        }
    }
    void revoke(std::string const& right) const {
        for (auto const& table : tables_) {
            in_.ask("REVOKE " + right + " ON " + in_.name() + "." + table + " FROM " + name_);
        }
    }
    void grant(std::string const& right) const {
        for (auto const& table : tables_) {
            in_.ask("GRANT " + right + " ON " + in_.name() + "." + table + " TO " + name_);
        }
    }
    [[nodiscard]] std::string address() const {
        auto all = in_.address();
        auto const from = all.find("//") + 2;
        return all.replace(from, all.find('@') - from, name_);
    }

private:
    fresh_mariadb const& in_;
    std::string name_;
    std::vector<std::string> tables_;
};

auto engine_of(settle::mariadb::database& db, settle::phases how) {
    return settle::engine{db, settle::type<bank::transfer_type>, how};
}

void make_accounts(std::string const& address) {
    settle::mariadb::database db{address};
    auto teller = engine_of(db, settle::phases::one);
    REQUIRE(teller.create(bank::accounts, {"A", 1000, 1000}).has_value());
    REQUIRE(teller.create(bank::accounts, {"B", 0, 0}).has_value());
}

/// Everything that an engine does.
void use_everything(std::string const& address) {
    settle::mariadb::database db{address};
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        auto teller = engine_of(db, how);
        CHECK(teller.run(bank::transfer{"A", "B", 1}).done());
        auto const submitted = teller.submit(bank::transfer{"A", "B", 1});
        CHECK_MESSAGE(submitted.problem.empty(), submitted.problem);
        CHECK(teller.work().done == 1);
        std::vector<bank::transfer> const several(20, bank::transfer{"A", "B", 1});
        for (auto const& outcome : teller.run_all(several)) {
            CHECK_MESSAGE(outcome.done(), outcome.text());
        }
        CHECK(teller.recover().problem.empty());
        CHECK(teller.sweep().problem.empty());
        CHECK(teller.purge().problem.empty());
        CHECK_FALSE(teller.page({}, "", 100).value().empty());
        CHECK(teller.marks().value() == 0);
    }
}

} // namespace

TEST_CASE("rights: a user who may make tables, and a user who may use them") {
    fresh_mariadb const own;
    user const makes{own, "_makes", "SELECT, INSERT, UPDATE, DELETE, CREATE, CREATE VIEW"};
    make_accounts(makes.address());
    use_everything(makes.address());
    user const uses{own, "_uses", "SELECT, INSERT, UPDATE, DELETE"};
    use_everything(uses.address());
    CHECK(own.ask_one("SELECT SUM(balance) FROM accounts") == "1000");
    CHECK(own.ask_one("SELECT COUNT(*) FROM settle_entries WHERE state = 'done'") == "88");
}

TEST_CASE("rights: if a right is missing, the sentence names it and the table") {
    fresh_mariadb const own;
    make_accounts(own.address());
    // A session notices a change of the rights on its tables at once.
    user const lacks{own,
                     "_lacks",
                     "SELECT, INSERT, UPDATE, DELETE",
                     {"accounts", "settle_entry", "settle_mark", "settle_meta"}};
    for (std::string const right : {"SELECT", "INSERT", "UPDATE", "DELETE"}) {
        for (auto const how : {settle::phases::one, settle::phases::two}) {
            // One phase erases nothing.
            if (right == "DELETE" && how == settle::phases::one) continue;
            INFO(right);
            settle::mariadb::database db{lacks.address()};
            settle::options limits;
            limits.patience = std::chrono::seconds{2};
            settle::engine teller{db, settle::type<bank::transfer_type>, how, limits};
            lacks.revoke(right);
            settle::call_options soon;
            soon.deadline = std::chrono::seconds{3};
            auto const ended = teller.run(bank::transfer{"A", "B", 1}, soon);
            INFO(ended.text());
            CHECK_FALSE(ended.done());
            CHECK(ended.text().find(right + " command denied to user") != std::string::npos);
            CHECK(ended.text().find("Give the user this right. See mariadb#rights") !=
                  std::string::npos);
            lacks.grant(right);
        }
    }
    settle::mariadb::database db{own.address()};
    auto teller = engine_of(db, settle::phases::two);
    static_cast<void>(teller.recover({.older_than = std::chrono::milliseconds{0}}));
    CHECK(teller.marks().value() == 0);
    CHECK(own.ask_one("SELECT SUM(balance) FROM accounts") == "1000");
}

TEST_CASE("rights: a user who cannot make a table or the view is told which right is missing") {
    fresh_mariadb const own;
    for (std::string const right : {"CREATE", "CREATE VIEW"}) {
        user const lacks{own, "_lacks", "SELECT, INSERT, UPDATE, DELETE, CREATE, CREATE VIEW"};
        lacks.revoke(right);
        auto const refused = settle::mariadb::database::open(lacks.address());
        REQUIRE_FALSE(refused.has_value());
        INFO(refused.problem().text);
        CHECK(refused.problem().code == settle::mariadb::command_denied);
        CHECK(refused.problem().text.find(right + " command denied to user") != std::string::npos);
        CHECK(refused.problem().text.find("Give the user this right") != std::string::npos);
        own.ask("DROP TABLE IF EXISTS settle_entry, settle_mark, settle_meta");
    }
    // A collection's table is missing later.
    settle::mariadb::database const database{own.address()};
    user const uses{own, "_uses", "SELECT, INSERT, UPDATE, DELETE"};
    settle::mariadb::database db{uses.address()};
    try {
        static_cast<void>(engine_of(db, settle::phases::one));
        FAIL("the table was made");
    } catch (settle::failure const& caught) {
        CHECK(caught.problem().text.find("CREATE command denied to user") != std::string::npos);
    }
}

} // namespace mariadb_rights
