// SPDX-License-Identifier: BSL-1.0
// Databases of a shared SQL server, for the suites that every store passes.
#pragma once

#include "patiently.hpp"

#include <optional>

namespace settle_test {

/// Shape:   Database, Options - of the adapter; Place - a new database of the server, or a schema;
///          Session - of another program
template <typename Database, typename Options, typename Place, typename Session>
struct sql_fixture {
    using database = Database;
    using options = Options;
    using place = Place;
    using session = Session;

    static Options patient_limits() { return settle_test::patient_limits<Options>(); }
    Database& database_here() {
        if (!here_) here_.emplace(own_.address());
        return *here_;
    }
    Database& second_database() {
        if (!second_) second_.emplace(second_own_.address());
        return *second_;
    }
    Database& reopened() {
        here_.emplace(own_.address());
        return *here_;
    }

private:
    Place own_;
    Place second_own_;
    std::optional<Database> here_;
    std::optional<Database> second_;
};

} // namespace settle_test
