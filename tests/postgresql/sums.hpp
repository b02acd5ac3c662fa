// SPDX-License-Identifier: BSL-1.0
// A table of numbers, changed by native transactions of the adapter and read by another program.
#pragma once

#include "failures.hpp"
#include "patiently.hpp"
#include "shared_servers.hpp"

#include <settle/postgresql/connection/native.hpp>

#include <array>
#include <functional>
#include <string>

namespace settle_test {

namespace pg = settle::postgresql;
using pg::detail::array_value;
using pg::detail::commit_result;
using pg::detail::commit_status;
using pg::detail::connection;
using pg::detail::native_transaction;
using pg::detail::pool;
using pg::detail::value_type;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

inline constexpr std::array all_phases{settle::phases::one, settle::phases::two};

/// Short limits, for tests that wait until they are over.
inline pg::database_options short_limits() {
    pg::database_options limits;
    limits.lock_timeout = 300ms;
    limits.statement_timeout = 1s;
    limits.idle_timeout = 1s;
    limits.answer_timeout = 3s;
    limits.connect_timeout = 2s;
    return limits;
}

inline pg::database_options patient_limits() { return patient_limits<pg::database_options>(); }

/// The error that refuses an address; the test fails if the address is accepted.
inline settle::error refusal(std::string const& address, pg::database_options const& how = {}) {
    return failure_of([&] { pool const made{address, how}; });
}

/// The table `sums` with rows `a`, `b` and `c`, each 0.
inline void make_sums(std::string const& address) {
    ask(address, "CREATE TABLE sums (id text PRIMARY KEY, n int8 NOT NULL CHECK (n >= -1000));"
                 "INSERT INTO sums VALUES ('a', 0), ('b', 0), ('c', 0)");
}
inline std::string sum_of(std::string const& address, std::string const& id) {
    return ask_one(address, "SELECT n FROM sums WHERE id = '" + id + "'");
}

/// Adds to a row in a native transaction: one round trip.
/// Shape:   before - is called with the connection before the update
inline commit_result add(pool& to, std::string_view id, std::int64_t by,
                         std::function<void(connection&)> const& before = {}) {
    auto const& update = to.prepare("UPDATE sums SET n = n + $2 WHERE id = $1",
                                    {value_type::text, value_type::int8}, "add to a sum");
    native_transaction native{to};
    auto const change = [&](connection& connection) {
        if (before) before(connection);
        connection.send(update, id, by);
    };
    return native.perform(change, 5s);
}

/// Adds to a row, and tries again if a limit of a lock, a statement or a connect has ended the try:
/// then it is certainly undone. Any other end but a commit fails.
inline void add_surely(pool& to, std::string_view id, std::int64_t by) {
    commit_result ended;
    bool const is_over = wait_until(60s, [&] {
        ended = add(to, id, by);
        auto const& code = ended.problem.code;
        bool const met_limit = pg::detail::is_held(code) || code == pg::not_connected;
        return ended.status != commit_status::undone || !met_limit;
    });
    INFO(ended.problem.text);
    CHECK(is_over);
    REQUIRE(ended.status == commit_status::committed);
}

} // namespace settle_test
