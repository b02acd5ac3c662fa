// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that wave_rows.hpp declares.
#pragma once

#include <settle/sqlite/connection/wave_rows.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::string_view columns::text(std::size_t index) const {
    if (sqlite3_value_type(values_[index]) != SQLITE_TEXT) return {};
    auto const* const text = sqlite3_value_text(values_[index]);
    if (text == nullptr) return {};
    return {reinterpret_cast<char const*>(text),
            static_cast<std::size_t>(sqlite3_value_bytes(values_[index]))};
}

SETTLE_FUNCTION wave_rows::wave_rows(connection const& connection) {
    static sqlite3_module const rows = module();
    check(connection,
          sqlite3_create_module_v2(connection.get(), "settle_wave", &rows, this, nullptr));
    define(connection, "settle_expects", -1, [](sqlite3_context* to, int, sqlite3_value** values) {
        auto const& shown = shown_in(to).shown_;
        guarded(to,
                [&] { cell{to}.give(std::int64_t{shown.execute(shown.wave, columns{values})}); });
    });
    define(connection, "settle_value", 2, [](sqlite3_context* to, int, sqlite3_value** values) {
        auto const& shown = shown_in(to).shown_;
        guarded(to, [&] {
            shown.put(shown.wave, cell{to}, columns{values}, sqlite3_value_int(values[1]));
        });
    });
}

SETTLE_FUNCTION void wave_rows::define(connection const& connection, char const* name, int count,
                                       void (*function)(sqlite3_context*, int, sqlite3_value**)) {
    // No view or trigger of the file can call these functions.
    check(connection,
          sqlite3_create_function_v2(connection.get(), name, count, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                     this, function, nullptr, nullptr, nullptr));
}

SETTLE_FUNCTION sqlite3_module wave_rows::module() {
    sqlite3_module module{};
    module.xConnect = [](sqlite3* database, void* value, int, char const* const*,
                         sqlite3_vtab** out, char**) {
        int const code = sqlite3_declare_vtab(
            database, "CREATE TABLE settle_wave(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, "
                      "c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23)");
        if (code != SQLITE_OK) return code;
        sqlite3_vtab_config(database, SQLITE_VTAB_DIRECTONLY);
        auto* const made_table = new (std::nothrow) table{};
        if (made_table == nullptr) return SQLITE_NOMEM;
        made_table->of = static_cast<wave_rows*>(value);
        *out = made_table;
        return SQLITE_OK;
    };
    module.xDisconnect = [](sqlite3_vtab* gone) {
        delete static_cast<table*>(gone);
        return SQLITE_OK;
    };
    module.xBestIndex = [](sqlite3_vtab*, sqlite3_index_info* plan) {
        plan->estimatedCost = 1000;
        plan->estimatedRows = 1000;
        return SQLITE_OK;
    };
    module.xOpen = [](sqlite3_vtab*, sqlite3_vtab_cursor** out) {
        auto* const opened = new (std::nothrow) cursor{};
        *out = opened;
        return opened == nullptr ? SQLITE_NOMEM : SQLITE_OK;
    };
    module.xClose = [](sqlite3_vtab_cursor* position) {
        delete static_cast<cursor*>(position);
        return SQLITE_OK;
    };
    module.xFilter = [](sqlite3_vtab_cursor* position, int, char const*, int, sqlite3_value**) {
        static_cast<cursor*>(position)->row = 0;
        return SQLITE_OK;
    };
    module.xNext = [](sqlite3_vtab_cursor* position) {
        ++static_cast<cursor*>(position)->row;
        return SQLITE_OK;
    };
    module.xEof = [](sqlite3_vtab_cursor* position) {
        return static_cast<int>(static_cast<cursor*>(position)->row >= shown_by(position).rows);
    };
    module.xColumn = [](sqlite3_vtab_cursor* position, sqlite3_context* to, int column) {
        view const& shown = shown_by(position);
        return guarded(to, [&] {
            shown.give(shown.wave, cell{to}, static_cast<cursor*>(position)->row, column);
        });
    };
    module.xRowid = [](sqlite3_vtab_cursor* position, sqlite3_int64* out) {
        *out = static_cast<sqlite3_int64>(static_cast<cursor*>(position)->row);
        return SQLITE_OK;
    };
    return module;
}

} // namespace sqlite::detail
SETTLE_END
