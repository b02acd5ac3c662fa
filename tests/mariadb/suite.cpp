// SPDX-License-Identifier: BSL-1.0
// The conformance suite on MariaDB.
#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <settle/testing/store_suite.hpp>

using settle_test::mariadb_fixture;
SETTLE_STORE_SUITE(mariadb_fixture);
