// SPDX-License-Identifier: BSL-1.0
// Repeats calls of a log or a store that are made outside of transactions.
#pragma once

#include <settle/base/error.hpp>
#include <settle/running/construction/any_environment.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/store/caller_wait.hpp>

SETTLE_BEGIN
namespace detail {

/// The time that a call of the engine has for repetitions: until its deadline or a stop request, or
/// else options::patience, counted from the first pause after the last success.
/// Shape:   environment, limits, call - outlive the object
/// Cost:    a call that succeeds at once reads no clock, unless it has a deadline
class patience {
public:
    patience(environment_view const& environment, options const& limits, call_options const& call);

    /// Calls `function()` again while its error is temporary. Nothing of a failed call is used, so
    /// no row is seen twice.
    /// Shape:   function - gives a result; it only reads, or it may take effect twice
    /// Returns: the last result
    template <typename Function>
    auto operator()(Function&& function) {
        return repeat(function, true);
    }
    /// As above for a function that must not take effect twice.
    template <typename Function>
    auto if_without_effect(Function&& function) {
        return repeat(function, false);
    }

    /// The limits of the call from now on.
    [[nodiscard]] call_options rest() const;

    /// Waits before the next try. False if the time is over.
    [[nodiscard]] bool pause();

private:
    template <typename Function>
    auto repeat(Function& function, bool if_unknown) {
        caller_wait const within{limits_of_waves_};
        for (;;) {
            auto answer = function();
            if (answer.has_value()) begin_anew();
            if (answer.has_value() || !may_repeat(answer.problem().code, if_unknown) || !pause()) {
                return answer;
            }
        }
    }
    void begin_anew() {
        tries_ = 0;
        until_.reset();
    }
    /// True if a call with this error may be made again.
    /// Shape:   if_unknown - also if it may have taken effect
    [[nodiscard]] static bool may_repeat(std::error_code const& code, bool if_unknown);

    environment_view environment_;
    options const& limits_;
    call_options const& call_;
    std::optional<std::chrono::nanoseconds> deadline_;
    std::optional<std::chrono::nanoseconds> until_;
    wait_limits limits_of_waves_;
    std::uint32_t tries_ = 0;
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/patience.ipp>
#endif
