// SPDX-License-Identifier: BSL-1.0
// A user's program: a transfer in memory, and once more in a database file.
#include "bank.hpp"

#include <settle/memory.hpp>

#include <cstdlib>

int main() {
    settle::memory::database memory;
    return bank::settles(memory) && bank::settles_in_file() ? EXIT_SUCCESS : EXIT_FAILURE;
}
