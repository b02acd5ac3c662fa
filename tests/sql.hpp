// SPDX-License-Identifier: BSL-1.0
// SQL as any other program would send it to a file, such as the sqlite3 shell.
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace testing {

using sql_rows = std::vector<std::vector<std::string>>;

/// All rows of the result, column by column; "NULL" where there is no value.
inline sql_rows ask(std::string const& path, std::string const& sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    // SQLite's own pauses grow, so that a program with many commits would always be first.
    auto const pause = [](void*, int count) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        return count < 300'000 ? 1 : 0;
    };
    sqlite3_busy_handler(db, pause, nullptr);
    sql_rows rows;
    auto const add = [](void* to, int count, char** values, char**) {
        auto& row = static_cast<sql_rows*>(to)->emplace_back();
        for (int i = 0; i < count; ++i) {
            row.emplace_back(values[i] == nullptr ? "NULL" : values[i]);
        }
        return 0;
    };
    char* reply = nullptr;
    sqlite3_exec(db, sql.c_str(), add, &rows, &reply);
    std::string const problem = reply == nullptr ? "" : reply;
    sqlite3_free(reply);
    sqlite3_close(db);
    REQUIRE(problem == "");
    return rows;
}

} // namespace testing
