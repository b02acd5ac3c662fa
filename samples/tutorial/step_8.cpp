// SPDX-License-Identifier: BSL-1.0
// Step 8: every interleaving of a type of one's own.
#include "bank.hpp"

#include <settle/testing/explore.hpp>

#include <iostream>

inline constexpr auto fee_type = settle::transaction<transfer, "fee">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount> + lit<1>)
        .apply(field<&account::balance> -= param<&transfer::amount> + lit<1>) // a fee of 1
        .compensate(settle::inverse),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

using namespace settle::testing;

template <auto const& Type>
exploration search_all() {
    return explore(settle::type<Type>, starts(accounts, account{"anna", 100}, account{"bert", 0}),
                   runs("rent-may", transfer{"anna", "bert", 70}),
                   conserves(accounts, field<&account::balance>), bounds{.late_writes = 0});
}

int main() {
    exploration const right = search_all<transfer_type>();
    std::cout << right.states << " states, " << (right ? "all correct" : "wrong") << '\n';
    std::cout << search_all<fee_type>().trace;
}
