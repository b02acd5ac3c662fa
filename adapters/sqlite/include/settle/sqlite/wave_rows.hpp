// SPDX-License-Identifier: BSL-1.0
// Shows a wave to SQL, so that one statement does the work of a thousand statements.
//
// Three names exist on the connection that writes, and only while a statement runs over a wave:
//
//   settle_wave                    a table whose rows are those of the wave, read in place
//   settle_met(column, …)          whether the wave has something to do with a row of a table
//   settle_value(column, number)   what the wave puts into a row, which the column tells it
#pragma once

#include <settle/sqlite/connection.hpp>

#include <new>

SETTLE_BEGIN
namespace sqlite::detail {

/// Where a value of a wave goes; what is given nothing stays NULL. A text stays in its place until
/// the next row.
class cell {
public:
    explicit cell(sqlite3_context* to) noexcept : to_(to) {}

    void give(std::int64_t value) const { sqlite3_result_int64(to_, value); }
    void give(std::string_view text) const {
        sqlite3_result_text64(to_, not_null(text), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    /// Keeps the text itself.
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

/// What settle_met and settle_value are asked about: columns of a row, looked at in place.
class columns {
public:
    explicit columns(sqlite3_value** values) noexcept : values_(values) {}

    [[nodiscard]] std::int64_t integer(std::size_t at) const {
        return sqlite3_value_int64(values_[at]);
    }
    /// The text of a column; empty when it holds none.
    [[nodiscard]] std::string_view text(std::size_t at) const {
        if (sqlite3_value_type(values_[at]) != SQLITE_TEXT) return {};
        auto const* const text = sqlite3_value_text(values_[at]);
        if (text == nullptr) return {};
        return {reinterpret_cast<char const*>(text),
                static_cast<std::size_t>(sqlite3_value_bytes(values_[at]))};
    }
    /// How a value compares with a column.
    [[nodiscard]] int compare(std::string_view value, std::size_t at) const {
        return value.compare(text(at));
    }
    [[nodiscard]] int compare(std::int64_t value, std::size_t at) const {
        auto const found = integer(at);
        return value < found ? -1 : value > found ? 1 : 0;
    }

private:
    sqlite3_value** values_;
};

/// The wave that a connection shows: one at a time, until it is shown no more.
/// Shape:   it stays where it was made; the caller is alone with the connection
class wave_rows {
public:
    explicit wave_rows(connection const& on) {
        static sqlite3_module const rows = module();
        check(on, sqlite3_create_module_v2(on.get(), "settle_wave", &rows, this, nullptr));
        define(on, "settle_met", -1, [](sqlite3_context* to, int, sqlite3_value** values) {
            auto const& shown = shown_in(to).shown_;
            guarded(to, [&] {
                cell{to}.give(std::int64_t{shown.execute(shown.wave, columns{values})});
            });
        });
        define(on, "settle_value", 2, [](sqlite3_context* to, int, sqlite3_value** values) {
            auto const& shown = shown_in(to).shown_;
            guarded(to, [&] {
                shown.put(shown.wave, cell{to}, columns{values}, sqlite3_value_int(values[1]));
            });
        });
    }
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
    /// Shows the rows of a wave until the end of what it gives.
    /// Shape:   wave - has size(), and give(cell, row, column)
    template <typename Wave>
    [[nodiscard]] shown_until show_rows(Wave& wave) {
        view now;
        now.wave = &wave;
        now.rows = wave.size();
        now.give = [](void* given, cell to, std::size_t row, int column) {
            static_cast<Wave*>(given)->give(to, row, column);
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
            now.execute = [](void* given, columns row) {
                return static_cast<Wave*>(given)->execute(row);
            };
        }
        if constexpr (requires(cell to, columns row) { wave.put(to, row, 0); }) {
            now.put = [](void* given, cell to, columns row, int number) {
                static_cast<Wave*>(given)->put(to, row, number);
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
    static view const& shown_by(sqlite3_vtab_cursor* at) {
        return static_cast<table*>(at->pVtab)->of->shown_;
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

    static void check(connection const& on, int code) {
        if (code != SQLITE_OK) raise(on.get(), code, "show waves to the database");
    }
    void define(connection const& on, char const* name, int count,
                void (*function)(sqlite3_context*, int, sqlite3_value**)) {
        // No view or trigger of the file can call these functions.
        check(on, sqlite3_create_function_v2(on.get(), name, count,
                                             SQLITE_UTF8 | SQLITE_DIRECTONLY, this, function,
                                             nullptr, nullptr, nullptr));
    }

    /// No CREATE VIRTUAL TABLE makes one: the table is there under its own name, and nothing of it
    /// is in the file.
    static sqlite3_module module() {
        sqlite3_module made{};
        made.xConnect = [](sqlite3* on, void* given, int, char const* const*, sqlite3_vtab** out,
                           char**) {
            int const code = sqlite3_declare_vtab(
                on, "CREATE TABLE settle_wave(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10)");
            if (code != SQLITE_OK) return code;
            sqlite3_vtab_config(on, SQLITE_VTAB_DIRECTONLY);
            auto* const made_table = new (std::nothrow) table{};
            if (made_table == nullptr) return SQLITE_NOMEM;
            made_table->of = static_cast<wave_rows*>(given);
            *out = made_table;
            return SQLITE_OK;
        };
        made.xDisconnect = [](sqlite3_vtab* gone) {
            delete static_cast<table*>(gone);
            return SQLITE_OK;
        };
        made.xBestIndex = [](sqlite3_vtab*, sqlite3_index_info* plan) {
            plan->estimatedCost = 1000;
            plan->estimatedRows = 1000;
            return SQLITE_OK;
        };
        made.xOpen = [](sqlite3_vtab*, sqlite3_vtab_cursor** out) {
            auto* const opened = new (std::nothrow) cursor{};
            *out = opened;
            return opened == nullptr ? SQLITE_NOMEM : SQLITE_OK;
        };
        made.xClose = [](sqlite3_vtab_cursor* at) {
            delete static_cast<cursor*>(at);
            return SQLITE_OK;
        };
        made.xFilter = [](sqlite3_vtab_cursor* at, int, char const*, int, sqlite3_value**) {
            static_cast<cursor*>(at)->row = 0;
            return SQLITE_OK;
        };
        made.xNext = [](sqlite3_vtab_cursor* at) {
            ++static_cast<cursor*>(at)->row;
            return SQLITE_OK;
        };
        made.xEof = [](sqlite3_vtab_cursor* at) {
            return static_cast<int>(static_cast<cursor*>(at)->row >= shown_by(at).rows);
        };
        made.xColumn = [](sqlite3_vtab_cursor* at, sqlite3_context* to, int column) {
            view const& shown = shown_by(at);
            return guarded(to, [&] {
                shown.give(shown.wave, cell{to}, static_cast<cursor*>(at)->row, column);
            });
        };
        made.xRowid = [](sqlite3_vtab_cursor* at, sqlite3_int64* out) {
            *out = static_cast<sqlite3_int64>(static_cast<cursor*>(at)->row);
            return SQLITE_OK;
        };
        return made;
    }

    view shown_;
};

} // namespace sqlite::detail
SETTLE_END
