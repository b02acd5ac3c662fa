// SPDX-License-Identifier: BSL-1.0
// The one place where doctest's own code is compiled.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

int main(int count, char** words) {
    // MongoDB's driver gives each process a file in shared memory when it is loaded. Programs that
    // the tests kill would leave theirs, and a later one of the same number would complain of that
    // before its own first word.
    ::setenv("MONGOC_DISABLE_SHM", "1", 1);
    return doctest::Context{count, words}.run();
}
