// SPDX-License-Identifier: BSL-1.0
// Compares memory and SQLite under every transaction type of this repository.
#include <settle/memory.hpp>
#include <settle/sqlite.hpp>
#include <settle/testing/laws/two_stores.hpp>
#include <settle/testing/store_suite/types.hpp>

#include <payment/payment.hpp>
#include <transfer/transfer.hpp>

#include <conformance/fixtures.hpp>
#include <unit/laws_types.hpp>

#include <doctest/doctest.h>

namespace {

template <auto const& Type>
void same_in_both() {
    settle_test::memory_fixture memory;
    settle_test::sqlite_fixture sqlite;
    auto const report =
        settle::testing::check_same<Type>(memory.database_here(), sqlite.database_here());
    CHECK(report);
    CHECK(report.applied >= 30);
}

} // namespace

TEST_CASE("laws: the types of the samples are the same in memory and in SQLite") {
    same_in_both<bank::transfer_type>();
    same_in_both<shop::payment_type>();
    same_in_both<shop::refund_type>();
}

TEST_CASE("laws: random types of every width are the same in memory and in SQLite") {
    same_in_both<law_test::sums_type>();
    same_in_both<law_test::exact_type>();
    same_in_both<law_test::swap_type>();
    same_in_both<law_test::close_type>();
}

TEST_CASE("laws: the types of the store suite are the same in memory and in SQLite") {
    same_in_both<settle::testing::adjust_type>();
    same_in_both<settle::testing::order_type>();
    same_in_both<settle::testing::rewrite_type>();
    same_in_both<settle::testing::issue_type>();
    same_in_both<settle::testing::withdraw_type>();
    same_in_both<settle::testing::exchange_type>();
}
