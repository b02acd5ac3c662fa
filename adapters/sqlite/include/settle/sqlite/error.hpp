// SPDX-License-Identifier: BSL-1.0
// What SQLite says went wrong, as codes that compare with settle's conditions.
#pragma once

#include <settle/store/error.hpp>

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <system_error>

SETTLE_BEGIN
namespace sqlite {

/// The class of an extended result code: SQLITE_IOERR for SQLITE_IOERR_FSYNC.
[[nodiscard]] constexpr int primary_code(int code) noexcept { return code & 0xff; }

namespace detail {

[[nodiscard]] constexpr condition condition_of(int code) noexcept {
    switch (primary_code(code)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT:
    case SQLITE_NOMEM:
    case SQLITE_FULL: // room may be made while the caller waits
        return condition::retryable;
    // A commit that fails so may stand in the write-ahead log nevertheless.
    case SQLITE_IOERR: return condition::unknown;
    default: return condition::permanent;
    }
}

} // namespace detail

/// The extended result codes of SQLite. They compare equal to settle::condition.
/// Source:  https://www.sqlite.org/rescode.html
[[nodiscard]] inline std::error_category const& sqlite_category() noexcept {
    struct category final : std::error_category {
        char const* name() const noexcept override { return "sqlite"; }
        std::string message(int code) const override { return sqlite3_errstr(code); }
        std::error_condition default_error_condition(int code) const noexcept override {
            return make_error_condition(detail::condition_of(code));
        }
    };
    static category const instance;
    return instance;
}

namespace detail {

/// What the reader of an error can do, where SQLite's own words do not say.
[[nodiscard]] constexpr std::string_view remedy_for(int code) noexcept {
    switch (primary_code(code)) {
    case SQLITE_BUSY: return " Another program writes to the file: let it end its transaction.";
    case SQLITE_FULL: return " Make room on the disk.";
    case SQLITE_READONLY: return " Let this user write to the file and to its folder.";
    default: return "";
    }
}

/// Shape:   phase - what was being done, as it goes after "SQLite could not"
[[nodiscard]] inline error describe(sqlite3* connection, int code, std::string_view phase) {
    std::string text{"settle: SQLite could not "};
    text.append(phase).append(": ");
    // The connection's own words name the table or column; they are of its last call alone.
    auto const last = connection != nullptr ? sqlite3_extended_errcode(connection) : SQLITE_OK;
    text.append(primary_code(last) == primary_code(code) ? sqlite3_errmsg(connection)
                                                         : sqlite3_errstr(code));
    text.append(" (code ").append(std::to_string(code)).append(").").append(remedy_for(code));
    text.append(" README#sqlite-errors");
    return {std::error_code{code, sqlite_category()}, std::move(text)};
}

[[noreturn]] inline void raise(sqlite3* connection, int code, std::string_view phase) {
    throw failure(describe(connection, code, phase));
}

[[noreturn]] inline void raise(errc code, std::string text) {
    throw failure({make_error_code(code), std::move(text)});
}

/// True when the problem lies with one record or its table, and the wave's other records can go on.
[[nodiscard]] inline bool is_of_one_record(std::error_code const& code) noexcept {
    if (code == errc::damaged || code == errc::unfit_store) return true;
    if (code.category() != sqlite_category()) return false;
    auto const primary = primary_code(code.value());
    return primary == SQLITE_CONSTRAINT || primary == SQLITE_MISMATCH || primary == SQLITE_TOOBIG;
}

} // namespace detail
} // namespace sqlite
SETTLE_END
