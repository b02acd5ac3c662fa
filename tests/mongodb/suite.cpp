// SPDX-License-Identifier: BSL-1.0
// The store suite on MongoDB: on a replica set, whose waves are native transactions, over
// any_database; on a single server, whose waves are bulks of single updates, over the type itself.
#include "fixtures.hpp"

#include "served_suite.hpp"

#include <doctest/doctest.h>
#include <settle/mongodb/kind.hpp>
#include <settle/testing/store_suite.hpp>

namespace settle_test {
namespace {

struct replica_set_place : fresh_database {
    replica_set_place() : fresh_database{replica_set_address} {}
};

} // namespace

// The driver takes half a second to close a database.
std::unique_ptr<suite_databases> make_suite_databases() {
    return std::make_unique<suite_databases_at<replica_set_place, &settle::mongodb::kind, true>>();
}

} // namespace settle_test

using settle_test::standalone_fixture;
SETTLE_STORE_SUITE(standalone_fixture);
