// SPDX-License-Identifier: BSL-1.0
// The one place where doctest's own code is compiled.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
