// SPDX-License-Identifier: BSL-1.0
// The databases that the conformance and fault tests run on.
#pragma once

#include <settle/memory.hpp>
#include <settle/sqlite.hpp>

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

namespace settle_test {

/// A temporary file that is removed with the object.
class scratch_file {
public:
    scratch_file() {
        static int count = 0;
        path_ = std::string{SETTLE_SCRATCH_DIR} + "/conformance-" + std::to_string(::getpid()) +
                "-" + std::to_string(++count) + ".db";
        remove();
    }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    ~scratch_file() { remove(); }

    [[nodiscard]] std::string const& path() const { return path_; }

private:
    void remove() const {
        std::error_code ignored;
        for (char const* end : {"", "-wal", "-shm", "-journal"}) {
            std::filesystem::remove(path_ + end, ignored);
        }
    }

    std::string path_;
};

struct memory_fixture {
    using database = settle::memory::database;
    database& database_here() { return here_; }
    database& second_database() { return second_; }
    database& reopened() { return here_; }

private:
    database here_;
    database second_;
};

struct sqlite_fixture {
    using database = settle::sqlite::database;
    database& database_here() {
        if (!here_) here_.emplace(file_.path());
        return *here_;
    }
    database& second_database() {
        if (!second_) second_.emplace(second_file_.path());
        return *second_;
    }
    database& reopened() {
        here_.emplace(file_.path());
        return *here_;
    }

private:
    scratch_file file_;
    scratch_file second_file_;
    std::optional<database> here_;
    std::optional<database> second_;
};

} // namespace settle_test
