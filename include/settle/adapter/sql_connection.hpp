// SPDX-License-Identifier: BSL-1.0
// The connection that a user's work gets from a SQL database.
#pragma once

#include <settle/adapter/sql_values.hpp>
#include <settle/kinds/prepared/preparing_resource.hpp>

#include <array>
#include <span>

SETTLE_BEGIN

/// A connection inside a native transaction. It is valid until the work returns.
/// Shape:   one statement a call, with parameters as the database writes them: `?` in MariaDB, `$1`
///          in PostgreSQL
/// Errors:  throws settle::failure, also for a statement that begins or ends a native transaction
///          or a savepoint; then the work is undone, whatever its answer is
/// Cost:    a round trip for each statement
/// Example: auto const left = on.query("SELECT seats FROM flight WHERE id = ? FOR UPDATE", id);
class sql_connection {
public:
    sql_connection(sql_connection const&) = delete;
    sql_connection& operator=(sql_connection const&) = delete;

    /// Returns the number of rows that the statement changed.
    template <typename... Values>
    std::uint64_t execute(std::string const& sql, Values const&... values) {
        return query(sql, values...).changed();
    }
    template <typename... Values>
    sql_rows query(std::string const& sql, Values const&... values) {
        return watch(sql, std::array<sql_value, sizeof...(Values)>{sql_value{values}...});
    }

    /// The error of the first statement that failed; empty if none failed.
    [[nodiscard]] error const& problem() const noexcept { return problem_; }

protected:
    sql_connection() = default;
    ~sql_connection() = default;

private:
    virtual sql_rows run(std::string const& sql, std::span<sql_value const> values) = 0;
    sql_rows watch(std::string const& sql, std::span<sql_value const> values);

    error problem_{};
};

namespace detail {

/// True for a statement that may begin or end a native transaction or a savepoint.
[[nodiscard]] bool controls_transaction(std::string_view sql);

/// True for a statement that only reads or writes rows, of MariaDB, which commits others at once.
[[nodiscard]] bool handles_rows(std::string_view sql);

/// The answer to a prepare whose native transaction is rolled back after the work; empty if the
/// native transaction can be prepared.
/// Shape:   problem - of the first statement of the work that failed; is_busy - true for errors of
///          a lock that was not free in time, and of deadlocks
[[nodiscard]] std::optional<prepare_result>
answer_without_prepare(work_result const& result, error const& problem,
                       bool (*is_busy)(std::error_code const&));

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/sql_connection.ipp>
#endif
