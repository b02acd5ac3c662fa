// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that operation.hpp declares.
#pragma once

#include <settle/running/calls/ids.hpp>
#include <settle/running/calls/operation.hpp>
#include <settle/running/calls/windows.ipp>

SETTLE_BEGIN

template <typename Rules>
struct basic_operation<Rules>::held_operation {
    held_operation(detail::seam_context<Rules> const& seam_context,
                   detail::gate const& gate_of_engine, transaction_id&& id, bool is_new,
                   transaction_descriptor const& direction, held_parameters&& given,
                   call_options const& limits)
        : context(seam_context), gate(gate_of_engine), call(limits), parameters(std::move(given)),
          driver(context.driver(call, true)),
          work(detail::new_job(std::move(id), detail::request_of(direction, parameters.get()),
                               goal::run, driver, context.environment)) {
        work.new_id = is_new;
        // A round finds something new to look at each time, so it never waits.
        source.is_called = true;
        driver.watch(signal, source);
    }

    [[nodiscard]] bool is_awake() const {
        return !work.resting || detail::seam_calls::is_answered(work) ||
               call.stop.stop_requested() || driver.late();
    }
    void conclude() {
        auto const read = [&](transaction_id const& id) { return context.read(id, driver.rest()); };
        if (execution.cut == interruption::answered) context.finish(work);
        ended = detail::conclude(work, execution, read);
    }

    detail::seam_context<Rules> context;
    detail::gate const& gate;
    call_options call;
    held_parameters parameters;
    std::shared_ptr<detail::answer_signal> signal = std::make_shared<detail::answer_signal>();
    job_source source{};
    detail::seam_driver<Rules> driver;
    job work;
    execution_state execution{};
    std::optional<settle::outcome> ended{};
};

template <typename Rules>
basic_operation<Rules>::basic_operation(detail::seam_context<Rules> const& context,
                                        detail::gate const& gate,
                                        std::optional<transaction_id>&& id,
                                        transaction_descriptor const& direction,
                                        held_parameters&& parameters, call_options const& call) {
    bool const is_new = !id.has_value();
    held_ = std::make_unique<held_operation>(
        context, gate, is_new ? fresh_id(context.environment) : *std::move(id), is_new, direction,
        std::move(parameters), call);
    job const& work = held_->work;
    held_->ended =
        detail::refusal_of(context, work.id, direction, work.parameters, call.traceparent);
    if (!held_->ended && !gate.is_open(call)) held_->ended = gate.refusal(work.id);
}
template <typename Rules>
basic_operation<Rules>::basic_operation(basic_operation&&) noexcept = default;
template <typename Rules>
basic_operation<Rules>& basic_operation<Rules>::operator=(basic_operation&&) noexcept = default;
template <typename Rules>
basic_operation<Rules>::~basic_operation() = default;

template <typename Rules>
transaction_id const& basic_operation<Rules>::id() const {
    return is_over() ? held_->ended->id : held_->work.id; // the outcome has taken it
}
template <typename Rules>
step basic_operation<Rules>::next() const {
    return is_over() ? step::end : held_->work.coordinator.next();
}
template <typename Rules>
bool basic_operation<Rules>::is_over() const {
    return held_->ended.has_value();
}
template <typename Rules>
void basic_operation<Rules>::advance() {
    if (is_over()) return;
    if (!held_->gate.is_here()) {
        held_->ended = held_->gate.refusal(id());
        return;
    }
    held_->driver.advance(held_->work, held_->execution);
    if (!held_->execution.over) return;
    held_->conclude();
    held_->driver.rethrow();
}
template <typename Rules>
std::optional<std::chrono::nanoseconds> basic_operation<Rules>::rest() const {
    using std::chrono::nanoseconds;
    if (is_over() || held_->is_awake()) return nanoseconds{0};
    bool const waits = held_->work.waiting != nullptr;
    if (waits) return held_->driver.rest().deadline;
    auto const wakes = held_->execution.wakes - held_->context.environment.elapsed();
    return std::max(wakes, nanoseconds{0});
}
template <typename Rules>
void basic_operation<Rules>::wait() {
    auto const length = rest();
    if (length && length->count() == 0) return;
    if (held_->work.waiting == nullptr) {
        return held_->context.environment.pause(*length, held_->call.stop);
    }
    using moment = detail::answer_signal::moment;
    std::optional<moment> until;
    auto const now = std::chrono::steady_clock::now();
    if (length && *length < moment::max() - now) until = now + *length;
    // The answer to one of several calls ends no rest.
    do held_->signal->clear();
    while (!held_->is_awake() && held_->signal->wait(1, until, held_->call.stop));
}
template <typename Rules>
outcome const& basic_operation<Rules>::outcome() const {
    return *held_->ended;
}

SETTLE_END
