// SPDX-License-Identifier: BSL-1.0
// How many transactions of a run are in flight at a time.
#pragma once

#include <cstddef>

namespace samples {

struct pace {
    static constexpr std::size_t largest_window = 100'000;
    static constexpr std::size_t most_threads = 64;

    std::size_t window = 0; // for each thread; 0 lets the stores decide
    std::size_t threads = 1;
};

} // namespace samples
