// SPDX-License-Identifier: BSL-1.0
// A stranger's program: for now it asks which settle it found.
#include <settle/version.hpp>

int main() { return SETTLE_VERSION >= 100 ? 0 : 1; }
