// SPDX-License-Identifier: BSL-1.0
// When the wait for a job ends although its outcome is not known: a stop request, a deadline, or
// the patience of the engine.
#pragma once

#include <settle/running/calls/refusals.hpp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/running/driving/execution_state.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   limits, call - outlive the object
template <typename Environment>
class wait_ends {
public:
    wait_ends(Environment const& environment, options const& limits, call_options const& call)
        : environment_(environment), limits_(limits), call_(call) {
        if (call.deadline) deadline_ = later_than(environment.elapsed(), *call.deadline);
    }

    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return environment_.elapsed(); }
    [[nodiscard]] std::stop_token const& stop() const noexcept { return call_.stop; }

    /// True if the caller's own deadline has passed.
    [[nodiscard]] bool late() const { return deadline_ && environment_.elapsed() >= *deadline_; }
    /// The limits of the call from now on.
    [[nodiscard]] call_options rest() const {
        return rest_of(call_, deadline_, environment_.elapsed());
    }

    /// True if the caller of a job asks to stop.
    [[nodiscard]] bool stops(execution_state const& execution) const {
        return call_.stop.stop_requested() ||
               (execution.own != nullptr && execution.own->stop.stop_requested());
    }
    /// When the deadline of a job's caller is, if there is one.
    [[nodiscard]] std::optional<std::chrono::nanoseconds>
    end_of(execution_state const& execution) const {
        return execution.own != nullptr ? execution.own->deadline : deadline_;
    }
    [[nodiscard]] bool is_late(execution_state const& execution) const {
        return end_of(execution) && environment_.elapsed() >= *end_of(execution);
    }
    /// True if a job has a caller of its own, who waits no longer.
    [[nodiscard]] bool is_over(execution_state const& execution) const {
        return execution.own != nullptr && (stops(execution) || is_late(execution));
    }

    /// When a job that rests is given up: without a deadline, the patience counts from its first
    /// rest.
    [[nodiscard]] std::chrono::nanoseconds end_of_rests(job const& work,
                                                        execution_state& execution) const {
        if (auto const end = end_of(execution)) return *end;
        if (!execution.first_rest) execution.first_rest = environment_.elapsed();
        return later_than(*execution.first_rest,
                          calls_next(work) ? limits_.call_patience : limits_.patience);
    }
    /// Why a job is given up, which rests or would rest; empty if it is not.
    [[nodiscard]] error why_over(job const& work, execution_state& execution) const {
        bool const is_last = environment_.elapsed() >= end_of_rests(work, execution);
        if (stops(execution)) return ended_waiting("a stop request");
        return is_last ? ended_waiting(limit_of(work, execution)) : error{};
    }
    /// What ends the rests of a job.
    [[nodiscard]] std::string limit_of(job const& work, execution_state const& execution) const {
        if (end_of(execution)) return "the call's deadline";
        return calls_next(work) ? "options::call_patience" : "options::patience";
    }

private:
    Environment const& environment_;
    options const& limits_;
    call_options const& call_;
    std::optional<std::chrono::nanoseconds> deadline_{};
};

} // namespace detail
SETTLE_END
