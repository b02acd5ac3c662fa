// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that patience.hpp declares.
#pragma once

#include <settle/running/calls/patience.hpp>
#include <settle/running/driving/retries.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION patience::patience(environment_view const& environment, options const& limits,
                                   call_options const& call)
    : environment_(environment), limits_(limits), call_(call) {
    limits_of_waves_ = limits_of(call);
    if (call.deadline) deadline_ = later_than(environment.elapsed(), *call.deadline);
}

SETTLE_FUNCTION call_options patience::rest() const {
    return rest_of(call_, deadline_, environment_.elapsed());
}

SETTLE_FUNCTION bool patience::may_repeat(std::error_code const& code, bool if_unknown) {
    if (if_unknown && code == condition::unknown) return true;
    bool const is_temporary = code == condition::retryable || code == condition::conflict;
    return is_temporary && !(code == errc::stopped);
}

SETTLE_FUNCTION bool patience::pause() {
    auto const elapsed = environment_.elapsed();
    if (!until_) until_ = deadline_ ? *deadline_ : later_than(elapsed, limits_.patience);
    if (elapsed >= *until_ || call_.stop.stop_requested()) return false;
    pauses const chosen{limits_.first_pause, limits_.longest_pause};
    auto const next = chosen.after(tries_++, environment_.random());
    environment_.pause(std::min(next, *until_ - elapsed), call_.stop);
    return !call_.stop.stop_requested();
}

} // namespace detail
SETTLE_END
