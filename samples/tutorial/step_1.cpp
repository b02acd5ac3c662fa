// SPDX-License-Identifier: BSL-1.0
// Step 1: a transfer.
#include "bank.hpp"

#include <settle/sqlite.hpp>

#include <iostream>
#include <tuple>

int main() {
    settle::sqlite::database db{"step_1.db"};
    settle::engine engine{db, settle::type<transfer_type>};
    std::ignore = engine.create(accounts, {"anna", 100}); // an error if it is there already
    std::ignore = engine.create(accounts, {"bert", 0});

    std::cout << engine.run("rent-may", transfer{"anna", "bert", 70}) << '\n';
    std::cout << engine.run("rent-may", transfer{"anna", "bert", 70}) << '\n'; // the same id
    std::cout << engine.run("rent-june", transfer{"anna", "bert", 70}) << '\n';
    std::cout << engine.run("gift", transfer{"anna", "carl", 10}) << '\n';
    std::cout << "anna " << engine.at(accounts, "anna").balance << ", bert "
              << engine.at(accounts, "bert").balance << '\n';
}
