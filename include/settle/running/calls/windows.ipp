// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that windows.hpp declares.
#pragma once

#include <settle/running/calls/windows.hpp>
#include <settle/running/calls/worker.ipp>
#include <settle/running/driving/window.hpp>

SETTLE_BEGIN
namespace detail {

/// A direction of any type, whose parameters are elsewhere.
struct any_direction {
    using parameters = void const*;
};

template <typename Rules>
struct seam_jobs<Rules>::held_jobs {
    held_jobs(seam_context<Rules> const& given, call_options const& call, std::size_t room)
        : context(given), driver(given.driver(call)), jobs(room) {}

    job job_of(transaction_id&& id, new_request const& request, bool new_id) {
        auto work = new_job(std::move(id), request, goal::run, driver, context.environment);
        work.new_id = new_id;
        if (!new_id && driver.looks_first()) work.coordinator.look_again();
        return work;
    }
    void end(std::size_t number, job& work, execution_state const& execution, window_end ended) {
        auto const read = [&](transaction_id const& id) { return context.read(id, driver.rest()); };
        ended(number, conclude(work, execution, read), execution.cut);
    }

    seam_context<Rules> context;
    seam_driver<Rules> driver;
    window<any_direction> jobs;
};

template <typename Rules>
seam_jobs<Rules>::seam_jobs(seam_context<Rules> const& context, call_options const& call,
                            std::size_t room)
    : held_(std::make_unique<held_jobs>(context, call, room)) {}
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
void seam_jobs<Rules>::add(transaction_id&& id, new_request const& request, std::size_t number,
                           bool new_id) {
    held_->jobs.add(held_->job_of(std::move(id), request, new_id), request.parameters, number);
}
template <typename Rules>
void seam_jobs<Rules>::take(entry const& stored, new_request const& request, std::size_t number) {
    held_->jobs.add(taken_job(stored, request, held_->driver.how()), request.parameters, number);
}
template <typename Rules>
void seam_jobs<Rules>::run_alone(transaction_id&& id, new_request const& request, bool new_id,
                                 std::size_t number, window_end ended) {
    auto work = held_->job_of(std::move(id), request, new_id);
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
