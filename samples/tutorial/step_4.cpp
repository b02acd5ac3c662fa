// SPDX-License-Identifier: BSL-1.0
// Step 4: a second store.
#include "bank.hpp"

#include <settle/sqlite.hpp>

#include <iostream>
#include <tuple>

inline constexpr settle::collection<account, "savings", &account::id> savings;

inline constexpr auto saving_type = settle::transaction<transfer, "saving">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    settle::participant<"destination">(savings, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

int main() {
    settle::sqlite::database bank{"step_4_bank.db"};
    settle::sqlite::database savings_bank{"step_4_savings.db"};
    settle::engine engine{settle::log_in(bank), settle::bind(accounts, bank),
                          settle::bind(savings, savings_bank), settle::type<saving_type>};
    std::ignore = engine.create(accounts, {"anna", 100});
    std::ignore = engine.create(savings, {"anna's savings", 0});

    std::cout << engine.run("save-1", transfer{"anna", "anna's savings", 60}) << '\n';
    std::cout << engine.run("save-2", transfer{"anna", "bert's savings", 30}) << '\n';
    std::cout << "anna " << engine.at(accounts, "anna").balance << ", her savings "
              << engine.at(savings, "anna's savings").balance << '\n';
}
