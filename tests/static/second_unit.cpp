// SPDX-License-Identifier: BSL-1.0
// The second of two translation units that include everything.
#include "shared_type.hpp"

bank::view_of_type bank::look_from_the_second_unit() { return look(); }
