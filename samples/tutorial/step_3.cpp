// SPDX-License-Identifier: BSL-1.0
// Step 3: the plug is pulled in the middle of a transfer.
#include "bank.hpp"

#include <settle/sqlite.hpp>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <tuple>

#include <sys/wait.h>
#include <unistd.h>

/// The engine calls this after each step of a transaction.
void pull_the_plug(settle::event const& seen) {
    if (seen.taken == settle::step::apply) std::raise(SIGKILL);
}

void run_until_the_plug_is_pulled() {
    settle::sqlite::database db{"step_3.db"};
    settle::engine engine{db, settle::type<transfer_type>, settle::two_phases,
                          settle::observed_by(pull_the_plug)};
    std::ignore = engine.create(accounts, {"anna", 100});
    std::ignore = engine.create(accounts, {"bert", 0});
    std::ignore = engine.run("rent-may", transfer{"anna", "bert", 70});
}

template <typename Engine>
void show(Engine& engine) {
    std::cout << "rent-may is " << name_of(engine.find("rent-may").value()->state) << ": anna "
              << engine.at(accounts, "anna").balance << ", bert "
              << engine.at(accounts, "bert").balance << ", marks " << engine.marks().value()
              << '\n';
}

int main() {
    std::remove("step_3.db"); // of an earlier run
    pid_t const child = fork();
    if (child == 0) run_until_the_plug_is_pulled();
    waitpid(child, nullptr, 0);

    settle::sqlite::database db{"step_3.db"};
    settle::engine engine{db, settle::type<transfer_type>, settle::two_phases};
    show(engine);
    std::cout << engine.recover().done << " transaction recovered\n";
    show(engine);
}
