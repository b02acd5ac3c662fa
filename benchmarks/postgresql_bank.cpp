// SPDX-License-Identifier: BSL-1.0
#include "postgresql_bank.hpp"

#include "bench.hpp"

#include <postgresql/servers.hpp>

#include <fmt/format.h>

#include <memory>

namespace bench {

namespace {

using settle_test::postgresql_server;

std::unique_ptr<postgresql_server> (&running())[2] {
    static std::unique_ptr<postgresql_server> servers[2];
    return servers;
}

bool can_be_had() {
    static bool const is_installed = [] {
        std::string reason;
        if (!settle_test::find_postgresql(reason).empty()) return true;
        fmt::print(stderr, "the PostgreSQL cases are left out: {}\n", reason);
        return false;
    }();
    return is_installed;
}

} // namespace

postgresql_pair const* postgresql_pair::get() {
    static postgresql_pair const only;
    if (!can_be_had()) return nullptr;
    for (auto& one : running()) {
        if (!one) one = std::make_unique<postgresql_server>();
    }
    return &only;
}

std::string postgresql_pair::address(std::size_t number, std::string const& schema) const {
    return running()[number]->address("postgres", "options=-csearch_path%3D" + schema);
}

postgresql_bank::postgresql_bank(postgresql_pair const& pair, std::size_t server,
                                 workload const& work, std::string table,
                                 std::initializer_list<std::string> more)
    : table_(std::move(table)) {
    static int count = 0;
    schema_ = "round_" + std::to_string(++count);
    address_ = pair.address(server, schema_);
    std::string sql = "CREATE SCHEMA " + schema_ + "; CREATE TABLE " + table_ +
                      "(id text COLLATE \"C\" PRIMARY KEY, balance bigint NOT NULL); INSERT INTO " +
                      table_ + " VALUES";
    for (auto const& id : work.ids) {
        sql += (&id == &work.ids.front() ? "('" : ", ('") + id + "', " +
               std::to_string(work.opening) + ")";
    }
    for (auto const& one : more) sql += "; " + one;
    settle_test::ask(address_, sql);
    settle_test::ask(address_, "VACUUM ANALYZE " + table_);
    // A checkpoint of the preparation must not run while a side is timed.
    settle_test::ask(address_, "CHECKPOINT");
}

postgresql_bank::~postgresql_bank() {
    // A server that is gone takes its schemas with it.
    try {
        settle_test::ask(address_, "DROP SCHEMA " + schema_ + " CASCADE");
    } catch (std::exception const& problem) {
        fmt::print(stderr, "a schema is left behind: {}\n", problem.what());
    }
}

void postgresql_bank::check(std::vector<std::int64_t> const& expected) const {
    auto const rows = settle_test::ask(address_, "SELECT balance FROM " + table_ + " ORDER BY id");
    bool right = rows.size() == expected.size();
    for (std::size_t at = 0; right && at < rows.size(); ++at) {
        right = std::stoll(rows[at].front()) == expected[at];
    }
    if (!right) throw wrong_result(schema_ + " holds wrong balances");
}

void postgresql_bank::check_count(std::string const& sql, std::size_t expected) const {
    if (settle_test::ask_one(address_, "SELECT count(*) FROM " + sql) == std::to_string(expected)) {
        return;
    }
    throw wrong_result(schema_ + " has another number of rows than expected: " + sql);
}

} // namespace bench
