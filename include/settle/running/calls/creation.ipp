// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that creation.hpp declares.
#pragma once

#include <settle/running/calls/creation.hpp>
#include <settle/running/driving/deadlines.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

/// "For ever" overflows nanoseconds.
[[nodiscard]] SETTLE_FUNCTION std::chrono::nanoseconds
bounded(std::chrono::milliseconds milliseconds) {
    constexpr std::chrono::milliseconds most = std::chrono::hours{24 * 365};
    return std::clamp(milliseconds, -most, most);
}

SETTLE_FUNCTION creation::creation(pending_records& records, environment_view const& environment,
                                   options const& limits, batch_options const& call_options,
                                   std::size_t wave_size, created_function ended)
    : records_(records), environment_(environment), limits_(limits), options_(call_options),
      ended_(ended), room_(call_options.window) {
    // A wave costs one commit, so large waves pay, even where transactions prefer small waves.
    constexpr std::size_t least = 1000;
    if (room_ == 0) room_ = std::max(least, wave_size);
    if (call_options.deadline) deadline_ = environment_.elapsed() + bounded(*call_options.deadline);
}

SETTLE_FUNCTION void creation::take(std::size_t number, result<void> const& texts,
                                    function_view<void()> put) {
    if (!texts.has_value()) return deliver(number, result<void>{texts});
    put();
    numbers_.push_back(number);
    if (records_.size() >= room_) send();
}

SETTLE_FUNCTION bool creation::ends() {
    if (thrown_ || !report_.problem.empty()) return true;
    if (!options_.stop.stop_requested() && !is_late(deadline_)) return false;
    report_.problem = {make_error_code(errc::stopped),
                       "settle: the deadline or a stop request ended the call before the "
                       "range was read to its end. Call it again with the rest. "
                       "See running#many-at-a-time"};
    return true;
}

SETTLE_FUNCTION void creation::note_exception() {
    if (sending_) throw;
    // The exception concerns later records; the records taken so far are created first.
    if (!thrown_) thrown_ = std::current_exception();
}

SETTLE_FUNCTION create_report creation::finish() {
    send();
    if (thrown_) std::rethrow_exception(thrown_);
    return std::move(report_);
}

SETTLE_FUNCTION bool
creation::is_late(std::optional<std::chrono::nanoseconds> const& deadline) const {
    return deadline && environment_.elapsed() >= *deadline;
}

/// Sends the records taken until the store has answered for each, or the time is over.
SETTLE_FUNCTION void creation::send() {
    sending_ = true;
    bool unsure = false;
    std::uint32_t tries = 0;
    std::optional<std::chrono::nanoseconds> until = deadline_;
    std::vector<result<void>> answers;
    auto const is_over = [&] { return options_.stop.stop_requested() || is_late(until); };
    while (records_.size() > 0) {
        answers.assign(records_.size(), {});
        records_.create(answers);
        if (!until) until = environment_.elapsed() + bounded(limits_.patience);
        unsure = keep_unanswered(answers, unsure, is_over());
        if (records_.size() == 0) break;
        pause(tries++, *until);
        // When the time is over, no record is sent again.
        if (is_over()) static_cast<void>(keep_unanswered(answers, unsure, true));
    }
    sending_ = false;
}

/// Reports the answers, and keeps the records to send again.
/// Shape:   unsure - an earlier try may have created some of the records
/// Returns: true if any try so far may have created records without an answer
SETTLE_FUNCTION bool creation::keep_unanswered(std::vector<result<void>>& answers, bool unsure,
                                               bool over) {
    std::size_t kept = 0;
    bool unknown = unsure;
    for (std::size_t index = 0; index < answers.size(); ++index) {
        auto& answer = answers[index];
        auto const& problem = answer.problem();
        bool const again =
            problem.code == condition::retryable || problem.code == condition::unknown;
        unknown = unknown || problem.code == condition::unknown;
        if (again && !over) {
            if (kept != index) {
                records_.move(index, kept);
                answers[kept] = std::move(answer);
            }
            numbers_[kept++] = numbers_[index];
            continue;
        }
        // The store is unreachable, and would be for later records as well.
        if (again && report_.problem.empty()) report_.problem = problem;
        bool const existing = problem.code == errc::record_exists;
        bool const own = unsure && existing && is_there(index);
        deliver(numbers_[index], own ? result<void>{} : std::move(answer));
    }
    records_.shrink(kept);
    numbers_.resize(kept);
    answers.resize(kept);
    return unknown;
}

SETTLE_FUNCTION bool creation::is_there(std::size_t index) {
    auto const call = rest_of({{}, options_.stop}, deadline_, environment_.elapsed());
    patience patience{environment_, limits_, call};
    return records_.is_there(index, patience);
}

/// Shape:   until - the end of the call's time
SETTLE_FUNCTION void creation::pause(std::uint32_t tries, std::chrono::nanoseconds until) {
    using std::chrono::milliseconds, std::chrono::nanoseconds;
    // Clamped before the conversion to nanoseconds, which "for ever" would overflow.
    auto const longest = std::clamp<std::chrono::microseconds>(
        limits_.longest_pause, milliseconds{1}, std::chrono::hours{1});
    nanoseconds const grown = milliseconds{std::int64_t{1} << std::min(tries, 20U)};
    auto const left = std::max(until - environment_.elapsed(), nanoseconds{0});
    environment_.pause(std::min({grown, nanoseconds{longest}, left}), options_.stop);
}

SETTLE_FUNCTION void creation::deliver(std::size_t number, result<void>&& answer) {
    if (answer.has_value()) ++report_.created;
    else if (answer.problem().code == errc::record_exists) ++report_.existing;
    else report_.refused.push_back({number, answer.problem()});
    // Every record taken is reported before the first exception is rethrown.
    try {
        ended_(number, std::move(answer));
    } catch (...) {
        if (!thrown_) thrown_ = std::current_exception();
    }
}

} // namespace detail
SETTLE_END
