// SPDX-License-Identifier: BSL-1.0
// The concepts and access functions of std::ranges. <ranges> has them together with its views,
// which the library does not use, and which each program would compile.
#pragma once

#include <settle/version.hpp>

#include <span>

#ifndef __GLIBCXX__
#include <ranges> // GCC's library has them in <span>
#endif
