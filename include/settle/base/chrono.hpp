// SPDX-License-Identifier: BSL-1.0
// Durations and clocks. libstdc++ has a header for them: its <chrono> adds calendars and streams,
// which each user's source would compile as well.
#pragma once

#include <settle/version.hpp>

#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif
