// SPDX-License-Identifier: BSL-1.0
// Databases of the shared server, for the suites that every store passes.
#pragma once

#include "shared_servers.hpp"

#include <settle/postgresql.hpp>

#include <optional>

namespace settle_test {

struct postgresql_fixture {
    using database = settle::postgresql::database;
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
    fresh_schema own_;
    fresh_schema second_own_;
    std::optional<database> here_;
    std::optional<database> second_;
};

} // namespace settle_test
