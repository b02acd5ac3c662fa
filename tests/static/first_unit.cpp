// SPDX-License-Identifier: BSL-1.0
// The first of two translation units that include everything: a definition that is not inline
// collides here, and both units must mean the same object by the same type.
#include "shared_type.hpp"

int main() {
    auto const here = bank::look();
    auto const there = bank::look_from_the_second_unit();
    return here.address == there.address && here.fingerprint == there.fingerprint ? 0 : 1;
}
