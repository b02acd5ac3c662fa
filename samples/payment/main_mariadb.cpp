// SPDX-License-Identifier: BSL-1.0
// The program with a store mariadb://….
#include "shop_program.hpp"

int main(int argc, char** argv) { return shop::main_of(samples::mariadb_store, argc, argv); }
