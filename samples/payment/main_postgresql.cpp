// SPDX-License-Identifier: BSL-1.0
// The program with a store postgresql://….
#include "shop_program.hpp"

int main(int argc, char** argv) { return shop::main_of(samples::postgresql_store, argc, argv); }
