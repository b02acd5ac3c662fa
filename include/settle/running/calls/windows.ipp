// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that windows.hpp declares.
#pragma once

#include <settle/running/calls/ids.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/windows.hpp>
#include <settle/running/calls/worker.ipp>
#include <settle/running/driving/window.hpp>

SETTLE_BEGIN
namespace detail {

/// Why a transaction cannot begin; nothing if it can.
template <typename Rules>
[[nodiscard]] std::optional<outcome>
refusal_of(seam_context<Rules> const& context, transaction_id const& id,
           transaction_descriptor const& direction, void const* parameters,
           std::string_view traceparent) {
    if (!fault_of_id(id).empty()) return refuse(id, check_id(id));
    if (is_wrong_traceparent(traceparent)) return refuse(id, wrong_traceparent(traceparent));
    auto const fault = context.ports.fault_of(id, direction);
    if (!fault.empty()) return refuse(id, fault);
    if (has_fault(direction, parameters)) return refused_before_write(id, direction, parameters);
    return std::nullopt;
}

/// A direction of any type.
struct any_direction {
    using parameters = held_parameters;
};

template <typename Rules>
struct seam_jobs<Rules>::held_jobs {
    held_jobs(seam_context<Rules> const& seam_context, call_options const& call, std::size_t room,
              bool are_of_callers)
        : context(seam_context), driver(seam_context.driver(call, are_of_callers)), jobs(room) {}

    job job_of(transaction_id&& id, transaction_descriptor const& direction, void const* parameters,
               bool new_id) {
        auto work = new_job(std::move(id), request_of(direction, parameters), goal::run, driver,
                            context.environment);
        work.new_id = new_id;
        if (!new_id && driver.looks_first()) work.coordinator.look_again();
        return work;
    }
    void end(std::size_t number, job& work, execution_state const& execution, window_end ended) {
        auto const read = [&](transaction_id const& id) { return context.read(id, driver.rest()); };
        if (execution.cut == interruption::answered) context.finish(work);
        ended(number, conclude(work, execution, read), execution.cut);
    }

    seam_context<Rules> context;
    seam_driver<Rules> driver;
    window<any_direction> jobs;
};

template <typename Rules>
seam_jobs<Rules>::seam_jobs(seam_context<Rules> const& context, call_options const& call,
                            std::size_t room, bool are_of_callers)
    : held_(std::make_unique<held_jobs>(context, call, room, are_of_callers)) {}
template <typename Rules>
seam_jobs<Rules>::~seam_jobs() = default;

template <typename Rules>
bool seam_jobs<Rules>::empty() const {
    return held_->jobs.empty();
}
template <typename Rules>
bool seam_jobs<Rules>::full() const {
    return held_->jobs.full();
}
template <typename Rules>
std::size_t seam_jobs<Rules>::resting() const {
    return held_->jobs.resting();
}
template <typename Rules>
bool seam_jobs<Rules>::late() const {
    return held_->driver.late();
}
template <typename Rules>
std::exception_ptr const& seam_jobs<Rules>::thrown() const {
    return held_->driver.thrown();
}
template <typename Rules>
void seam_jobs<Rules>::look_at_clock() {
    held_->driver.look_at_clock();
}
template <typename Rules>
void seam_jobs<Rules>::rethrow() const {
    held_->driver.rethrow();
}
template <typename Rules>
void seam_jobs<Rules>::limit(wait_limits const& limits) {
    held_->driver.limit(limits);
}

template <typename Rules>
transaction_id seam_jobs<Rules>::fresh_id() const {
    return settle::fresh_id(held_->context.environment);
}
template <typename Rules>
error seam_jobs<Rules>::fault_of(transaction_id const& id,
                                 parameters_type const& parameters) const {
    return held_->context.ports.fault_of(id, *parameters.direction);
}
template <typename Rules>
bool seam_jobs<Rules>::has_fault(parameters_type const& parameters) const {
    return detail::has_fault(*parameters.direction, parameters.value);
}
template <typename Rules>
outcome seam_jobs<Rules>::refused(transaction_id const& id,
                                  parameters_type const& parameters) const {
    return refused_before_write(id, *parameters.direction, parameters.value);
}

template <typename Rules>
void seam_jobs<Rules>::end_resting() {
    held_->jobs.end_resting(held_->driver);
}
template <typename Rules>
void seam_jobs<Rules>::watch(std::shared_ptr<answer_signal> signal, job_source const& source) {
    held_->driver.watch(std::move(signal), source);
}

template <typename Rules>
void seam_jobs<Rules>::add(transaction_id&& id, parameters_type const& parameters,
                           std::size_t number, bool new_id) {
    add(std::move(id), *parameters.direction,
        held_parameters{*parameters.direction, parameters.put}, number, new_id, nullptr);
}
template <typename Rules>
void seam_jobs<Rules>::add(transaction_id&& id, transaction_descriptor const& direction,
                           held_parameters&& parameters, std::size_t number, bool new_id,
                           caller_limits const* own) {
    auto work = held_->job_of(std::move(id), direction, parameters.get(), new_id);
    if (own != nullptr) work.traceparent = own->traceparent;
    held_->jobs.add(std::move(work), std::move(parameters), number, own);
    held_->driver.note_new_job();
}
template <typename Rules>
void seam_jobs<Rules>::take(entry const& stored, transaction_descriptor const& direction,
                            held_parameters&& parameters) {
    auto work = taken_job(stored, request_of(direction, parameters.get()), held_->driver.how());
    auto const& limits = held_->context.limits;
    work.take_tries(stored,
                    is_ahead(stored.modified, held_->context.environment.now(), limits.clocks));
    held_->jobs.add(std::move(work), std::move(parameters), 0);
    held_->driver.note_new_job();
}
template <typename Rules>
void seam_jobs<Rules>::finish(job&& committed, held_parameters&& parameters) {
    held_->jobs.add(std::move(committed), std::move(parameters), 0);
    held_->driver.note_new_job();
}
template <typename Rules>
void seam_jobs<Rules>::run_alone(transaction_id&& id, parameters_type const& parameters,
                                 std::size_t number, bool new_id, window_end ended) {
    auto work = held_->job_of(std::move(id), *parameters.direction, parameters.value, new_id);
    execution_state execution;
    held_->driver.drive(work, execution, true, {});
    held_->end(number, work, execution, ended);
}
template <typename Rules>
void seam_jobs<Rules>::round(bool follows, bool looks_first, window_end ended) {
    if (looks_first) held_->jobs.look_first(held_->driver);
    held_->jobs.round(held_->driver, follows,
                      [&](std::size_t number, job& work, execution_state const& execution) {
                          held_->end(number, work, execution, ended);
                      });
}

} // namespace detail
SETTLE_END
