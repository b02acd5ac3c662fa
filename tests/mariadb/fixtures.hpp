// SPDX-License-Identifier: BSL-1.0
// Databases of the shared server, for the suites that every store passes.
#pragma once

#include "shared_servers.hpp"

#include <settle/mariadb.hpp>

#include <optional>

namespace settle_test {

struct mariadb_fixture {
    using database = settle::mariadb::database;
    database& database_here() {
        if (!here_) here_.emplace(own_.address());
        return *here_;
    }
    database& second_database() {
        if (!second_) second_.emplace(second_own_.address());
        return *second_;
    }
    database& reopened() {
        here_.emplace(own_.address());
        return *here_;
    }

private:
    fresh_mariadb own_;
    fresh_mariadb second_own_;
    std::optional<database> here_;
    std::optional<database> second_;
};

} // namespace settle_test
