// SPDX-License-Identifier: BSL-1.0
// Repeats calls of a log or a store that are made outside of transactions.
#pragma once

#include <settle/running/driving/retries.hpp>

SETTLE_BEGIN
namespace detail {

/// True if a call took no effect and may be made again.
[[nodiscard]] inline bool may_repeat(std::error_code const& code) {
    bool const is_temporary = code == condition::retryable || code == condition::conflict;
    return is_temporary && !(code == errc::stopped);
}

/// The time that a call of the engine has for repetitions: until its deadline or a stop request, or
/// else options::patience, counted from the first pause after the last success.
/// Shape:   call - outlives the object
/// Cost:    a call that succeeds at once reads no clock, unless it has a deadline
template <typename Environment>
class patience {
public:
    patience(Environment const& environment, options const& limits, call_options const& call)
        : environment_(environment), limits_(limits), call_(call) {
        if (call.deadline) deadline_ = later_than(environment.elapsed(), *call.deadline);
    }

    /// Calls `function()` again while its error is temporary. Nothing of a failed call is used, so
    /// no row is seen twice.
    /// Shape:   function - gives a result; it only reads, or it may take effect twice
    /// Returns: the last result
    template <typename Function>
    auto operator()(Function&& function) {
        return repeat(function, [](std::error_code const& code) {
            return may_repeat(code) || code == condition::unknown;
        });
    }
    /// As above for a function that must not take effect twice.
    template <typename Function>
    auto if_without_effect(Function&& function) {
        return repeat(function, may_repeat);
    }

    /// The limits of the call from now on.
    [[nodiscard]] call_options rest() const {
        return rest_of(call_, deadline_, environment_.elapsed());
    }

    /// Waits before the next try. False if the time is over.
    [[gnu::cold, gnu::noinline]] bool pause() {
        auto const elapsed = environment_.elapsed();
        if (!until_) until_ = deadline_ ? *deadline_ : later_than(elapsed, limits_.patience);
        if (elapsed >= *until_ || call_.stop.stop_requested()) return false;
        pauses const chosen{limits_.first_pause, limits_.longest_pause};
        auto const next = chosen.after(tries_++, environment_.random());
        environment_.pause(std::min(next, *until_ - elapsed), call_.stop);
        return !call_.stop.stop_requested();
    }

private:
    template <typename Function, typename Again>
    auto repeat(Function& function, Again&& again) {
        for (;;) {
            auto answer = function();
            if (answer.has_value()) {
                tries_ = 0;
                until_.reset();
                return answer;
            }
            if (!again(answer.problem().code) || !pause()) return answer;
        }
    }

    Environment const& environment_;
    options const& limits_;
    call_options const& call_;
    std::optional<std::chrono::nanoseconds> deadline_;
    std::optional<std::chrono::nanoseconds> until_;
    std::uint32_t tries_ = 0;
};

} // namespace detail
SETTLE_END
