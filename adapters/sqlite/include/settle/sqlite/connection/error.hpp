// SPDX-License-Identifier: BSL-1.0
// SQLite's errors, as codes that compare with settle's conditions.
#pragma once

#include <settle/base/error.hpp>

#include <sqlite3.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

SETTLE_BEGIN
namespace sqlite {

/// The class of an extended result code: SQLITE_IOERR for SQLITE_IOERR_FSYNC.
[[nodiscard]] constexpr int primary_code(int code) noexcept { return code & 0xff; }

namespace detail {

[[nodiscard]] constexpr condition condition_of(int code) noexcept {
    switch (code) {
    case SQLITE_IOERR_NOMEM: return condition::retryable;
    // The file system or a checksum reports that the stored data is damaged.
    case SQLITE_IOERR_CORRUPTFS:
    case SQLITE_IOERR_DATA: return condition::permanent;
    default: break;
    }
    switch (primary_code(code)) {
    // Another connection held a lock, or memory was short; both are temporary.
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT:
    case SQLITE_ABORT:
    case SQLITE_SCHEMA:
    case SQLITE_NOMEM: return condition::retryable;
    // A commit that fails with this code may still be in the write-ahead log.
    case SQLITE_IOERR: return condition::unknown;
    // Any other error needs a repair first.
    default: return condition::permanent;
    }
}

} // namespace detail

/// The extended result codes of SQLite. They compare equal to settle::condition.
/// Source:  https://www.sqlite.org/rescode.html
[[nodiscard]] std::error_category const& sqlite_category() noexcept;

namespace detail {

/// The advice for an error whose message from SQLite gives none.
[[nodiscard]] constexpr std::string_view remedy_for(int code) noexcept {
    switch (primary_code(code)) {
    case SQLITE_ERROR:
        return " If a table or a column is missing, another program has removed it: restore it.";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return " Another program writes to the file: let it end its transaction.";
    case SQLITE_NOMEM: return " Let the process have more memory.";
    case SQLITE_FULL: return " Free space on the disk, and call again.";
    case SQLITE_IOERR: return " Look at the disk and at the system's log.";
    case SQLITE_READONLY:
    case SQLITE_PERM: return " Let this user write to the file and to its folder.";
    case SQLITE_CANTOPEN:
        return " Check that its folder exists and is writable, and that the process may open "
               "more files.";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return " Restore the database from a copy.";
    case SQLITE_TOOBIG: return " Store less in the record.";
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH: return " The table must accept every change that settle makes.";
    default: return "";
    }
}

[[nodiscard]] constexpr bool says_no_room(int cause) noexcept {
    return cause == ENOSPC || cause == EDQUOT || cause == EFBIG;
}

/// True if a full disk can cause this error. For any other error the last errno may be outdated.
[[nodiscard]] constexpr bool takes_room(int code) noexcept {
    switch (code) {
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_SHMSIZE: return true;
    default: return false;
    }
}

/// In most of its files SQLite reports a full disk as an I/O error.
[[nodiscard]] int with_cause(sqlite3* connection, int code) noexcept;

/// Shape:   phase - the action, as the sentence puts it after "SQLite could not"
[[nodiscard]] error describe(sqlite3* connection, int code, std::string_view phase);

[[noreturn]] inline void raise(sqlite3* connection, int code, std::string_view phase) {
    throw failure(describe(connection, code, phase));
}

[[noreturn]] inline void raise(errc code, std::string text) {
    throw failure({make_error_code(code), std::move(text)});
}

/// True if the error concerns one record or its table, so the other records of the wave are not
/// affected.
[[nodiscard]] bool is_of_one_record(std::error_code const& code) noexcept;

} // namespace detail
} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/error.ipp>
#endif
