// SPDX-License-Identifier: BSL-1.0
#include "mariadb_bank.hpp"

#include "baseline/mariadb.hpp"
#include "bench.hpp"

#include <mariadb/servers.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace bench {

namespace {

/// Null if there is no program of a server.
settle_test::mariadb_server const* server() {
    static auto const running = []() -> std::unique_ptr<settle_test::mariadb_server> {
        std::string reason;
        if (settle_test::find_mariadb(reason).empty()) {
            fmt::print(stderr, "the MariaDB cases are left out: {}\n", reason);
            return nullptr;
        }
        // The tests' servers have little room, and a full log would stall either side.
        return std::make_unique<settle_test::mariadb_server>(settle_test::arguments{
            "innodb-log-file-size=512M", "innodb-buffer-pool-size=256M", "skip-name-resolve"});
    }();
    return running.get();
}

} // namespace

bool has_mariadb() { return server() != nullptr; }

mariadb_bank::mariadb_bank(workload const& work, std::initializer_list<std::string> more,
                           std::string table)
    : table_(std::move(table)) {
    static int count = 0;
    name_ = "round_" + std::to_string(++count);
    settle_test::mariadb_session{server()->address()}.ask("CREATE DATABASE " + name_);
    settle_test::mariadb_session session{address()};
    session.ask("CREATE TABLE " + table_ +
                "(id VARCHAR(500) PRIMARY KEY, balance BIGINT NOT NULL)" +
                baseline::mariadb::table_options);
    std::string sql = "INSERT INTO " + table_ + " VALUES";
    for (auto const& id : work.ids) {
        sql += (&id == &work.ids.front() ? "('" : ", ('") + id + "', " +
               std::to_string(work.opening) + ")";
    }
    session.ask(sql);
    for (auto const& each : more) session.ask(each);
}

mariadb_bank::~mariadb_bank() {
    try {
        settle_test::mariadb_session{address()}.ask("DROP DATABASE " + name_);
    } catch (std::exception const& problem) {
        fmt::print(stderr, "a database is left behind: {}\n", problem.what());
    }
}

std::string mariadb_bank::address() const { return server()->address(name_); }
unsigned mariadb_bank::port() { return static_cast<unsigned>(server()->port()); }

void mariadb_bank::check(std::vector<std::int64_t> const& expected) const {
    auto const rows = settle_test::mariadb_session{address()}.ask("SELECT balance FROM " + table_ +
                                                                  " ORDER BY id");
    bool right = rows.size() == expected.size();
    for (std::size_t number = 0; right && number < rows.size(); ++number) {
        right = std::stoll(rows[number].front()) == expected[number];
    }
    if (!right) throw wrong_result(name_ + " holds wrong balances");
}

void mariadb_bank::check_count(std::string const& sql, std::size_t expected) const {
    settle_test::mariadb_session session{address()};
    if (session.ask_one("SELECT COUNT(*) FROM " + sql) == std::to_string(expected)) return;
    throw wrong_result(name_ + " has another number of rows than expected: " + sql);
}

} // namespace bench
