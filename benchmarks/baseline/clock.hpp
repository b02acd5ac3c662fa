// SPDX-License-Identifier: BSL-1.0
// The clock of the programs by hand.
#pragma once

#include <chrono>
#include <cstdint>

namespace baseline {

/// Milliseconds since 1970.
[[nodiscard]] inline std::int64_t now() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

} // namespace baseline
