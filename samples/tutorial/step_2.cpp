// SPDX-License-Identifier: BSL-1.0
// Step 2: a mistake. This program does not compile.
#include "bank.hpp"

#include <settle/memory.hpp>

inline constexpr auto careless_type = settle::transaction<transfer, "careless">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

int main() {
    settle::memory::database db;
    settle::engine engine{db, settle::type<careless_type>};
}
