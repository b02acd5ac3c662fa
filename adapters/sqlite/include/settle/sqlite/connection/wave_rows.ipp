// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that wave_rows.hpp declares.
#pragma once

#include <settle/sqlite/connection/wave_rows.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::string_view columns::text(std::size_t at) const {
    if (sqlite3_value_type(values_[at]) != SQLITE_TEXT) return {};
    auto const* const text = sqlite3_value_text(values_[at]);
    if (text == nullptr) return {};
    return {reinterpret_cast<char const*>(text),
            static_cast<std::size_t>(sqlite3_value_bytes(values_[at]))};
}

SETTLE_FUNCTION wave_rows::wave_rows(connection const& on) {
    static sqlite3_module const rows = module();
    check(on, sqlite3_create_module_v2(on.get(), "settle_wave", &rows, this, nullptr));
    define(on, "settle_expects", -1, [](sqlite3_context* to, int, sqlite3_value** values) {
        auto const& shown = shown_in(to).shown_;
        guarded(to,
                [&] { cell{to}.give(std::int64_t{shown.execute(shown.wave, columns{values})}); });
    });
    define(on, "settle_value", 2, [](sqlite3_context* to, int, sqlite3_value** values) {
        auto const& shown = shown_in(to).shown_;
        guarded(to, [&] {
            shown.put(shown.wave, cell{to}, columns{values}, sqlite3_value_int(values[1]));
        });
    });
}

SETTLE_FUNCTION void wave_rows::define(connection const& on, char const* name, int count,
                                       void (*function)(sqlite3_context*, int, sqlite3_value**)) {
    // No view or trigger of the file can call these functions.
    check(on, sqlite3_create_function_v2(on.get(), name, count, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                         this, function, nullptr, nullptr, nullptr));
}

SETTLE_FUNCTION sqlite3_module wave_rows::module() {
    sqlite3_module made{};
    made.xConnect = [](sqlite3* on, void* given, int, char const* const*, sqlite3_vtab** out,
                       char**) {
        int const code = sqlite3_declare_vtab(
            on, "CREATE TABLE settle_wave(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, "
                "c12, c13, c14, c15, c16, c17, c18, c19)");
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
        return guarded(
            to, [&] { shown.give(shown.wave, cell{to}, static_cast<cursor*>(at)->row, column); });
    };
    made.xRowid = [](sqlite3_vtab_cursor* at, sqlite3_int64* out) {
        *out = static_cast<sqlite3_int64>(static_cast<cursor*>(at)->row);
        return SQLITE_OK;
    };
    return made;
}

} // namespace sqlite::detail
SETTLE_END
