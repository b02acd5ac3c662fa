// SPDX-License-Identifier: BSL-1.0
// The program with a store mariadb://….
#include "bank_program.hpp"

int main(int argc, char** argv) { return bank::main_of(samples::mariadb_store, argc, argv); }
