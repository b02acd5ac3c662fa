// SPDX-License-Identifier: BSL-1.0
// The conformance suite on PostgreSQL.
#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <settle/testing/store_suite.hpp>

using settle_test::postgresql_fixture;
SETTLE_STORE_SUITE(postgresql_fixture);
