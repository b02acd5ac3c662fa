// SPDX-License-Identifier: BSL-1.0
// The name of one run of a search.
#pragma once

#include <settle/version.hpp>

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// A run's name, as a failed search prints it. With it, a search repeats and shows that run only.
struct replay {
    std::string run;

    /// Errors:  throws std::invalid_argument when the name is malformed
    [[nodiscard]] std::vector<std::uint16_t> moves() const {
        std::vector<std::uint16_t> moves;
        char const* position = run.data();
        char const* const end = position + run.size();
        while (position != end) {
            std::uint16_t move = 0;
            auto const [rest, problem] = std::from_chars(position, end, move);
            if (problem != std::errc{} || (rest != end && *rest != '.')) {
                throw std::invalid_argument("settle: '" + run + "' is no run of a search");
            }
            moves.push_back(move);
            position = rest == end ? end : rest + 1;
        }
        return moves;
    }
};

} // namespace testing
SETTLE_END
