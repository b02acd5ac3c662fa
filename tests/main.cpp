// SPDX-License-Identifier: BSL-1.0
// The file that compiles doctest's own code.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

int main(int count, char** arguments) {
    // MongoDB's driver gives each process a file in shared memory when it is loaded. A killed
    // program would leave its file, and a later process with the same number would complain about
    // it first.
    ::setenv("MONGOC_DISABLE_SHM", "1", 1);
    return doctest::Context{count, arguments}.run();
}
