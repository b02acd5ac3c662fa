// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that error.hpp declares.
#pragma once

#include <settle/mariadb/connection/error.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

[[nodiscard]] constexpr condition condition_of(int code) noexcept {
    switch (code) {
    case lock_wait_timeout:
    case deadlock:
    case branch_timed_out:
    case branch_deadlocked:
    case statement_timeout: return condition::conflict;
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
    case server_lost: return condition::retryable;
    default: return condition::permanent;
    }
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

/// The advice for an error whose text from MariaDB gives none.
[[nodiscard]] SETTLE_FUNCTION std::string_view advice_for(int code) {
    switch (code) {
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
    std::string text{"settle: MariaDB could not "};
    text.append(phase).append(": ");
    constexpr std::size_t most = 300;
    if (native.size() > most) {
        std::size_t end = most;
        // Cuts after a whole character.
        while (end > 0 && (static_cast<unsigned char>(native[end]) & 0xC0U) == 0x80U) --end;
        text.append(native.substr(0, end)).append(" …");
    } else {
        text.append(native);
    }
    for (char& each : text) {
        if (static_cast<unsigned char>(each) < 0x20U) each = ' ';
    }
    if (code > 0) {
        text.append(" (error ").append(std::to_string(code));
        if (!state.empty()) text.append(", SQLSTATE ").append(state);
        text.append(")");
    }
    text.append(". ");
    auto const advice = advice_for(code);
    text.append(advice);
    if (advice.ends_with('.')) text += ' ';
    if (advice.find("See ") == advice.npos) text.append("See mariadb#errors");
    return {{code, mariadb_category()}, std::move(text)};
}

SETTLE_FUNCTION void raise(errc code, std::string text) {
    throw failure({make_error_code(code), std::move(text)});
}

} // namespace mariadb::detail
SETTLE_END
