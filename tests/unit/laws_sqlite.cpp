// SPDX-License-Identifier: BSL-1.0
// The laws of this repository's types in SQLite: marks in their stored form, expressions as SQL.
#include "sqlite_laws.hpp"

#include <settle/testing/store_suite/types.hpp>

#include <payment/payment.hpp>
#include <transfer/transfer.hpp>

#include <doctest/doctest.h>

namespace {

template <auto const& Type>
void keeps_laws() {
    auto const report = settle::sqlite::check_laws<Type>();
    CHECK(report);
    CHECK(report.applied >= 500);
}

} // namespace

TEST_CASE("laws: the types of the samples keep the laws") {
    keeps_laws<bank::transfer_type>();
    keeps_laws<shop::payment_type>();
    keeps_laws<shop::refund_type>();
}

TEST_CASE("laws: the commuting types of the store suite keep the laws") {
    keeps_laws<settle::testing::move_type>();
    keeps_laws<settle::testing::adjust_type>();
    keeps_laws<settle::testing::checked_type>();
    keeps_laws<settle::testing::order_type>();
    keeps_laws<settle::testing::tally_type>();
}

TEST_CASE("laws: the exclusive types of the store suite keep the laws") {
    keeps_laws<settle::testing::relabel_type>();
    keeps_laws<settle::testing::rewrite_type>();
    keeps_laws<settle::testing::issue_type>();
    keeps_laws<settle::testing::withdraw_type>();
    keeps_laws<settle::testing::exchange_type>();
}
