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
    name_lost = -3,       ///< a prepared transaction that XA RECOVER does not list any more
    all_in_use = -2,      ///< all sessions of the resource are in use
    connection_lost = -1, ///< an established connection was lost
    // Of the server:
    disk_full = 1021,
    too_many_connections = 1040,
    database_denied = 1044,
    access_denied = 1045,
    unknown_database = 1049,
    server_shutdown = 1053,
    duplicate_key = 1062,
    table_full = 1114,
    command_denied = 1142,
    column_denied = 1143,
    unknown_table = 1146,
    user_has_too_many_connections = 1203,
    lock_wait_timeout = 1205,
    deadlock = 1213,
    data_truncated = 1265,
    option_prevents = 1290, ///< --read-only
    query_interrupted = 1317,
    no_default = 1364,
    no_such_xid = 1397,        ///< XAER_NOTA
    wrong_xa_state = 1399,     ///< XAER_RMFAIL
    branch_rolled_back = 1402, ///< XA_RBROLLBACK
    duplicate_xid = 1440,      ///< XAER_DUPID
    branch_timed_out = 1613,   ///< XA_RBTIMEOUT
    branch_deadlocked = 1614,  ///< XA_RBDEADLOCK
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
    tls_failed = 2026
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

[[noreturn]] void raise(errc code, std::string text);

} // namespace detail
} // namespace mariadb
SETTLE_END

template <>
struct std::is_error_code_enum<settle::mariadb::error_number> : std::true_type {};

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/error.ipp>
#endif
