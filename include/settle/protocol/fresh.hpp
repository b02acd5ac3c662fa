// SPDX-License-Identifier: BSL-1.0
// New epochs and ids, drawn from the clock and the entropy of an environment.
#pragma once

#include <settle/base/saturating.hpp>
#include <settle/protocol/state.hpp>

#include <string_view>

SETTLE_BEGIN

namespace detail {

/// 2025-01-01T00:00:00Z, the origin of the milliseconds in epochs and generated ids.
inline constexpr std::int64_t first_millisecond = 1735689600000;

[[nodiscard]] inline std::uint64_t milliseconds_since_2025(timestamp now) {
    std::int64_t const count = now.time_since_epoch().count();
    return count > first_millisecond ? static_cast<std::uint64_t>(count - first_millisecond) : 1;
}

} // namespace detail

/// An epoch unique to one insert: 42 bits of milliseconds and 11 random bits, below 2⁵³.
/// Shape:   now - the time of the insert, as the driver read its clock
template <typename Environment>
[[nodiscard]] epoch fresh_epoch(Environment const& environment, timestamp now) {
    std::uint64_t const time = detail::milliseconds_since_2025(now);
    return (time * epochs_per_millisecond + environment.random() % epochs_per_millisecond) %
           epoch_limit;
}

template <typename Environment>
[[nodiscard]] epoch fresh_epoch(Environment const& environment) {
    return fresh_epoch(environment, environment.now());
}

/// The birth of a call: 31 bits of seconds and 31 random bits.
/// Shape:   now - as for fresh_epoch()
template <typename Environment>
[[nodiscard]] epoch fresh_birth(Environment const& environment, timestamp now) {
    std::uint64_t const second = detail::milliseconds_since_2025(now) / 1000;
    return least_birth +
           (second * births_per_second + environment.random() % births_per_second) % least_birth;
}

/// The time of the insert whose epoch a claim has raised.
[[nodiscard]] inline timestamp time_of_epoch(epoch number) {
    return timestamp{std::chrono::milliseconds{
        static_cast<std::int64_t>(number / epochs_per_millisecond) + detail::first_millisecond}};
}

/// The time at which the call or the insert behind a mark began.
[[nodiscard]] inline timestamp time_of_mark(epoch number) {
    if (!is_birth(number)) return time_of_epoch(number);
    auto const seconds = static_cast<std::int64_t>((number - least_birth) / births_per_second);
    return timestamp{std::chrono::milliseconds{seconds * 1000 + detail::first_millisecond}};
}

/// A generated id: 15 characters that sort by time, so that a store appends and the string fits the
/// small-string buffer.
template <typename Environment>
[[nodiscard]] transaction_id fresh_id(Environment const& environment) {
    constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
    std::uint64_t time = detail::milliseconds_since_2025(environment.now());
    std::uint64_t chance = environment.random();
    transaction_id id(15, '0');
    for (std::size_t i = 9; i-- > 0; time >>= 5U) id[i] = digits[time & 31U];
    for (std::size_t i = 15; i-- > 9; chance >>= 5U) id[i] = digits[chance & 31U];
    return id;
}

SETTLE_END
