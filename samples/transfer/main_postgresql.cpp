// SPDX-License-Identifier: BSL-1.0
// The program with a store postgresql://….
#include "bank_program.hpp"

int main(int argc, char** argv) { return bank::main_of(samples::postgresql_store, argc, argv); }
