// SPDX-License-Identifier: BSL-1.0
// SQL as any other program would send it to a file, such as the sqlite3 shell.
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

namespace testing {

using sql_rows = std::vector<std::vector<std::string>>;

/// All rows of the result, column by column; "NULL" where there is no value.
inline sql_rows ask(std::string const& path, std::string const& sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    sqlite3_busy_timeout(db, 300000);
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
