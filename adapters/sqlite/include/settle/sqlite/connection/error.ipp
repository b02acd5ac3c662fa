// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that error.hpp declares.
#pragma once

#include <settle/sqlite/connection/error.hpp>

SETTLE_BEGIN
namespace sqlite {

SETTLE_FUNCTION std::error_category const& sqlite_category() noexcept {
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

} // namespace sqlite
namespace sqlite {
namespace detail {

SETTLE_FUNCTION int with_cause(sqlite3* connection, int code) noexcept {
    if (!takes_room(code) || connection == nullptr) return code;
    if (says_no_room(sqlite3_system_errno(connection))) return SQLITE_FULL;
    // After a commit only a file has the errno: the database, or the write-ahead log.
    for (int const which : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
        sqlite3_file* file = nullptr;
        int cause = 0;
        sqlite3_file_control(connection, "main", which, static_cast<void*>(&file));
        if (file == nullptr || file->pMethods == nullptr) continue;
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &cause);
        if (says_no_room(cause)) return SQLITE_FULL;
    }
    return code;
}

SETTLE_FUNCTION error describe(sqlite3* connection, int code, std::string_view phase) {
    code = with_cause(connection, code);
    std::string text{"settle: SQLite could not "};
    text.append(phase).append(": ");
    // The connection's message names the table or column, but only for its last call.
    auto const last = connection != nullptr ? sqlite3_extended_errcode(connection) : SQLITE_OK;
    text.append(primary_code(last) == primary_code(code) ? sqlite3_errmsg(connection)
                                                         : sqlite3_errstr(code));
    text.append(" (code ").append(std::to_string(code)).append(").").append(remedy_for(code));
    text.append(" See sqlite#errors");
    return {std::error_code{code, sqlite_category()}, std::move(text)};
}

SETTLE_FUNCTION bool is_of_one_record(std::error_code const& code) noexcept {
    if (code == errc::damaged || code == errc::unfit_store) return true;
    if (code.category() != sqlite_category()) return false;
    auto const primary = primary_code(code.value());
    return primary == SQLITE_CONSTRAINT || primary == SQLITE_MISMATCH || primary == SQLITE_TOOBIG;
}

} // namespace detail
} // namespace sqlite
SETTLE_END
