// SPDX-License-Identifier: BSL-1.0
// MariaDB's errors, as codes that compare with settle's conditions.
#pragma once

#include <settle/base/error.hpp>

#include <string>
#include <string_view>

SETTLE_BEGIN
namespace mariadb {

/// The errors that settle distinguishes.
/// Source:  mysqld_error.h and errmsg.h of MariaDB 10.11
enum error_number : int {
    // Of this library:
    too_late = -9,        ///< the transaction is older than its lifetime, by the server's clock
    value_refused = -8,   ///< data, a constraint or a SIGNAL refused a statement: another number
    table_altered = -7,   ///< the columns are not those that were checked when it was bound
    wrong_count = -6,     ///< a statement changed another number of rows than was meant
    no_way_back = -5,     ///< a row that is to be erased could not be brought back as it is
    commit_unknown = -4,  ///< the answer to a COMMIT was lost
    name_lost = -3,       ///< a prepared transaction that XA RECOVER does not list any more
    all_in_use = -2,      ///< all sessions of the resource are in use
    connection_lost = -1, ///< an established connection was lost
    // Of the server:
    record_changed = 1020, ///< since it was read, with innodb_snapshot_isolation
    disk_full = 1021,
    too_many_connections = 1040,
    database_denied = 1044,
    access_denied = 1045,
    unknown_database = 1049,
    server_shutdown = 1053,
    duplicate_key = 1062,
    table_full = 1114,
    packet_too_large = 1153, ///< max_allowed_packet
    error_during_commit = 1180,
    command_denied = 1142,
    column_denied = 1143,
    unknown_table = 1146,
    user_has_too_many_connections = 1203,
    lock_wait_timeout = 1205,
    deadlock = 1213,
    lock_table_full = 1206,
    data_truncated = 1265,
    option_prevents = 1290, ///< --read-only
    query_interrupted = 1317,
    no_default = 1364,
    no_such_xid = 1397,         ///< XAER_NOTA
    wrong_xa_state = 1399,      ///< XAER_RMFAIL
    branch_rolled_back = 1402,  ///< XA_RBROLLBACK
    definition_changed = 1412,  ///< of a table, by ALTER TABLE beside
    duplicate_xid = 1440,       ///< XAER_DUPID
    too_many_statements = 1461, ///< max_prepared_stmt_count
    must_prepare_again = 1615,
    branch_timed_out = 1613,  ///< XA_RBTIMEOUT
    branch_deadlocked = 1614, ///< XA_RBDEADLOCK
    read_only_transaction = 1792,
    read_only_mode = 1836,
    connection_killed = 1927,
    statement_timeout = 1969,
    // Of libmariadb:
    not_connected = 2002,
    host_not_connected = 2003,
    unknown_host = 2005,
    server_gone = 2006,
    server_lost = 2013,
    tls_failed = 2026,
    wrong_number_of_parameters = 2034,
    columns_changed = 2057 ///< of a statement that was prepared
};

/// The codes of the server are its error numbers, from 1000 on; the codes of libmariadb begin at
/// 2000. They compare equal to settle::condition.
[[nodiscard]] std::error_category const& mariadb_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(error_number code) noexcept {
    return {static_cast<int>(code), mariadb_category()};
}

namespace detail {

/// Shape:   code - of the server or the client; state - the SQLSTATE, or empty; native - MariaDB's
///          text; phase - the action, as the sentence puts it after "MariaDB could not"
[[nodiscard]] error describe(int code, std::string_view state, std::string_view native,
                             std::string_view phase);

/// True for the numbers of libmariadb.
[[nodiscard]] constexpr bool is_of_client(int code) noexcept { return code >= 2000 && code < 3000; }

/// True if the server undid the whole native transaction because of another, and the same work may
/// succeed when it is repeated at once.
[[nodiscard]] bool is_conflict(std::error_code const& code) noexcept;

/// True if a statement ended because another native transaction held a row for too long.
[[nodiscard]] bool is_held(std::error_code const& code) noexcept;

/// True if the connection is lost, or the server ended it. A later connection may succeed.
[[nodiscard]] bool is_lost(std::error_code const& code) noexcept;

/// True if the problem concerns one record or its table, so that the rest of a wave can continue:
/// errc::damaged and errc::unfit_store, data, constraints, SIGNALs of triggers, limits of sizes.
[[nodiscard]] bool is_of_one_record(std::error_code const& code) noexcept;

/// True if a statement failed because of its table, so that other tables of a wave can continue: it
/// was altered, it is gone or damaged, or the user lacks a right.
[[nodiscard]] bool is_of_one_table(std::error_code const& code) noexcept;

/// The number of the server's error that a statement of settle raises for a code of this library.
[[nodiscard]] int raised_number(error_number code) noexcept;

/// The text that a statement of settle converts to a number to raise the error too_late.
inline constexpr std::string_view late_text = "settle: too late";

/// Gives an error that raised_sql() has raised its code and a text for people, and an error whose
/// number is unknown the code value_refused if its SQLSTATE says so.
void name_raised(int& code, std::string& text, std::string_view state);

[[noreturn]] void raise(errc code, std::string text);

} // namespace detail
} // namespace mariadb
SETTLE_END

template <>
struct std::is_error_code_enum<settle::mariadb::error_number> : std::true_type {};

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/error.ipp>
#endif
