// SPDX-License-Identifier: BSL-1.0
// A window and its driver, for calls that run many transactions. Behind the seam the jobs are
// driven by code that is compiled once.
#pragma once

#include <settle/running/calls/worker.hpp>
#include <settle/running/driving/caller_limits.hpp>

#include <vector>

SETTLE_BEGIN
namespace detail {

/// Called with the number of a transaction, its outcome, and why its drive ended early, if it did.
using window_end = function_view<void(std::size_t, outcome&&, interruption)>;

/// Parameters of any direction, as a caller gives them.
struct given_parameters {
    transaction_descriptor const* direction;
    void const* value;
    /// Makes the parameters in a slot; the value may be moved there.
    function_view<void(void*)> put;
};

/// Calls `function(given_parameters)` for parameters, or for a value that converts to them.
template <typename Direction, typename Value, typename Function>
void with_given(Value&& value, Function&& function) {
    using parameters = typename Direction::parameters;
    if constexpr (std::is_same_v<std::remove_cvref_t<Value>, parameters>) {
        auto const put = [&](void* slot) { ::new (slot) parameters(std::forward<Value>(value)); };
        function(given_parameters{&descriptor_of<Direction>, std::addressof(value), put});
    } else {
        parameters converted(std::forward<Value>(value));
        with_given<Direction>(std::move(converted), function);
    }
}

/// The jobs of a window, with their parameters.
/// Shape:   call - outlives the object
template <typename Rules>
class seam_jobs {
public:
    using parameters_type = given_parameters;

    /// Shape:   are_of_callers - of calls that may answer at the commit
    seam_jobs(seam_context<Rules> const& context, call_options const& call, std::size_t room,
              bool are_of_callers = false);
    seam_jobs(seam_jobs const&) = delete;
    seam_jobs& operator=(seam_jobs const&) = delete;
    ~seam_jobs();

    [[nodiscard]] bool empty() const;
    [[nodiscard]] bool full() const;
    [[nodiscard]] std::size_t resting() const; ///< see window
    [[nodiscard]] bool late() const;
    [[nodiscard]] std::exception_ptr const& thrown() const;
    void look_at_clock();
    void rethrow() const;
    /// Gives up transactions that rest before their next calls; the next round ends them.
    void end_resting();
    /// Has waits end when new transactions come; see seam_calls.
    void watch(std::shared_ptr<answer_signal> signal, job_source const& source);

    /// Has stores wait no longer than this from now on.
    void limit(wait_limits const& limits);

    [[nodiscard]] transaction_id fresh_id() const;
    /// The reason why a store of the parameters' direction cannot use an id.
    [[nodiscard]] error fault_of(transaction_id const& id, parameters_type const& parameters) const;
    [[nodiscard]] bool has_fault(parameters_type const& parameters) const;
    [[nodiscard]] outcome refused(transaction_id const& id,
                                  parameters_type const& parameters) const;
    /// Containers alone fetch ahead.
    void expect(transaction_id const&, parameters_type const&) {}

    /// Shape:   number - the caller's, given back when the transaction is over
    void add(transaction_id&& id, parameters_type const& parameters, std::size_t number,
             bool new_id);
    /// Shape:   own - the limits of the caller of this transaction alone
    void add(transaction_id&& id, transaction_descriptor const& direction,
             held_parameters&& parameters, std::size_t number, bool new_id,
             caller_limits const* own);
    void take(entry const& stored, transaction_descriptor const& direction,
              held_parameters&& parameters);
    /// Confirms the parts of a committed transaction, and closes its entry.
    void finish(job&& committed, held_parameters&& parameters);
    /// Runs a transaction whose parameters stay in place.
    void run_alone(transaction_id&& id, parameters_type const& parameters, std::size_t number,
                   bool new_id, window_end ended);
    void round(bool follows, bool looks_first, window_end ended);

private:
    struct held_jobs;
    std::unique_ptr<held_jobs> held_;
};

#ifdef SETTLE_COMPILED
extern template class seam_jobs<order_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/windows.ipp>
#endif
