// SPDX-License-Identifier: BSL-1.0
// A transaction type in a header, as users write it, seen by both units of the link test.
#pragma once

#include <every_header.hpp>

#include <cstdint>
#include <string>

namespace bank {
struct account {
    std::string id;
    std::int64_t balance;
};
struct transfer {
    std::string source, destination;
    std::int64_t amount;
};
} // namespace bank
BOOST_HANA_ADAPT_STRUCT(bank::account, id, balance);
BOOST_HANA_ADAPT_STRUCT(bank::transfer, source, destination, amount);

namespace bank {
using settle::field, settle::param;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;

inline constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(field<&account::balance> += param<&transfer::amount>),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

/// The facts that one translation unit sees of the type.
struct view_of_type {
    void const* address;
    std::uint64_t fingerprint;
};

[[nodiscard]] inline view_of_type look() {
    return {&transfer_type, settle::fingerprint(settle::canonical_text(transfer_type))};
}

view_of_type look_from_the_second_unit();
} // namespace bank
