// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that one_phase.hpp declares.
#pragma once

#include <settle/running/driving/one_phase.hpp>

#include <cstdio>
#include <cstdlib>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION bool one_phase_order::must_wait(one_phase_request const& request, job const& work) {
    decided const current{request.index, &request, &work};
    if (decided_.empty() || decided_.back().index != current.index) {
        look_at_earlier(current);
        decided_.push_back(current);
    } else {
        look_again_before(current.index);
    }
    if (unsettled_.empty()) return false;
    auto const earlier = [&](std::size_t number) { return number < current.index; };
    one_phase_hashes(work, records_);
    return std::any_of(records_.begin(), records_.end(), [&](std::uint64_t record) {
        return unsettled_.find(record, earlier) != nullptr;
    });
}

SETTLE_FUNCTION bool one_phase_order::has_settled(decided const& one) {
    log_answer const reply = one.request->result.reply;
    return (reply == log_answer::ended && !one.work->new_id) || reply == log_answer::taken;
}

SETTLE_FUNCTION void one_phase_order::look_at_earlier(decided const& current) {
    if (decided_.empty()) return;
    if (decided_.back().index < current.index) {
        if (!has_settled(decided_.back())) hold_back_later(decided_.back());
        return;
    }
    look_again_before(decided_.back().index + 1);
    decided_.clear();
}

SETTLE_FUNCTION void one_phase_order::look_again_before(std::size_t index) {
    for (decided const& one : decided_) {
        if (one.index < index && is_unsettled(one)) hold_back_later(one);
    }
}

SETTLE_FUNCTION bool one_phase_order::is_unsettled(decided const& one) {
    log_answer const reply = one.request->result.reply;
    bool const is_there = reply == log_answer::conflict || reply == log_answer::ended;
    return is_there && !has_settled(one);
}

SETTLE_FUNCTION void one_phase_order::hold_back_later(decided const& one) {
    one_phase_hashes(*one.work, records_);
    for (auto const record : records_) {
        auto const not_later = [&](std::size_t other) { return other <= one.index; };
        if (unsettled_.find(record, not_later) == nullptr) unsettled_.insert(record, one.index);
    }
}

SETTLE_FUNCTION void require_applied(std::span<part_result const> results) {
    for (part_result const& one : results) {
        if (one.what == answer::applied) continue;
        std::fputs("settle: a store would end a transaction as done although a part of it has no "
                   "effect; this is a fault of the store. Report it.\n",
                   stderr);
        std::abort();
    }
}

SETTLE_FUNCTION copied_jobs::copied_jobs(std::span<job const> from)
    : jobs_(from.begin(), from.end()) {
    for (job& work : jobs_) {
        auto& memory = memory_.emplace_back(
            std::make_unique<std::max_align_t[]>(work.type->size / sizeof(std::max_align_t) + 1));
        work.type->copy(memory.get(), work.parameters);
        work.parameters = memory.get();
    }
}

SETTLE_FUNCTION copied_jobs::~copied_jobs() {
    for (std::size_t i = 0; i < memory_.size(); ++i) jobs_[i].type->destroy(memory_[i].get());
}

} // namespace detail
SETTLE_END
