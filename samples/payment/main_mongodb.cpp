// SPDX-License-Identifier: BSL-1.0
// The program with a store mongodb://….
#include "shop_program.hpp"
#include "tutorial_shop.hpp"

#include <shared/mongodb_store.hpp>

int main(int argc, char** argv) {
    return shop::main_of(samples::mongodb_store<shop::tutorial_shop>, argc, argv);
}
