// SPDX-License-Identifier: BSL-1.0
// The conformance suite on MongoDB: a replica set, whose waves are native transactions, and a
// single server, whose waves are bulks of single updates.
#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <settle/testing/store_suite.hpp>

using settle_test::replica_set_fixture;
using settle_test::standalone_fixture;
SETTLE_STORE_SUITE(replica_set_fixture);
SETTLE_STORE_SUITE(standalone_fixture);
