// SPDX-License-Identifier: BSL-1.0
// The concepts and access functions of std::ranges. <ranges> has them together with its views,
// which take the compiler as long as all that the library defines for a transaction type.
#pragma once

#include <settle/version.hpp>

#include <span>

#ifndef __GLIBCXX__
#include <ranges> // GCC's library has them in <span>
#endif
