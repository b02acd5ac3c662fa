// SPDX-License-Identifier: BSL-1.0
// The store suite over any_database.
#include "served_suite.hpp"

#include <doctest/doctest.h>
#include <settle/testing/store_suite.hpp>

namespace {

struct any_fixture {
    using database = settle::any_database;
    database& database_here() { return databases_->here(); }
    database& second_database() { return databases_->second(); }
    database& reopened() { return databases_->reopened(); }

private:
    std::unique_ptr<settle_test::suite_databases> databases_ = settle_test::make_suite_databases();
};

} // namespace

SETTLE_STORE_SUITE(any_fixture);
