// SPDX-License-Identifier: BSL-1.0
// How much of a run is done at once.
#pragma once

#include <cstddef>

namespace samples {

/// How many transactions are under way at a time.
struct pace {
    static constexpr std::size_t largest_window = 100'000;
    static constexpr std::size_t most_threads = 64;

    std::size_t window = 0; // on each thread; 0 leaves it to the stores
    std::size_t threads = 1;
};

} // namespace samples
