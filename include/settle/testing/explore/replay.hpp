// SPDX-License-Identifier: BSL-1.0
// A run of a search, by its name.
#pragma once

#include <settle/version.hpp>

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// One run of a search, as one that failed names it: performed and told, instead of searched.
struct replay {
    std::string run;

    /// Errors:  throws std::invalid_argument when this is no run
    [[nodiscard]] std::vector<std::uint16_t> moves() const {
        std::vector<std::uint16_t> found;
        char const* at = run.data();
        char const* const end = at + run.size();
        while (at != end) {
            std::uint16_t move = 0;
            auto const [rest, problem] = std::from_chars(at, end, move);
            if (problem != std::errc{} || (rest != end && *rest != '.')) {
                throw std::invalid_argument("settle: '" + run + "' is no run of a search");
            }
            found.push_back(move);
            at = rest == end ? end : rest + 1;
        }
        return found;
    }
};

} // namespace testing
SETTLE_END
