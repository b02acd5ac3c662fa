// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that error.hpp declares.
#pragma once

#include <settle/mariadb/connection/error.hpp>

#include <array>
#include <initializer_list>
#include <utility>

SETTLE_BEGIN
namespace mariadb::detail {

[[nodiscard]] constexpr condition condition_of(int code) noexcept {
    switch (code) {
    case commit_unknown: return condition::unknown;
    case lock_wait_timeout:
    case deadlock:
    case branch_timed_out:
    case branch_deadlocked:
    case statement_timeout: return condition::conflict;
    case too_late:
    case all_in_use:
    case connection_lost:
    case disk_full:
    case too_many_connections:
    case server_shutdown:
    case table_full:
    case user_has_too_many_connections:
    case option_prevents:
    case query_interrupted:
    case name_lost:
    case no_such_xid:
    case read_only_transaction:
    case read_only_mode:
    case connection_killed:
    case not_connected:
    case host_not_connected:
    case unknown_host:
    case server_gone:
    case server_lost:
    case record_changed:
    case lock_table_full:
    case definition_changed:
    case must_prepare_again:
    case too_many_statements:
    case columns_changed: return condition::retryable;
    default: return condition::permanent;
    }
}

[[nodiscard]] constexpr bool is_any_of(int code, std::initializer_list<int> numbers) noexcept {
    for (int const number : numbers) {
        if (code == number) return true;
    }
    return false;
}

} // namespace mariadb::detail
namespace mariadb {

SETTLE_FUNCTION std::error_category const& mariadb_category() noexcept {
    struct category final : std::error_category {
        char const* name() const noexcept override { return "mariadb"; }
        std::string message(int code) const override { return "error " + std::to_string(code); }
        std::error_condition default_error_condition(int code) const noexcept override {
            return make_error_condition(detail::condition_of(code));
        }
    };
    static category const instance;
    return instance;
}

} // namespace mariadb
namespace mariadb::detail {

[[nodiscard]] SETTLE_FUNCTION int number_of(std::error_code const& code) noexcept {
    return code.category() == mariadb_category() ? code.value() : 0;
}

SETTLE_FUNCTION bool is_conflict(std::error_code const& code) noexcept {
    return is_any_of(number_of(code),
                     {deadlock, record_changed, definition_changed, must_prepare_again});
}

SETTLE_FUNCTION bool is_held(std::error_code const& code) noexcept {
    return is_any_of(number_of(code), {lock_wait_timeout, statement_timeout, query_interrupted});
}

SETTLE_FUNCTION bool is_lost(std::error_code const& code) noexcept {
    int const number = number_of(code);
    return is_any_of(number,
                     {commit_unknown, connection_lost, server_shutdown, connection_killed}) ||
           (is_of_client(number) &&
            !is_any_of(number, {tls_failed, wrong_number_of_parameters, columns_changed}));
}

SETTLE_FUNCTION bool is_of_one_record(std::error_code const& code) noexcept {
    if (code == errc::damaged || code == errc::unfit_store) return true;
    // Classes 22 and 23 of the SQLSTATE, their like without a class, SIGNAL, CHECK, JSON and sizes.
    return is_any_of(number_of(code), {wrong_count, no_way_back, value_refused,
                                       1022,        1048,        duplicate_key,
                                       1118,        1138,        packet_too_large,
                                       1169,        1216,        1217,
                                       1263,        1264,        data_truncated,
                                       1292,        no_default,  1365,
                                       1366,        1367,        1369,
                                       1406,        1411,        1416,
                                       1441,        1451,        1452,
                                       1586,        1644,        1690,
                                       1713,        1761,        1762,
                                       1859,        1906,        4025,
                                       4036,        4037,        4038});
}

SETTLE_FUNCTION bool is_of_one_table(std::error_code const& code) noexcept {
    return is_any_of(number_of(code), {table_altered,
                                       columns_changed,
                                       1016,
                                       1017,
                                       1033,
                                       1034,
                                       1036,
                                       1051,
                                       1054,
                                       1064,
                                       1072,
                                       1091,
                                       1099,
                                       1100,
                                       1109,
                                       1136,
                                       command_denied,
                                       column_denied,
                                       unknown_table,
                                       1194,
                                       1195,
                                       1267,
                                       1286,
                                       1305,
                                       1347,
                                       1348,
                                       1356,
                                       1370,
                                       1471,
                                       1814,
                                       1932});
}

SETTLE_FUNCTION int raised_number(error_number code) noexcept {
    constexpr int first = 30'001;
    return code == wrong_count ? first : code == table_altered ? first + 1 : first + 2;
}

SETTLE_FUNCTION void name_raised(int& code, std::string& text, std::string_view state) {
    auto const two = state.substr(0, 2);
    constexpr int truncated = 1292;
    if (code == truncated && text.find(late_text) != text.npos) {
        code = too_late;
        text = "its transaction is older than options::lifetime, by the server's clock";
        return;
    }
    constexpr std::array<std::pair<error_number, char const*>, 3> raised_errors{
        {{wrong_count, "it changed another number of rows than was meant"},
         {no_way_back, "a column that no member names cannot be written back"},
         {table_altered, "its table was altered since this program began"}}};
    for (auto const& [raised, words] : raised_errors) {
        if (code != raised_number(raised) || state != "45000") continue;
        code = raised;
        text = words;
        return;
    }
    bool const is_refusal = two == "22" || two == "23" || two == "44" || two == "45";
    if (!is_refusal || is_of_one_record({code, mariadb_category()})) return;
    text.append(" (error ").append(std::to_string(code)).append(")");
    code = value_refused;
}

/// The advice for an error whose text from MariaDB gives none.
[[nodiscard]] SETTLE_FUNCTION std::string_view advice_for(int code) {
    switch (code) {
    case table_altered: return "Start this program again.";
    case no_way_back: return "Drop that column, or erase the row with a program of your own.";
    case commit_unknown: return "Read the entry, or call again with the same id.";
    case packet_too_large: return "Raise max_allowed_packet of the server, or shorten the value.";
    case too_many_statements: return "Raise max_prepared_stmt_count of the server.";
    case all_in_use: return "Call with fewer threads, or raise options::connections.";
    case name_lost:
        return "Restart the server, which lists it again, and call again. See mariadb#servers";
    case connection_lost:
    case not_connected:
    case host_not_connected:
    case unknown_host:
    case server_gone:
    case server_lost:
        return "Check the address, and that the server runs and can be reached from here.";
    case connection_killed:
    case server_shutdown: return "Wait until the server runs again, and call again.";
    case disk_full:
    case table_full: return "Make room on the server's disk, and call again.";
    case too_many_connections:
    case user_has_too_many_connections:
        return "Raise max_connections of the server, or lower options::connections.";
    case access_denied: return "Check the name and the password of the address.";
    case unknown_database: return "Create the database, or correct its name in the address.";
    case database_denied:
    case command_denied:
    case column_denied: return "Give the user this right. See mariadb#rights";
    case unknown_table: return "Another program has changed the tables: restore the missing table.";
    case lock_wait_timeout:
    case statement_timeout:
        return "Another native transaction may hold the rows: look at SHOW PROCESSLIST and XA "
               "RECOVER.";
    case deadlock:
    case branch_deadlocked: return "Call again.";
    case option_prevents:
    case read_only_transaction:
    case read_only_mode: return "Name a server that takes writes.";
    case no_such_xid:
        return "The session that prepared it still stands: it ends by itself after "
               "options::idle_timeout.";
    case tls_failed: return "Check options::ca_file, and the host's name in the certificate.";
    default: return "";
    }
}

SETTLE_FUNCTION error describe(int code, std::string_view state, std::string_view native,
                               std::string_view phase) {
    std::string number;
    if (code > 0) {
        number.append(" (error ").append(std::to_string(code));
        if (!state.empty()) number.append(", SQLSTATE ").append(state);
        number += ')';
    }
    return {
        {code, mariadb_category()},
        settle::detail::sentence_of("MariaDB", phase, native, number, advice_for(code), "mariadb")};
}

SETTLE_FUNCTION void raise(errc code, std::string text) {
    throw failure({make_error_code(code), std::move(text)});
}

} // namespace mariadb::detail
SETTLE_END
