// SPDX-License-Identifier: BSL-1.0
// The first of two translation units that include everything: what is not inline collides here.
#include <every_header.hpp>

int version_in_the_second_unit();

int main() { return version_in_the_second_unit() == SETTLE_VERSION ? 0 : 1; }
