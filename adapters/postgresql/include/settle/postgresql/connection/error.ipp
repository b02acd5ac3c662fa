// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that error.hpp declares.
#pragma once

#include <settle/postgresql/connection/error.hpp>

#include <array>
#include <random>

SETTLE_BEGIN
namespace postgresql::detail {

/// The first two letters of a SQLSTATE are its class.
[[nodiscard]] constexpr bool is_of_class(int code, std::string_view two) noexcept {
    return code > 0 && code / (36 * 36 * 36) == number_of(two);
}

[[nodiscard]] constexpr condition condition_of(int code) noexcept {
    switch (code) {
    case commit_unknown:
    case completion_unknown: return condition::unknown;
    case too_late:
    case connection_lost:
    case not_connected:
    case all_in_use:
    case read_only_transaction:
    case idle_in_transaction_timeout:
    case transaction_timeout:
    case out_of_memory:
    case too_many_connections:
    case object_not_ready:
    case lock_not_available: return condition::retryable;
    default: break;
    }
    for (char const* const one : {"08", "40", "57"}) {
        if (is_of_class(code, one)) return condition::retryable;
    }
    return condition::permanent;
}

} // namespace postgresql::detail
namespace postgresql {

SETTLE_FUNCTION std::error_category const& postgresql_category() noexcept {
    struct category final : std::error_category {
        char const* name() const noexcept override { return "postgresql"; }
        std::string message(int code) const override {
            auto const state = sqlstate_of({code, *this});
            return state.empty() ? "connection error " + std::to_string(code) : "SQLSTATE " + state;
        }
        std::error_condition default_error_condition(int code) const noexcept override {
            return make_error_condition(detail::condition_of(code));
        }
    };
    static category const instance;
    return instance;
}

SETTLE_FUNCTION std::string sqlstate_of(std::error_code const& code) {
    if (code.category() != postgresql_category() || code.value() <= 0) return "";
    std::string state(5, '0');
    int number = code.value();
    for (std::size_t at = 5; at-- > 0; number /= 36) {
        state[at] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36];
    }
    return state;
}

} // namespace postgresql
namespace postgresql::detail {

SETTLE_FUNCTION bool is_conflict(std::error_code const& code) noexcept {
    return code == serialization_failure || code == deadlock_detected;
}

SETTLE_FUNCTION bool is_held(std::error_code const& code) noexcept {
    return code == lock_not_available || code == query_canceled;
}

SETTLE_FUNCTION bool is_lost(std::error_code const& code) noexcept {
    if (code.category() != postgresql_category()) return false;
    switch (code.value()) {
    case commit_unknown:
    case connection_lost:
    case not_connected:
    case idle_in_transaction_timeout:
    case transaction_timeout:
    case admin_shutdown:
    case crash_shutdown:
    case cannot_connect_now:
    case idle_session_timeout: return true;
    default: return is_of_class(code.value(), "08");
    }
}

[[nodiscard]] SETTLE_FUNCTION std::string draw_sign() {
    std::random_device source;
    std::string sign{"settle "};
    for (int number = 0; number < 4; ++number) sign += std::to_string(source()) + "-";
    return sign;
}
/// Begins the text of each error that a statement of settle raises.
[[nodiscard]] SETTLE_FUNCTION std::string const& own_sign() {
    static std::string const sign = draw_sign();
    return sign;
}
SETTLE_FUNCTION std::string raised_sql(sqlstate code, std::string_view value) {
    std::string sql{"('"};
    sql.append(own_sign()).append(std::to_string(-code)).append(" ' || (").append(value);
    return sql += "))::int4";
}

SETTLE_FUNCTION void name_raised(int& code, std::string& text, std::string_view function) {
    constexpr std::array<std::pair<sqlstate, char const*>, 4> raised_errors{
        {{wrong_count, "it changed another number of rows than was meant"},
         {too_late, "its transaction is older than options::lifetime, by the server's clock"},
         {no_way_back, "a column that no member names cannot be written back"},
         {table_altered, "its table was altered since this program began"}}};
    bool const is_stale = code == feature_not_supported && function == "RevalidateCachedQuery";
    for (auto const& [raised, words] : raised_errors) {
        bool const is_raised = text.find(own_sign() + std::to_string(-raised) + ' ') != text.npos ||
                               (is_stale && raised == table_altered);
        if (!is_raised) continue;
        code = raised;
        text = words;
        return;
    }
}

SETTLE_FUNCTION bool is_of_one_record(std::error_code const& code) noexcept {
    if (code == errc::damaged || code == errc::unfit_store) return true;
    if (code == wrong_count || code == no_way_back) return true;
    if (code.category() != postgresql_category()) return false;
    // Data, constraints, check options of views, limits, and the errors that triggers raise.
    for (char const* const one : {"22", "23", "44", "54", "09", "P0"}) {
        if (is_of_class(code.value(), one)) return true;
    }
    return false;
}

SETTLE_FUNCTION bool is_of_one_table(std::error_code const& code) noexcept {
    if (code.category() != postgresql_category()) return false;
    return code == table_altered || code == object_not_ready || is_of_class(code.value(), "42") ||
           is_of_class(code.value(), "0A");
}

/// The advice for an error whose text from PostgreSQL gives none.
[[nodiscard]] SETTLE_FUNCTION std::string_view advice_for(int code) {
    switch (code) {
    case table_altered: return "Start this program again. See postgresql#existing-tables";
    case no_way_back:
        return "Drop that column, or erase the row with a program of your own. "
               "See postgresql#limits";
    case commit_unknown: return "Read the entry, or call again with the same id.";
    case connection_lost:
    case not_connected:
        return "Check the address, and that the server runs and can be reached from here.";
    case tls_failed:
        return "Check sslmode, sslrootcert, sslcert and sslkey of the address, and the host's "
               "name in the server's certificate.";
    case all_in_use: return "Call with fewer threads, or raise database_options::connections.";
    case serialization_failure:
    case deadlock_detected: return "Call again.";
    case unique_violation: return "Remove the row that has this key already.";
    case read_only_transaction:
        return "Name the primary in the address, or let the user write "
               "(default_transaction_read_only).";
    case idle_in_transaction_timeout:
        return "This process stood still with an open native transaction; call again.";
    case transaction_timeout: return "The native transaction took too long; call again.";
    case invalid_password:
    case invalid_authorization:
        return "Check the name and the password of the address, and the server's pg_hba.conf.";
    case invalid_catalog_name: return "Create the database, or correct its name in the address.";
    case insufficient_privilege: return "Give the user this right. See postgresql#rights";
    case undefined_column:
    case undefined_table:
        return "Another program has changed the tables: restore the missing table or column.";
    case disk_full: return "Make room on the server's disk, and call again.";
    case too_many_connections:
        return "Raise max_connections of the server, or lower database_options::connections.";
    case lock_not_available:
    case query_canceled:
        return "Another native transaction may hold the rows: look at pg_stat_activity, and end "
               "it.";
    case admin_shutdown:
    case crash_shutdown:
    case cannot_connect_now: return "Wait until the server runs again, and call again.";
    default: return "";
    }
}

SETTLE_FUNCTION std::string without_names(std::string_view native) {
    std::string words;
    bool inside = false;
    for (char const one : native) {
        if (one == '"') inside = !inside;
        else if (!inside) words += one;
    }
    return words;
}

SETTLE_FUNCTION error describe(int code, std::string_view native, std::string_view phase) {
    std::error_code const error_code{code, postgresql_category()};
    auto const state = sqlstate_of(error_code);
    auto const number = state.empty() ? state : " (SQLSTATE " + state + ")";
    return {error_code, settle::detail::sentence_of("PostgreSQL", phase, native, number,
                                                    advice_for(code), "postgresql")};
}

SETTLE_FUNCTION void raise(errc code, std::string text) {
    throw failure({make_error_code(code), std::move(text)});
}

} // namespace postgresql::detail
SETTLE_END
