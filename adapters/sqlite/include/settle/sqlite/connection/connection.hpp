// SPDX-License-Identifier: BSL-1.0
// A connection to a database file, and its prepared statements.
#pragma once

#include <settle/adapter/row_values.hpp>
#include <settle/adapter/sql_quotes.hpp>
#include <settle/base/chrono.hpp>
#include <settle/base/process.hpp>
#include <settle/sqlite/connection/error.hpp>
#include <settle/store/caller_wait.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

SETTLE_BEGIN
namespace sqlite::detail {

using settle::detail::quoted_name;

/// Shape:   path - a file name, also if it looks like a URI
[[nodiscard]] inline std::string plain_path(std::string const& path) {
    return path.starts_with("file:") ? "./" + path : path;
}

/// How long a connection waits for the locks of other connections.
struct busy_wait {
    std::chrono::milliseconds limit;
    std::optional<settle::detail::store_wait> under_way;
};

class connection {
public:
    /// Errors:  throws settle::failure when the file cannot be opened
    connection(std::string const& path, std::chrono::milliseconds busy_timeout);

    [[nodiscard]] sqlite3* get() const noexcept { return handle_.get(); }

    /// True if a transaction is open. Some errors end a transaction.
    [[nodiscard]] bool in_transaction() const noexcept {
        return sqlite3_get_autocommit(get()) == 0;
    }
    [[nodiscard]] bool read_only() const noexcept {
        return sqlite3_db_readonly(get(), "main") == 1;
    }

    /// Runs SQL and ignores its rows.
    void execute(std::string const& sql, std::string_view phase) const {
        int const code = sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr);
        if (code != SQLITE_OK) raise(get(), code, phase);
    }

    /// Calls a function whose statements all read one state of the file.
    /// Errors:  throws settle::failure when the file cannot be read, before it calls the function
    template <typename Function>
    void from_one_state(Function&& function) const {
        execute("BEGIN", "begin to read");
        // The transaction changes nothing, so an error of its end does not matter.
        struct finish {
            sqlite3* handle;
            ~finish() { sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr); }
        } const at_last{get()};
        function();
    }

private:
    struct closer {
        process_stamp made_in;
        void operator()(sqlite3* handle) const noexcept {
            // A forked child must not even close its parent's connection.
            if (made_in.is_here()) sqlite3_close_v2(handle);
        }
    };
    std::unique_ptr<busy_wait> waits_; ///< the handle refers to it
    std::unique_ptr<sqlite3, closer> handle_;
};

/// A prepared statement. Bound texts must outlive its run.
class statement {
public:
    statement() = default;

    /// Shape:   phase - the action, as error sentences put it after "SQLite could not"; a literal
    statement(connection const& connection, std::string_view sql, char const* phase);

    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
    [[nodiscard]] sqlite3_stmt* get() const noexcept { return handle_.get(); }
    [[nodiscard]] char const* phase() const noexcept { return phase_; }

private:
    struct finalizer {
        process_stamp made_in;
        void operator()(sqlite3_stmt* handle) const noexcept {
            if (made_in.is_here()) sqlite3_finalize(handle);
        }
    };
    std::unique_ptr<sqlite3_stmt, finalizer> handle_;
    char const* phase_ = "";
};

/// A null pointer would mean NULL instead of an empty text.
[[nodiscard]] inline char const* not_null(std::string_view bytes) noexcept {
    return bytes.data() == nullptr ? "" : bytes.data();
}

/// One run of a statement: values are bound in order, and rows are read without a copy. The
/// destructor makes the statement ready for the next run.
class run {
public:
    explicit run(statement const& statement) noexcept
        : handle_(statement.get()), phase_(statement.phase()) {}
    run(run const&) = delete;
    run& operator=(run const&) = delete;
    ~run() { sqlite3_reset(handle_); }

    template <typename... Values>
    run(statement const& statement, Values const&... values) : run(statement) {
        (bind(values), ...);
    }

    run& bind(std::int64_t value) { return check(sqlite3_bind_int64(handle_, ++bound_, value)); }
    run& bind(std::string_view text) {
        return check(sqlite3_bind_text64(handle_, ++bound_, not_null(text), text.size(),
                                         SQLITE_STATIC, SQLITE_UTF8));
    }
    /// Copies the text, so that the caller's text may end before the run.
    run& bind_copy(std::string_view text) {
        return check(sqlite3_bind_text64(handle_, ++bound_, not_null(text), text.size(),
                                         SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    run& bind(std::nullptr_t) { return check(sqlite3_bind_null(handle_, ++bound_)); }
    run& bind_blob(std::string_view bytes) {
        return check(
            sqlite3_bind_blob64(handle_, ++bound_, not_null(bytes), bytes.size(), SQLITE_STATIC));
    }
    run& bind_real(double value) { return check(sqlite3_bind_double(handle_, ++bound_, value)); }
    template <typename T>
    run& bind(std::optional<T> const& value) {
        return value ? bind(*value) : bind(nullptr);
    }

    /// Moves to the next row; false after the last row.
    bool next();
    /// Runs a statement without rows; returns the number of rows that it changed.
    std::int64_t change() {
        while (next()) {
        }
        return sqlite3_changes64(sqlite3_db_handle(handle_));
    }

    [[nodiscard]] int columns() const noexcept { return sqlite3_column_count(handle_); }
    [[nodiscard]] std::string_view name(int column) const {
        return sqlite3_column_name(handle_, column);
    }
    [[nodiscard]] int type(int column) const noexcept {
        return sqlite3_column_type(handle_, column);
    }
    [[nodiscard]] settle::detail::value_kind kind(int column) const noexcept {
        using settle::detail::value_kind;
        switch (type(column)) {
        case SQLITE_NULL: return value_kind::null;
        case SQLITE_INTEGER: return value_kind::integer;
        case SQLITE_TEXT: return value_kind::text;
        default: return value_kind::other;
        }
    }
    [[nodiscard]] std::int64_t integer(int column) const noexcept {
        return sqlite3_column_int64(handle_, column);
    }
    [[nodiscard]] double real(int column) const noexcept {
        return sqlite3_column_double(handle_, column);
    }
    /// Valid until the next row; empty for NULL.
    [[nodiscard]] std::string_view text(int column) const noexcept;
    [[nodiscard]] std::string_view blob(int column) const noexcept;

private:
    run& check(int code) {
        if (code != SQLITE_OK) raise(sqlite3_db_handle(handle_), code, phase_);
        return *this;
    }

    sqlite3_stmt* handle_;
    char const* phase_;
    int bound_ = 0;
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/connection.ipp>
#endif
