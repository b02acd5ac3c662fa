// SPDX-License-Identifier: BSL-1.0
// PostgreSQL's errors, as codes that compare with settle's conditions.
#pragma once

#include <settle/base/error.hpp>

#include <libpq-fe.h>

#include <string>
#include <string_view>

SETTLE_BEGIN
namespace postgresql {

/// A SQLSTATE of five letters and digits as a number.
[[nodiscard]] constexpr int number_of(std::string_view state) noexcept {
    int number = 0;
    for (char const one : state) {
        number = number * 36 + (one >= '0' && one <= '9' ? one - '0' : one - 'A' + 10);
    }
    return number;
}

/// The states that settle distinguishes, and the problems of a connection, which have none.
/// Source:  PostgreSQL 15, appendix A
enum sqlstate : int {
    // Raised by statements of settle; see raised_sql():
    too_late = -9,      ///< the transaction is older than its lifetime, by the server's clock
    table_altered = -8, ///< the columns are not those that were checked when it was bound
    wrong_count = -7,   ///< a statement changed another number of rows than was meant
    no_way_back = -6,   ///< a row that is to be erased could not be brought back as it is
    // Of the client:
    commit_unknown = -5,  ///< the connection was lost while its COMMIT was under way
    connection_lost = -4, ///< an established connection was lost; no COMMIT was under way
    not_connected = -3,   ///< no connection could be made
    tls_failed = -2,      ///< no connection could be made, because of TLS
    all_in_use = -1,      ///< all connections of the pool are in use
    // Of the server:
    connection_failure = number_of("08006"),
    feature_not_supported = number_of("0A000"),
    unique_violation = number_of("23505"),
    read_only_transaction = number_of("25006"),
    idle_in_transaction_timeout = number_of("25P03"),
    failed_transaction = number_of("25P02"),
    transaction_timeout = number_of("25P04"),
    undefined_statement = number_of("26000"),
    invalid_authorization = number_of("28000"),
    invalid_password = number_of("28P01"),
    invalid_catalog_name = number_of("3D000"),
    invalid_schema_name = number_of("3F000"),
    serialization_failure = number_of("40001"),
    completion_unknown = number_of("40003"),
    deadlock_detected = number_of("40P01"),
    insufficient_privilege = number_of("42501"),
    invalid_column_reference = number_of("42P10"),
    undefined_object = number_of("42704"),
    duplicate_object = number_of("42710"),
    undefined_column = number_of("42703"),
    undefined_table = number_of("42P01"),
    duplicate_statement = number_of("42P05"),
    duplicate_table = number_of("42P07"),
    disk_full = number_of("53100"),
    out_of_memory = number_of("53200"),
    too_many_connections = number_of("53300"),
    program_limit_exceeded = number_of("54000"),
    object_not_ready = number_of("55000"),
    lock_not_available = number_of("55P03"),
    query_canceled = number_of("57014"),
    admin_shutdown = number_of("57P01"),
    crash_shutdown = number_of("57P02"),
    cannot_connect_now = number_of("57P03"),
    idle_session_timeout = number_of("57P05"),
    io_error = number_of("58030")
};

/// Codes of the server are SQLSTATEs as number_of() has them; the client's codes are below zero.
/// They compare equal to settle::condition.
[[nodiscard]] std::error_category const& postgresql_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(sqlstate code) noexcept {
    return {static_cast<int>(code), postgresql_category()};
}

/// The five letters and digits: "40001"; empty for a code that is not of the server.
[[nodiscard]] std::string sqlstate_of(std::error_code const& code);

namespace detail {

/// True if the server undid the whole native transaction because of another, and the same work may
/// succeed when it is repeated at once: a serialization failure or a deadlock.
[[nodiscard]] bool is_conflict(std::error_code const& code) noexcept;

/// True if a statement ended because another native transaction held a row for too long.
[[nodiscard]] bool is_held(std::error_code const& code) noexcept;

/// True if the connection is lost, or the server ended it. A later connection may succeed.
[[nodiscard]] bool is_lost(std::error_code const& code) noexcept;

/// True if the problem concerns one record or its table, so that the rest of a wave can continue:
/// errc::damaged and errc::unfit_store, data exceptions (class 22), constraints (23), check options
/// of views (44), limits of the server (54), and errors of triggers (09 and P0).
[[nodiscard]] bool is_of_one_record(std::error_code const& code) noexcept;

/// True if a statement failed because of its table, so that other tables of a wave can continue: it
/// was altered, it lacks a right (class 42), a function needs what is not there (0A), or it is no
/// state for the change (55000).
[[nodiscard]] bool is_of_one_table(std::error_code const& code) noexcept;

/// The server's time, in milliseconds since 1970.
inline constexpr std::string_view time_sql =
    "(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::int8";

/// SQL that raises an error with a code of this adapter. The error's text has a word that is drawn
/// for this process, so that no expression of a user raises the same error.
/// Shape:   value - SQL of a value that the query computes, so that the server does not raise the
///          error when it plans the statement
[[nodiscard]] std::string raised_sql(sqlstate code, std::string_view value);

/// Gives an error that raised_sql() has raised its code and a text for people. A statement that was
/// prepared before the type of a column changed is table_altered, too.
/// Shape:   function - of the server, which raised the error
void name_raised(int& code, std::string& text, std::string_view function);

/// The names in an error of the server; each may be empty.
struct error_names {
    std::string constraint{};
    std::string schema{};
    std::string table{};
    std::string column{};
};

/// A failed statement. It has undone the statements of its native transaction.
class statement_failure : public failure {
public:
    statement_failure(error problem, error_names names)
        : failure(std::move(problem)), names_(std::move(names)) {}
    [[nodiscard]] error_names const& names() const noexcept { return names_; }

private:
    error_names names_;
};

/// PostgreSQL's text without its quoted names, which may hold any word.
[[nodiscard]] std::string without_names(std::string_view native);

/// Shape:   code - of the server or the client; native - PostgreSQL's text; phase - the action, as
///          the sentence puts it after "PostgreSQL could not"
[[nodiscard]] error describe(int code, std::string_view native, std::string_view phase);

[[noreturn]] void raise(errc code, std::string text);

} // namespace detail
} // namespace postgresql
SETTLE_END

template <>
struct std::is_error_code_enum<settle::postgresql::sqlstate> : std::true_type {};

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/error.ipp>
#endif
