// SPDX-License-Identifier: BSL-1.0
// The horizon of a log: how long an engine may need an entry. The log keeps the longest horizon of
// all engines that were built on it.
#pragma once

#include <settle/store/log_port.hpp>

SETTLE_BEGIN
namespace detail {

/// The name of the metadata that holds the horizon, in milliseconds.
inline constexpr std::string_view horizon_metadata = "horizon";

/// Raises the horizon that a log keeps to at least `least`, and returns the horizon that it keeps
/// then. A stored text that is no number is for ever: no entry is then purged.
[[nodiscard]] result<std::chrono::milliseconds> keep_horizon(log_port& log,
                                                             std::chrono::milliseconds least);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/construction/horizon.ipp>
#endif
