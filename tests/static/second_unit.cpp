// SPDX-License-Identifier: BSL-1.0
// The second of two translation units that include everything. The other order of the headers shows
// names of a header that hide names of another.
#include <every_header_reversed.hpp>

#include "shared_type.hpp"

bank::view_of_type bank::look_from_the_second_unit() { return look(); }
