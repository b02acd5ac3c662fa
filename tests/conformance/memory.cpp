// SPDX-License-Identifier: BSL-1.0
// The conformance suite on the memory store.
#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <settle/testing/store_suite.hpp>

using settle_test::memory_fixture;
SETTLE_STORE_SUITE(memory_fixture);
