// SPDX-License-Identifier: BSL-1.0
// The program with a store postgresql://….
#include "bank_program.hpp"

#include <shared/postgresql_store.hpp>

int main(int argc, char** argv) {
    return bank::main_of(samples::postgresql_store<bank::store>, argc, argv);
}
