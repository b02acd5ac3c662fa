// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that worker.hpp declares.
#pragma once

#include <settle/running/calls/conclusion.hpp>
#include <settle/running/calls/new_job.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/calls/worker.hpp>
#include <settle/running/driving/seam_driver.ipp>

SETTLE_BEGIN
namespace detail {

template <typename Rules>
result<std::optional<entry>> seam_context<Rules>::read(transaction_id const& id,
                                                       call_options const& call) const {
    return patience_of(call)([&] { return ports.log.read(id); });
}

template <typename Rules>
typename seam_context<Rules>::driver_type seam_context<Rules>::driver(call_options const& call,
                                                                      bool is_of_caller) const {
    bool const hands_over = is_of_caller && limits.answer == at_commit;
    return driver_type{ports,
                       environment,
                       observer,
                       {limits, owner, call, stuck, how, keeps_at_insert,
                        hands_over ? &finishing.room() : nullptr}};
}
template <typename Rules>
void seam_context<Rules>::finish(job const& committed) const {
    finishing.take(*this, committed);
}

template <typename Context>
outcome worker<Context>::run_new(transaction_id&& id, new_request const& request, goal purpose,
                                 call_options const& call, typed_calls const& typed, bool new_id) {
    auto driver = context_.driver(call, true);
    auto work = new_job(std::move(id), request, purpose, driver, context_.environment);
    work.new_id = new_id;
    return bring_to_end(driver, work, typed);
}

template <typename Context>
outcome worker<Context>::take_over(entry const& stored, new_request const& request,
                                   call_options const& call, typed_calls const& typed,
                                   bool cancels) {
    auto driver = context_.driver(call);
    auto work = taken_job(stored, request, driver.how());
    work.for_caller = true;
    work.take_tries(stored, false);
    if (cancels) {
        work.coordinator =
            coordinator::cancel(work.coordinator.parts(), reason::cancel_asked, work.type->stages);
    }
    return bring_to_end(driver, work, typed);
}

template <typename Context>
unknown_cancel worker<Context>::cancel_unknown(transaction_id const& id, call_options const& call) {
    nothing const no_parameters;
    auto work = make_job<undescribed>(id, no_parameters, coordinator::cancel(0));
    auto driver = context_.driver(call);
    work.created = driver.time();
    execution_state execution;
    driver.drive(work, execution, true, driver_type::template calls_of<undescribed>());
    bool const is_seen = execution.cut == interruption::described;
    auto concluded = is_seen ? outcome{} : conclude_driven(driver, work, execution);
    return {std::move(concluded), is_seen ? std::move(execution.seen) : nullptr, driver.thrown()};
}

template <typename Context>
tombstone worker<Context>::bury(transaction_id const& id, epoch marked, call_options const& call) {
    nothing const no_parameters;
    auto driver = context_.driver(call);
    epoch const first = is_birth(marked) ? marked : fresh_epoch(context_.environment);
    auto work =
        make_job<undescribed>(id, no_parameters, coordinator::begin(0, first, goal::tombstone));
    // A bar may be there, which a plain insert does not replace.
    if (is_birth(marked)) work.coordinator.look_again();
    work.created = driver.time();
    execution_state execution;
    auto const& calls = driver_type::template calls_of<undescribed>();
    auto const cut = driver.drive(work, execution, false, calls);
    if (cut != interruption::none && cut != interruption::described) {
        return {work.problem, false, driver.thrown()};
    }
    if (execution.seen) return {standing_of(*execution.seen), false, driver.thrown()};
    auto const& c = work.coordinator;
    return {standing{c.state(), c.epoch_number(), 0, 0}, true, driver.thrown()};
}

template <typename Context>
outcome worker<Context>::bring_to_end(driver_type& driver, job& work, typed_calls const& typed) {
    execution_state execution;
    driver.drive(work, execution, true, typed);
    if constexpr (requires { context_.finish(work); }) {
        if (execution.cut == interruption::answered) context_.finish(work);
    }
    auto concluded = conclude_driven(driver, work, execution);
    driver.rethrow();
    return concluded;
}

template <typename Context>
outcome worker<Context>::conclude_driven(driver_type& driver, job& work,
                                         execution_state const& execution) {
    return conclude(work, execution,
                    [&](transaction_id const& id) { return context_.read(id, driver.rest()); });
}

} // namespace detail
SETTLE_END
