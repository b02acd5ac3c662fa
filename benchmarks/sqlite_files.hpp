// SPDX-License-Identifier: BSL-1.0
// The files of the SQLite cases: created for every round, and checked after it.
#pragma once

#include "baseline/tutorial.hpp"
#include "bench.hpp"
#include "workload.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// The tables of a new file. A table of accounts is as settle would create it.
struct file_shape {
    std::vector<std::string> tables{"accounts"}; ///< each holds all accounts
    bool with_marks = false;                     ///< a column for pending marks
    std::vector<std::string> more{};             ///< statements that create the rest
};

inline void erase_file(std::string const& path) {
    for (auto const* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
}

inline void begin_file(std::string const& path, file_shape const& shape, workload const& work) {
    erase_file(path);
    baseline::connection const connection{path};
    baseline::commits const commits{connection};
    commits.in_one([&] {
        for (auto const& sql : shape.more) connection.execute(sql.c_str());
        for (auto const& table : shape.tables) {
            std::string const made =
                "CREATE TABLE " + table +
                "(id TEXT PRIMARY KEY NOT NULL, balance INTEGER NOT NULL" +
                (shape.with_marks ? ", pending TEXT NOT NULL DEFAULT '{}'" : "") +
                ") WITHOUT ROWID";
            connection.execute(made.c_str());
            baseline::statement const insert{connection,
                                             "INSERT INTO " + table + "(id, balance) VALUES(?, ?)"};
            for (auto const& id : work.ids) insert.changes_one(id, work.opening);
        }
    });
    // A checkpoint of the preparation must not run while a side is timed.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Adds the balances of a table to `into`.
inline void add_balances(std::string const& path, std::string const& table,
                         std::vector<std::int64_t>& into) {
    baseline::connection const connection{path};
    baseline::statement const read{connection, "SELECT balance FROM " + table + " ORDER BY id"};
    std::size_t index = 0;
    for (; read.next() && index < into.size(); ++index) into[index] += read.integer(0);
    read.reset();
    if (index != into.size()) throw wrong_result(path + " has a wrong number of accounts");
}

inline void check_count(std::string const& path, std::string const& sql, std::size_t expected) {
    baseline::connection const connection{path};
    baseline::statement const count{connection, sql};
    bool const fits = count.next() && static_cast<std::size_t>(count.integer(0)) == expected;
    count.reset();
    if (!fits) throw wrong_result(path + ": " + sql + " is not " + std::to_string(expected));
}

/// Errors:  throws wrong_result if a tutorial's program has left marks
/// Shape:   table - of the accounts; in_table - marks are rows of a separate table
inline void check_no_marks(std::string const& path, std::string const& table, bool in_table) {
    check_count(path,
                in_table ? "SELECT count(*) FROM mark"
                         : "SELECT count(*) FROM " + table + " WHERE pending <> '{}'",
                0);
}

/// Errors:  throws wrong_result if an account has another balance than expected
inline void check_balances(std::string const& path, workload const& work) {
    std::vector<std::int64_t> found(work.ids.size(), 0);
    add_balances(path, "accounts", found);
    if (found != work.expected) throw wrong_result(path + " holds wrong balances");
}

/// The same for a baseline, whose log must hold each transfer as done.
inline void check_by_hand(std::string const& path, workload const& work) {
    check_balances(path, work);
    check_count(path, "SELECT count(*) FROM log WHERE state = 3", work.requests.size());
}

} // namespace bench
