// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that store_waves.hpp declares.
#pragma once

#include <settle/running/calls/refusals.hpp>
#include <settle/running/driving/store_waves.hpp>

#include <cstdio>
#include <cstdlib>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION void stop_without_answer() {
    std::fputs("settle: a store gave no answer to a part; this is a fault of the store. "
               "Report it.\n",
               stderr);
    std::abort();
}

SETTLE_FUNCTION void store_wave::clear() {
    requests.clear();
    results.clear();
    parts.clear();
    own_.clear();
}

SETTLE_FUNCTION void store_wave::add(part_request const& request, job& work, std::size_t number) {
    requests.push_back(request);
    parts.emplace_back(&work, number);
}

SETTLE_FUNCTION std::size_t store_wave::count_jobs() const {
    std::size_t count = 0;
    job const* last = nullptr;
    for (auto const& [work, number] : parts) {
        if (std::exchange(last, work) != work) ++count;
    }
    return count;
}

SETTLE_FUNCTION void store_wave::own() {
    own_.reserve(count_jobs()); // requests point into it
    job const* last = nullptr;
    for (std::size_t index = 0; index < requests.size(); ++index) {
        part_request& request = requests[index];
        job const* const work = parts[index].first;
        if (std::exchange(last, work) != work) {
            auto const put = [&](void* slot) { work->type->copy(slot, work->parameters); };
            own_.push_back({work->id, held_parameters{*work->type, put}, work->results});
        }
        own_job const& kept = own_.back();
        request.id = &kept.id;
        request.parameters = kept.parameters.get();
        if (request.results != nullptr) request.results = &kept.results;
        request.limits = nullptr;
        request.traceparent = {};
    }
}

SETTLE_FUNCTION void store_wave::deliver() const {
    for (std::size_t index = 0; index < requests.size(); ++index) {
        auto const& [work, number] = parts[index];
        if (results[index].what == answer::none) stop_without_answer();
        work->take(number, requests[index].part, *requests[index].descriptor, results[index]);
    }
}

SETTLE_FUNCTION wait_limits store_wave::limits() {
    source_ = std::stop_source{};
    wait_limits limits;
    limits.stop = source_.get_token();
    auto const* const told = caller_wait::limits();
    if (told == nullptr) return limits;
    limits.deadline = told->deadline;
    if (told->stop.stop_possible()) on_stop_.emplace(told->stop, stop_source{source_});
    return limits;
}

SETTLE_FUNCTION void store_wave::end() {
    ended_ = std::chrono::steady_clock::now();
    is_over_ = true;
}

SETTLE_FUNCTION bool left_parts::is_answered() const noexcept {
    return !problem_.empty() || wave_->is_over();
}

SETTLE_FUNCTION bool left_parts::go_on(std::span<part_request const>,
                                       std::span<part_result> results, started_parts&) {
    if (!is_answered()) return true;
    for (std::size_t number = 0; number < indexes_.size(); ++number) {
        if (problem_.empty()) results[number] = wave_->results[indexes_[number]];
        else results[number].fail(answer::unknown, problem_);
    }
    return false;
}

SETTLE_FUNCTION void left_parts::give_up(std::string_view limit) {
    if (!wave_->is_over()) problem_ = ended_waiting(std::string{limit});
}

SETTLE_FUNCTION waiting_parts::parts_of_store& waiting_parts::of(std::size_t store) {
    for (parts_of_store& known : stores) {
        if (known.store == store) return known;
    }
    return stores.emplace_back(parts_of_store{store});
}

SETTLE_FUNCTION bool waiting_parts::is_answered() const {
    if (behind != nullptr) return behind->is_over();
    return std::all_of(stores.begin(), stores.end(), [](parts_of_store const& parts) {
        return parts.under_way == nullptr || parts.under_way->is_answered();
    });
}

SETTLE_FUNCTION void waiting_parts::give_up(std::string_view limit) const {
    for (parts_of_store const& parts : stores) {
        if (parts.under_way != nullptr) parts.under_way->give_up(limit);
    }
}

} // namespace detail
SETTLE_END
