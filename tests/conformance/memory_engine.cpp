// SPDX-License-Identifier: BSL-1.0
// The conformance suite on the memory store: an engine.
#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <settle/testing/store_suite.hpp>

namespace {

struct memory_engine : settle_test::memory_fixture {
    static constexpr auto part = settle::testing::suite_part::engines;
};

} // namespace

SETTLE_STORE_SUITE(memory_engine);
