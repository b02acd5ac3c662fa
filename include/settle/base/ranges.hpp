// SPDX-License-Identifier: BSL-1.0
// The concepts and access functions of std::ranges. <ranges> has them together with its views,
// which take the compiler as long as all that the library defines for a transaction type.
#pragma once

#include <span>

#if !defined(__GLIBCXX__) && !defined(_LIBCPP_VERSION)
#include <ranges> // these two have them in <span>
#endif
