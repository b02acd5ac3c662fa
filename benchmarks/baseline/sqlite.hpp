// SPDX-License-Identifier: BSL-1.0
// SQLite without settle: a thin layer of prepared statements.
#pragma once

#include "json.hpp"

#include <sqlite3.h>

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace baseline {

[[noreturn]] inline void fail(sqlite3* on, std::string_view action) {
    throw std::runtime_error("by hand: " + std::string{action} + ": " + sqlite3_errmsg(on));
}

class connection {
public:
    /// As durable as settle's: a write-ahead log, and a sync for every commit.
    explicit connection(std::string const& path) {
        constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
            fail(handle_, path);
        }
        sqlite3_busy_timeout(handle_, 600'000);
        execute("PRAGMA journal_mode = WAL");
        execute("PRAGMA synchronous = FULL");
        // Some builds of SQLite overwrite all erased data; settle limits that in the same way.
        execute("PRAGMA secure_delete = FAST");
    }
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection() { sqlite3_close_v2(handle_); }

    [[nodiscard]] sqlite3* get() const noexcept { return handle_; }
    void execute(char const* sql) const {
        if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(handle_, sql);
    }

private:
    sqlite3* handle_ = nullptr;
};

class statement {
public:
    statement(connection const& connection, std::string const& sql) : on_(connection.get()) {
        if (sqlite3_prepare_v3(on_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &handle_,
                               nullptr) != SQLITE_OK) {
            fail(on_, sql);
        }
    }
    statement(statement&& other) noexcept
        : on_(other.on_), handle_(std::exchange(other.handle_, nullptr)) {}
    statement& operator=(statement&&) = delete;
    ~statement() { sqlite3_finalize(handle_); }

    /// Runs the statement to its end. True if it changed exactly one row.
    template <typename... Values>
    bool changes_one(Values const&... values) const {
        bind(values...);
        int const code = sqlite3_step(handle_);
        sqlite3_reset(handle_);
        if (code != SQLITE_DONE) fail(on_, sqlite3_sql(handle_));
        return sqlite3_changes(on_) == 1;
    }

    template <typename... Values>
    void bind(Values const&... values) const {
        int at = 0;
        (bind_one(++at, values), ...);
    }
    /// True if there is a row. The caller resets the statement after its last read.
    bool next() const {
        int const code = sqlite3_step(handle_);
        if (code != SQLITE_ROW && code != SQLITE_DONE) fail(on_, sqlite3_sql(handle_));
        return code == SQLITE_ROW;
    }
    void reset() const { sqlite3_reset(handle_); }
    [[nodiscard]] std::int64_t integer(int column) const {
        return sqlite3_column_int64(handle_, column);
    }
    [[nodiscard]] std::string_view text(int column) const {
        auto const* const bytes = sqlite3_column_text(handle_, column);
        return {reinterpret_cast<char const*>(bytes),
                static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
    }

private:
    void bind_one(int index, std::int64_t value) const {
        sqlite3_bind_int64(handle_, index, value);
    }
    void bind_one(int index, std::string_view text) const {
        sqlite3_bind_text(handle_, index, text.data(), static_cast<int>(text.size()),
                          SQLITE_STATIC);
    }

    sqlite3* on_;
    sqlite3_stmt* handle_ = nullptr;
};

/// BEGIN IMMEDIATE and COMMIT, prepared.
class commits {
public:
    explicit commits(connection const& connection)
        : begin_(connection, "BEGIN IMMEDIATE"), commit_(connection, "COMMIT") {}

    template <typename Function>
    void in_one(Function const& function) const {
        begin_.changes_one();
        function();
        commit_.changes_one();
    }

private:
    statement begin_;
    statement commit_;
};

} // namespace baseline
