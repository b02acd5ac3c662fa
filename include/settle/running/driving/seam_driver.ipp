// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that seam_driver.hpp declares.
#pragma once

#include <settle/running/driving/driver.hpp>
#include <settle/running/driving/seam_calls.hpp>
#include <settle/running/driving/seam_driver.hpp>

SETTLE_BEGIN
namespace detail {

template <typename Rules>
struct seam_driver<Rules>::held_driver : driver<seam_calls, any_environment<Rules>, any_observer> {
    using driver<seam_calls, any_environment<Rules>, any_observer>::driver;
};

template <typename Rules>
seam_driver<Rules>::seam_driver(engine_ports const& ports,
                                any_environment<Rules> const& environment, any_observer& observer,
                                driver_settings const& settings)
    : held_(std::make_unique<held_driver>(
          seam_calls{ports, settings.limits.lifetime, settings.call}, environment, observer,
          settings.limits, settings.owner, settings.call, settings.stuck, settings.how,
          settings.keeps_at_insert, settings.finisher)) {}
template <typename Rules>
seam_driver<Rules>::~seam_driver() = default;

template <typename Rules>
phases seam_driver<Rules>::how() const {
    return held_->how();
}
template <typename Rules>
phases seam_driver<Rules>::how_begins(transaction_descriptor const& type) const {
    return held_->how_begins(type);
}
template <typename Rules>
stage_plan seam_driver<Rules>::stages_of(transaction_descriptor const& type) const {
    return held_->stages_of(type);
}
template <typename Rules>
timestamp seam_driver<Rules>::time() const {
    return held_->time();
}
template <typename Rules>
std::string_view seam_driver<Rules>::traceparent() const {
    return held_->traceparent();
}
template <typename Rules>
void seam_driver<Rules>::look_at_clock() {
    held_->look_at_clock();
}
template <typename Rules>
bool seam_driver<Rules>::late() const {
    return held_->late();
}
template <typename Rules>
call_options seam_driver<Rules>::rest() const {
    return held_->rest();
}
template <typename Rules>
std::exception_ptr const& seam_driver<Rules>::thrown() const noexcept {
    return held_->thrown();
}
template <typename Rules>
void seam_driver<Rules>::rethrow() const {
    held_->rethrow();
}
template <typename Rules>
void seam_driver<Rules>::note_new_job() {
    held_->note_new_job();
}
template <typename Rules>
void seam_driver<Rules>::end_resting(job& work, execution_state& execution) {
    held_->end_resting(work, execution);
}
template <typename Rules>
void seam_driver<Rules>::watch(std::shared_ptr<answer_signal> signal, job_source const& source) {
    held_->watch(std::move(signal), source);
}
template <typename Rules>
void seam_driver<Rules>::limit(wait_limits const& limits) {
    held_->limit(limits);
}
template <typename Rules>
bool seam_driver<Rules>::looks_first() const {
    return held_->looks_first();
}
template <typename Rules>
interruption seam_driver<Rules>::drive(job& work, execution_state& execution, bool follows,
                                       typed_calls) {
    return held_->drive(work, execution, follows, {});
}
template <typename Rules>
void seam_driver<Rules>::round(std::span<job> jobs, std::span<execution_state> executions,
                               bool follows, typed_calls) {
    held_->round(jobs, executions, follows, {});
}
template <typename Rules>
void seam_driver<Rules>::advance(job& work, execution_state& execution) {
    held_->advance(work, execution, {});
}
template <typename Rules>
void seam_driver<Rules>::look(std::span<job> jobs, std::span<execution_state> executions) {
    held_->look(jobs, executions);
}

} // namespace detail
SETTLE_END
