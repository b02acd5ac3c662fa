// SPDX-License-Identifier: BSL-1.0
// A database, ids, keys and values that contain SQL, and names that are words of SQL.
#include "fixtures.hpp"
#include "names_suite.hpp"

namespace settle_test {
namespace {

/// A database whose name contains SQL.
struct strange_database {
    strange_database() = default;
    strange_database(strange_database const&) = delete;
    strange_database& operator=(strange_database const&) = delete;
    ~strange_database() { own.ask("DROP DATABASE " + quoted); }

    [[nodiscard]] std::string rows_of(std::string const& table) const {
        return own.ask_one("SELECT COUNT(*) FROM " + quoted + ".`" + table + "`");
    }
    [[nodiscard]] std::string address() const {
        own.ask("SET NAMES utf8mb4; CREATE DATABASE " + quoted);
        auto const server = own.address();
        std::string to = server.substr(0, server.rfind('/') + 1);
        for (char const sign : name) to += sign == '%' ? "%25" : std::string{sign};
        return to;
    }

    fresh_mariadb const own{};
    std::string const name = own.name() + "'; \"x\" `y -- \\ %s";
    std::string const quoted = settle::mariadb::detail::quoted_name(name);
    settle::mariadb::database db{address()};
};

TEST_CASE("names: quotes, SQL and control characters in a database, ids, keys and values") {
    names::check_strange_names<strange_database>();
}
TEST_CASE("names: a text with a NUL is refused, and nothing is written") {
    names::check_nul<strange_database>();
}
TEST_CASE("names: a server whose own settings read a backslash in another way changes nothing") {
    mariadb_server const own{{"sql-mode=NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT",
                              "character-set-server=latin1", "autocommit=0",
                              "transaction-isolation=SERIALIZABLE", "default-time-zone=+05:00"}};
    settle::mariadb::database db{own.address()};
    auto engine = names::engine_at(db, settle::phases::two);
    for (auto const& key : names::strange) {
        engine.create(names::allowances, names::allowance{key, 10, key}).value();
        CHECK(engine.run(names::naming{key, key + key}).done());
        CHECK(engine.read(names::allowances, key).value()->group == key + key);
    }
    CHECK(mariadb_session{own.address()}.ask_one("SELECT COUNT(*) FROM settle_entry") ==
          std::to_string(names::strange.size()));
}

} // namespace
} // namespace settle_test
