// SPDX-License-Identifier: BSL-1.0
// Shows a wave to SQL, so that one statement does the work of a thousand statements.
//
// Three names exist on the connection that writes. While no wave is shown, the table is empty,
// settle_expects gives 0 and settle_value gives NULL:
//
//   settle_wave                    a table with the rows of the wave, read in place
//   settle_expects(column, …)      whether the wave changes a row of a table
//   settle_value(column, number)   the value that the wave writes into a row
#pragma once

#include <settle/sqlite/connection/connection.hpp>

#include <new>

SETTLE_BEGIN
namespace sqlite::detail {

/// Receives one value of a wave; NULL if no value is given. A text must stay valid until the next
/// row.
class cell {
public:
    explicit cell(sqlite3_context* to) noexcept : to_(to) {}

    void give(std::int64_t value) const { sqlite3_result_int64(to_, value); }
    void give(std::string_view text) const {
        sqlite3_result_text64(to_, not_null(text), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    /// Copies the text.
    void give_copy(std::string_view text) const {
        sqlite3_result_text64(to_, not_null(text), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    void give(std::nullptr_t) const { sqlite3_result_null(to_); }
    template <typename T>
    void give(std::optional<T> const& value) const {
        if (value) give(*value);
    }

private:
    sqlite3_context* to_;
};

/// The arguments of settle_expects and settle_value: columns of a row, read in place.
class columns {
public:
    explicit columns(sqlite3_value** values) noexcept : values_(values) {}

    [[nodiscard]] std::int64_t integer(std::size_t index) const {
        return sqlite3_value_int64(values_[index]);
    }
    /// The text of a column; empty if the column holds no text.
    [[nodiscard]] std::string_view text(std::size_t index) const;
    /// Compares a value with a column: below 0 if the value is less.
    [[nodiscard]] int compare(std::string_view value, std::size_t index) const {
        return value.compare(text(index));
    }
    [[nodiscard]] int compare(std::int64_t value, std::size_t index) const {
        auto const found = integer(index);
        return value < found ? -1 : value > found ? 1 : 0;
    }

private:
    sqlite3_value** values_;
};

/// The wave that a connection shows to its statements: one at a time.
/// Shape:   an object does not move; the caller is alone with the connection
class wave_rows {
public:
    explicit wave_rows(connection const& connection);
    wave_rows(wave_rows const&) = delete;
    wave_rows& operator=(wave_rows const&) = delete;

private:
    struct view {
        void* wave = nullptr;
        std::size_t rows = 0;
        void (*give)(void*, cell, std::size_t, int) = [](void*, cell, std::size_t, int) {};
        bool (*execute)(void*, columns) = [](void*, columns) { return false; };
        void (*put)(void*, cell, columns, int) = [](void*, cell, columns, int) {};
    };
    class shown_until {
    public:
        shown_until(view& target, view const& now) : target_(target) { target_ = now; }
        shown_until(shown_until const&) = delete;
        shown_until& operator=(shown_until const&) = delete;
        ~shown_until() { target_ = {}; }

    private:
        view& target_;
    };

public:
    /// Shows the rows of a wave until the returned object ends.
    /// Shape:   wave - has size(), and give(cell, row, column)
    template <typename Wave>
    [[nodiscard]] shown_until show_rows(Wave& wave) {
        view now;
        now.wave = &wave;
        now.rows = wave.size();
        now.give = [](void* value, cell to, std::size_t row, int column) {
            static_cast<Wave*>(value)->give(to, row, column);
        };
        return {shown_, now};
    }

    /// Shows a wave's changes of the rows of a table.
    /// Shape:   wave - has execute(columns), put(cell, columns, number), or both
    template <typename Wave>
    [[nodiscard]] shown_until show_changes(Wave& wave) {
        view now;
        now.wave = &wave;
        if constexpr (requires(columns row) { wave.execute(row); }) {
            now.execute = [](void* value, columns row) {
                return static_cast<Wave*>(value)->execute(row);
            };
        }
        if constexpr (requires(cell to, columns row) { wave.put(to, row, 0); }) {
            now.put = [](void* value, cell to, columns row, int number) {
                static_cast<Wave*>(value)->put(to, row, number);
            };
        }
        return {shown_, now};
    }

private:
    // ------------------------------------------------------------------------------ for SQLite

    struct table : sqlite3_vtab {
        wave_rows* of;
    };
    struct cursor : sqlite3_vtab_cursor {
        std::size_t row;
    };
    static wave_rows& shown_in(sqlite3_context* to) {
        return *static_cast<wave_rows*>(sqlite3_user_data(to));
    }
    static view const& shown_by(sqlite3_vtab_cursor* cursor) {
        return static_cast<table*>(cursor->pVtab)->of->shown_;
    }

    /// No exception may pass through SQLite.
    template <typename Function>
    static int guarded(sqlite3_context* to, Function&& function) noexcept {
        try {
            function();
            return SQLITE_OK;
        } catch (...) {
            sqlite3_result_error_nomem(to);
            return SQLITE_NOMEM;
        }
    }

    static void check(connection const& connection, int code) {
        if (code != SQLITE_OK) raise(connection.get(), code, "show waves to the database");
    }
    void define(connection const& connection, char const* name, int count,
                void (*function)(sqlite3_context*, int, sqlite3_value**));

    /// The table exists under the module's name without a CREATE VIRTUAL TABLE, and the file holds
    /// nothing of it.
    static sqlite3_module module();

    view shown_;
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/wave_rows.ipp>
#endif
