// SPDX-License-Identifier: BSL-1.0
// The program with a store mongodb://….
#include "bank_program.hpp"
#include "tutorial_bank.hpp"

#include <shared/mongodb_store.hpp>

int main(int argc, char** argv) {
    return bank::main_of(samples::mongodb_store<bank::tutorial_bank>, argc, argv);
}
