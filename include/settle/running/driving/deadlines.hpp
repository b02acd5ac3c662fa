// SPDX-License-Identifier: BSL-1.0
// The ends of calls on a monotonic clock.
#pragma once

#include <settle/running/construction/options.hpp>
#include <settle/store/caller_wait.hpp>

SETTLE_BEGIN
namespace detail {

/// `from` plus `wait`, or the last point in time if "for ever" would overflow nanoseconds.
[[nodiscard]] std::chrono::nanoseconds later_than(std::chrono::nanoseconds from,
                                                  std::chrono::milliseconds wait);

/// The limits of a call for what takes real time.
[[nodiscard]] wait_limits limits_of(call_options const& call);

/// The limits of a call from now on. Its deadline stays above 0, since the call has begun.
/// Shape:   end - of the call's deadline, if it has one
[[nodiscard]] call_options rest_of(call_options const& call,
                                   std::optional<std::chrono::nanoseconds> const& end,
                                   std::chrono::nanoseconds now);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/deadlines.ipp>
#endif
