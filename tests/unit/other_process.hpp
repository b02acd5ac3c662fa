// SPDX-License-Identifier: BSL-1.0
// Another process that opens a database for one statement and closes it, like the sqlite3 shell.
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace other_process {

/// Starts before the test opens a database, so that it does not share SQLite's list of open files.
class shell {
public:
    shell() {
        int orders[2];
        int answers[2];
        REQUIRE(::pipe(orders) == 0);
        REQUIRE(::pipe(answers) == 0);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            ::close(orders[1]);
            ::close(answers[0]);
            serve(orders[0], answers[1]);
        }
        ::close(orders[0]);
        ::close(answers[1]);
        orders_ = orders[1];
        answers_ = answers[0];
    }
    shell(shell const&) = delete;
    shell& operator=(shell const&) = delete;
    ~shell() {
        ::close(orders_);
        ::close(answers_);
        while (::waitpid(pid_, nullptr, 0) != pid_) {
        }
    }

    /// Runs SQL on a file. True if SQLite succeeded.
    bool run(std::string const& path, std::string const& sql) {
        std::string const order = path + '\n' + sql + '\n';
        REQUIRE(::write(orders_, order.data(), order.size()) ==
                static_cast<::ssize_t>(order.size()));
        char answer = 0;
        REQUIRE(::read(answers_, &answer, 1) == 1);
        return answer == '1';
    }

private:
    static bool read_line(int from, std::string& line) {
        line.clear();
        for (char byte = 0; ::read(from, &byte, 1) == 1;) {
            if (byte == '\n') return true;
            line += byte;
        }
        return false;
    }
    [[noreturn]] static void serve(int orders, int answers) {
        std::string path;
        std::string sql;
        while (read_line(orders, path) && read_line(orders, sql)) {
            sqlite3* db = nullptr;
            bool const done = sqlite3_open(path.c_str(), &db) == SQLITE_OK &&
                              sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
            sqlite3_close(db);
            if (::write(answers, done ? "1" : "0", 1) != 1) break;
        }
        ::_exit(0);
    }

    ::pid_t pid_ = 0;
    int orders_ = -1;
    int answers_ = -1;
};

} // namespace other_process
