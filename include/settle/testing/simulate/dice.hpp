// SPDX-License-Identifier: BSL-1.0
// Random numbers from a seed, equal on every compiler.
#pragma once

#include <settle/protocol/state.hpp>

#include <chrono>
#include <concepts>

SETTLE_BEGIN
namespace testing {

/// Equal seeds draw equal numbers with every standard library.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(hash_mix(1, seed)) {}

    std::uint64_t draw() {
        state_ += 0x9e3779b97f4a7c15U;
        return hash_mix(0, state_);
    }

    /// Shape:   first, last - both inclusive
    template <std::integral Number>
    Number between(Number first, Number last) {
        auto const count = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
        // The count of all 64-bit values is 0.
        std::uint64_t const drawn = count == 0 ? draw() : draw() % count;
        return static_cast<Number>(static_cast<std::uint64_t>(first) + drawn);
    }

    /// True with a probability of `times` in a million.
    bool in_a_million(std::uint32_t times) { return draw() % 1'000'000 < times; }

    /// A duration up to `longest`; each order of magnitude (power of two) is equally likely.
    std::chrono::nanoseconds up_to(std::chrono::nanoseconds longest) {
        auto const limit = static_cast<std::uint64_t>(longest.count()) >> draw() % 14;
        return std::chrono::nanoseconds{static_cast<std::int64_t>(1 + draw() % (limit + 1))};
    }

private:
    std::uint64_t state_;
};

} // namespace testing
SETTLE_END
