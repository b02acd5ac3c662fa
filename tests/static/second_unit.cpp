// SPDX-License-Identifier: BSL-1.0
// The second of two translation units that include everything.
#include <every_header.hpp>

int version_in_the_second_unit();

int version_in_the_second_unit() { return SETTLE_VERSION; }
