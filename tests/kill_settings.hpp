// SPDX-License-Identifier: BSL-1.0
// How often a test kills, and its chances, from the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace testing {

/// A seed from SETTLE_SEED, so that a failing run can be repeated, or from the random device.
inline std::uint64_t seed() {
    char const* const given = std::getenv("SETTLE_SEED");
    return given != nullptr && *given != '\0' ? std::strtoull(given, nullptr, 10)
                                              : std::random_device{}();
}

/// A number from the environment variable of that name.
inline std::size_t setting(char const* name, std::size_t otherwise) {
    char const* const given = std::getenv(name);
    return given != nullptr && *given != '\0' ? std::strtoull(given, nullptr, 10) : otherwise;
}

/// The number of kills of a long case, from SETTLE_KILLS (tests/run.sh --kills).
inline std::size_t kills(std::size_t otherwise) { return setting("SETTLE_KILLS", otherwise); }

} // namespace testing
