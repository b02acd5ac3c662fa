// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that batch.hpp declares.
#pragma once

#include <settle/running/calls/batch.hpp>
#include <settle/running/calls/ids.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/windows.ipp>

SETTLE_BEGIN
namespace detail {

template <typename Window, typename Ended>
template <typename Given>
void batch<Window, Ended>::take(transaction_id&& id, bool has_id, Given&& parameters,
                                std::size_t number) {
    if (has_id) {
        if (!fault_of_id(id).empty()) return deliver(number, refuse(id, check_id(id)));
        auto const long_id = window_.fault_of(id, parameters);
        if (!long_id.empty()) return deliver(number, refuse(id, long_id));
    } else {
        id = window_.fresh_id();
    }
    if (window_.has_fault(parameters)) return deliver(number, window_.refused(id, parameters));
    window_.expect(id, parameters);
    // The range may have been slow to give the element.
    window_.look_at_clock();
    if (room_ == 1) return run_alone(std::move(id), parameters, number, !has_id);
    window_.add(std::move(id), std::forward<Given>(parameters), number, !has_id);
    while (window_.full()) round();
}

/// A window of one transaction has no order to keep, so its element stays in place.
template <typename Window, typename Ended>
void batch<Window, Ended>::run_alone(transaction_id&& id,
                                     typename Window::parameters_type const& parameters,
                                     std::size_t number, bool new_id) {
    driving_ = true;
    window_.run_alone(std::move(id), parameters, number, new_id,
                      [&](std::size_t over, outcome&& concluded, interruption cut) {
                          end(over, std::move(concluded), cut);
                      });
    driving_ = false;
}

template <typename Window, typename Ended>
bool batch<Window, Ended>::ends() const {
    bool const out_of_time = call_.stop.stop_requested() || window_.late();
    return thrown_ || window_.thrown() || out_of_time || !unreachable_.empty();
}

template <typename Window, typename Ended>
void batch<Window, Ended>::report_stop(batch_report& report) const {
    if (report.not_taken == std::size_t{0}) return;
    report.problem = unreachable_;
    if (!report.problem.empty()) return;
    std::string text = "settle: a deadline or a stop request ended the batch after its first " +
                       std::to_string(report.taken) + " elements; ";
    if (report.not_taken) text += std::to_string(*report.not_taken) + " were not taken";
    else text += "the rest was not taken";
    report.problem = {make_error_code(errc::stopped),
                      text + ". Run the rest in another call. See running#many-at-a-time"};
}

template <typename Window, typename Ended>
void batch<Window, Ended>::note_exception() {
    if (driving_) throw;
    // The exception concerns later elements; transactions under way settle first.
    store_exception(std::current_exception());
}

template <typename Window, typename Ended>
void batch<Window, Ended>::finish() {
    while (!window_.empty()) round();
    if (thrown_) std::rethrow_exception(thrown_);
}

template <typename Window, typename Ended>
void batch<Window, Ended>::end(std::size_t number, outcome&& concluded, interruption cut) {
    note_unreachable(concluded, cut);
    deliver(number, std::move(concluded));
}

/// Notes that a store or a service was unreachable for options::patience.
template <typename Window, typename Ended>
void batch<Window, Ended>::note_unreachable(outcome const& concluded, interruption cut) {
    if (cut != interruption::stopped || !unreachable_.empty()) return;
    std::error_code const code = concluded.problem.code;
    bool const is_of_store = code == condition::retryable || code == condition::unknown;
    if (is_of_store && code != errc::stopped && !ends()) unreachable_ = concluded.problem;
}

template <typename Window, typename Ended>
void batch<Window, Ended>::round() {
    driving_ = true;
    bool const is_first = !std::exchange(looked_, true);
    window_.round(true, is_first, [&](std::size_t number, outcome&& concluded, interruption cut) {
        end(number, std::move(concluded), cut);
    });
    driving_ = false;
}

/// Reports an outcome. finish() rethrows the first exception when each element taken has one.
template <typename Window, typename Ended>
void batch<Window, Ended>::deliver(std::size_t number, outcome&& concluded) {
    store_exception(window_.thrown());
    try {
        ended_(number, std::move(concluded));
    } catch (...) {
        store_exception(std::current_exception());
    }
}

template <typename Window, typename Ended>
void batch<Window, Ended>::store_exception(std::exception_ptr const& thrown) {
    if (!thrown_) thrown_ = thrown;
}

} // namespace detail
SETTLE_END
