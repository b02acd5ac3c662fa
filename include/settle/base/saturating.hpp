// SPDX-License-Identifier: BSL-1.0
// Durations and times that saturate instead of overflowing.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/version.hpp>

#include <algorithm>
#include <concepts>
#include <ratio>
#include <utility>

SETTLE_BEGIN

/// Wall-clock time in whole milliseconds.
using timestamp = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

/// A duration that converts from every coarser unit as std::chrono does, but becomes the longest or
/// the shortest duration where std::chrono would overflow: std::chrono::hours::max() is for ever.
/// Shape:   Duration - a std::chrono::duration, which this one can stand in for
template <typename Duration>
class saturating : public Duration {
public:
    constexpr saturating() : Duration{Duration::zero()} {}

    template <std::integral Rep, typename Period>
        requires std::is_convertible_v<std::chrono::duration<Rep, Period>, Duration>
    constexpr saturating(std::chrono::duration<Rep, Period> value) : Duration{converted(value)} {}

private:
    template <typename Rep, typename Period>
    static constexpr Duration converted(std::chrono::duration<Rep, Period> value) {
        using count = typename Duration::rep;
        constexpr count factor = std::ratio_divide<Period, typename Duration::period>::num;
        constexpr count most = Duration::max().count() / factor;
        if (std::cmp_greater(value.count(), most)) return Duration::max();
        if (std::cmp_less(value.count(), -most)) return Duration::min();
        return Duration{static_cast<count>(value.count()) * factor};
    }
};

/// A limit in milliseconds.
using time_limit = saturating<std::chrono::milliseconds>;

namespace detail {

/// The time between two moments, negative if the second is earlier.
[[nodiscard]] constexpr std::chrono::milliseconds time_between(timestamp from, timestamp to) {
    using std::chrono::milliseconds;
    std::int64_t difference = 0;
    bool const overflows = __builtin_sub_overflow(to.time_since_epoch().count(),
                                                  from.time_since_epoch().count(), &difference);
    if (overflows) return from < to ? milliseconds::max() : milliseconds::min();
    return milliseconds{difference};
}

[[nodiscard]] constexpr timestamp later(timestamp than, std::chrono::milliseconds by) {
    std::int64_t sum = 0;
    bool const overflows =
        __builtin_add_overflow(than.time_since_epoch().count(), by.count(), &sum);
    if (overflows) return by.count() > 0 ? timestamp::max() : timestamp::min();
    return timestamp{std::chrono::milliseconds{sum}};
}

[[nodiscard]] constexpr timestamp earlier(timestamp than, std::chrono::milliseconds by) {
    std::int64_t difference = 0;
    bool const overflows =
        __builtin_sub_overflow(than.time_since_epoch().count(), by.count(), &difference);
    if (overflows) return by.count() > 0 ? timestamp::min() : timestamp::max();
    return timestamp{std::chrono::milliseconds{difference}};
}

/// The end of a limit that begins now. A limit of more than a year ends after a year: a longer one
/// could overflow in the clock's own unit.
[[nodiscard]] inline std::chrono::steady_clock::time_point
deadline_after(std::chrono::milliseconds limit) {
    constexpr std::chrono::milliseconds longest = std::chrono::hours{24 * 365};
    return std::chrono::steady_clock::now() + std::min(limit, longest);
}

/// True if a time lies further ahead than clocks may differ: a wrong clock wrote it.
/// Shape:   clocks - options::clocks
[[nodiscard]] constexpr bool is_ahead(timestamp when, timestamp now,
                                      std::chrono::milliseconds clocks) {
    return when > later(now, clocks);
}

/// The age of a time. The age of a time from a wrong clock is unknown, and counts as unlimited.
[[nodiscard]] constexpr std::chrono::milliseconds age_of(timestamp when, timestamp now,
                                                         std::chrono::milliseconds clocks) {
    return is_ahead(when, now, clocks) ? std::chrono::milliseconds::max() : time_between(when, now);
}

} // namespace detail
SETTLE_END
