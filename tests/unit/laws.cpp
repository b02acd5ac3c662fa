// SPDX-License-Identifier: BSL-1.0
// The laws of transaction types, in memory, over every width and kind of effect.
#include <settle/testing/laws.hpp>

#include <unit/laws_types.hpp>

#include <doctest/doctest.h>

using settle::testing::check_laws;

namespace {

/// A type of which nothing ever takes effect says nothing, so the share is looked at, too.
template <auto const& Type>
void keeps_laws(std::uint64_t least_applied) {
    auto const report = check_laws<Type>();
    CHECK(report);
    CHECK(report.applied >= least_applied);
}

} // namespace

TEST_CASE("laws: sums in every width keep them") { keeps_laws<law_test::sums_type>(500); }

TEST_CASE("laws: guards that need exact values keep them") {
    keeps_laws<law_test::exact_type>(1000);
}

TEST_CASE("laws: effects that read what they change keep them") {
    keeps_laws<law_test::swap_type>(400);
}

TEST_CASE("laws: assignments keep them, beside sums as well") {
    keeps_laws<law_test::close_type>(700);
}
