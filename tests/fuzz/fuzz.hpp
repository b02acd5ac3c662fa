// SPDX-License-Identifier: BSL-1.0
// Shared by the fuzz targets: an input cut into lines, and a check that reports a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace fuzz {

/// Stops the process, so that the input is kept as a finding.
inline void verify(bool holds, std::string_view what) {
    if (holds) return;
    std::cerr << "settle: a check of a fuzz target failed: " << what << '\n';
    std::abort();
}

/// Takes the input line by line; further lines are empty.
class lines {
public:
    lines(std::uint8_t const* data, std::size_t size)
        : rest_(reinterpret_cast<char const*>(data), size) {}

    std::string_view next() {
        auto const end = rest_.find('\n');
        auto const line = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        return line;
    }

private:
    std::string_view rest_;
};

} // namespace fuzz
