// SPDX-License-Identifier: BSL-1.0
// The laws of transaction types in memory, with every width and kind of effect, and a broken law.
#include <settle/testing/laws.hpp>

#include <transfer/transfer.hpp>
#include <unit/laws_types.hpp>

#include <doctest/doctest.h>

using settle::testing::check_laws;

namespace {

/// Also checks that enough parts were applied: without them the laws would hold trivially.
template <auto const& Type>
void keeps_laws(std::uint64_t least_applied) {
    auto const report = check_laws<Type>();
    CHECK(report);
    CHECK(report.applied >= least_applied);
}

/// A store that loses a credit of more than 100.
struct forgetful_store {
    template <typename Record>
    std::string mark(settle::mark<Record> const& mark, std::optional<Record> const&) const {
        for (auto const delta : mark.confirm_delta) {
            if (delta > 100) return "the store loses " + std::to_string(delta);
        }
        return {};
    }
};

} // namespace

TEST_CASE("laws: a broken law is reported with the simplest case") {
    auto const report = check_laws<bank::transfer_type>(7, 2000, forgetful_store{});
    CHECK_FALSE(report);
    CHECK(report.text ==
          "settle: a law is broken: a mark is read back from its stored form as it was\n"
          "  the store loses 101\n"
          "  record {\"id\":\"\",\"balance\":0,\"opened_with\":0}\n"
          "  apply 't0' part 0 under 1: participant 'destination' line 0 of "
          "{\"source\":\"a\",\"destination\":\"\",\"amount\":101}\n"
          "  of the type 'transfer', with the seed 7 and 2000 rounds\n");
}

TEST_CASE("laws: a seed repeats its cases, and another seed gives others") {
    auto const first = check_laws<bank::transfer_type>(1, 200);
    CHECK(check_laws<bank::transfer_type>(1, 200).applied == first.applied);
    CHECK(check_laws<bank::transfer_type>(2, 200).applied != first.applied);
}

TEST_CASE("laws: sums of every width keep the laws") { keeps_laws<law_test::sums_type>(500); }

TEST_CASE("laws: guards that need exact values keep the laws") {
    keeps_laws<law_test::exact_type>(1000);
}

TEST_CASE("laws: effects that read their own field keep the laws") {
    keeps_laws<law_test::swap_type>(400);
}

TEST_CASE("laws: assignments keep the laws, also beside sums") {
    keeps_laws<law_test::close_type>(700);
}

TEST_CASE("laws: sums beside assignments keep the laws, also when reversed") {
    keeps_laws<law_test::restock_type>(300);
}
