// SPDX-License-Identifier: BSL-1.0
// The conformance suite on the SQLite store.
#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <settle/testing/store_suite.hpp>

using settle_test::sqlite_fixture;
SETTLE_STORE_SUITE(sqlite_fixture);
