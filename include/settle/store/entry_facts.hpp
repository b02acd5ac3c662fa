// SPDX-License-Identifier: BSL-1.0
// Facts of a job that a log of rows or documents writes beside the transition.
#pragma once

#include <settle/store/json_writer.hpp>
#include <settle/store/wave.hpp>

SETTLE_BEGIN
namespace detail {

/// A fingerprint as entries show it: 16 hexadecimal digits.
[[nodiscard]] inline std::string hex_of(std::uint64_t number) {
    std::string digits(16, '0');
    for (std::size_t at = 16; at-- > 0; number >>= 4U) {
        digits[at] = hex_digit(static_cast<unsigned>(number & 0xfU));
    }
    return digits;
}

/// The part that failed, if a reason is written now and a single part caused it.
[[nodiscard]] inline part_name failed_part_of(job const& work, reason why) {
    auto const part = work.coordinator.failed_part();
    if (why == reason::none || part == coordinator::no_part) return {};
    return work.name_part(part);
}

/// True if the old images are written now: at the commit, when there are any.
[[nodiscard]] inline bool stores_images(job const& work) {
    auto const& c = work.coordinator;
    return !work.images.empty() &&
           (c.next() == step::commit ||
            (c.next() == step::one_phase && c.insert_state() == state::done));
}

} // namespace detail
SETTLE_END
