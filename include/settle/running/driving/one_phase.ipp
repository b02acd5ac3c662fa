// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that one_phase.hpp declares.
#pragma once

#include <settle/running/driving/one_phase.hpp>

#include <cstdio>
#include <cstdlib>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION bool one_phase_order::must_wait(one_phase_request const& request, job const& work) {
    decision const current{request.index, &request, &work};
    bool const is_repeated = !decisions_.empty() && decisions_.back().index == current.index;
    if (is_repeated) {
        hold_back_after_entries(current.index);
    } else {
        look_at_previous(current);
        decisions_.push_back(current);
    }
    if (held_records_.empty()) return false;
    auto const is_earlier = [&](std::size_t holder) { return holder < current.index; };
    one_phase_hashes(work, hashes_);
    return std::any_of(hashes_.begin(), hashes_.end(), [&](std::uint64_t record) {
        return held_records_.find(record, is_earlier) != nullptr;
    });
}

SETTLE_FUNCTION void one_phase_order::look_at_previous(decision const& current) {
    if (decisions_.empty()) return;
    decision const previous = decisions_.back();
    if (previous.index < current.index) {
        if (!has_settled(previous)) hold_back_after(previous);
        return;
    }
    // The native transaction is repeated from its first job.
    hold_back_after_entries(previous.index + 1);
    decisions_.clear();
}

SETTLE_FUNCTION void one_phase_order::hold_back_after_entries(std::size_t end) {
    for (decision const& earlier : decisions_) {
        log_answer const reply = earlier.request->result.reply;
        bool const has_entry = reply == log_answer::conflict || reply == log_answer::ended;
        if (earlier.index < end && has_entry && !has_settled(earlier)) hold_back_after(earlier);
    }
}

SETTLE_FUNCTION void one_phase_order::hold_back_after(decision const& holder) {
    one_phase_hashes(*holder.work, hashes_);
    for (auto const record : hashes_) {
        // The earliest job that holds a record counts.
        auto const is_enough = [&](std::size_t other) { return other <= holder.index; };
        if (held_records_.find(record, is_enough) == nullptr) {
            held_records_.insert(record, holder.index);
        }
    }
}

SETTLE_FUNCTION bool one_phase_order::has_settled(decision const& decision) {
    log_answer const reply = decision.request->result.reply;
    return reply == log_answer::taken || (reply == log_answer::ended && !decision.work->new_id);
}

SETTLE_FUNCTION jobs_beside_commits::jobs_beside_commits(std::span<job const> jobs) {
    for (job const& other : jobs) {
        bool const commits_here =
            other.takes(step::decide) || (other.coordinator.joins() && other.takes(step::commit));
        if (other.coordinator.next() != step::end && !commits_here) jobs_.push_back(&other);
    }
}

SETTLE_FUNCTION bool jobs_beside_commits::precede(job const& work, bool joins) const {
    std::vector<std::uint64_t> own;
    std::vector<std::uint64_t> others;
    for (job const* const other : jobs_) {
        // The jobs of a window stand in their order.
        if (other >= &work) break;
        auto const& c = other->coordinator;
        bool const commits = settle::commits(c.next()) && !other->resting;
        bool const is_open =
            !commits && (c.state() == state::initial || c.state() == state::pending);
        bool const has_marks = !c.joins();
        if (!is_open && (joins || !has_marks)) continue;
        if (own.empty()) record_hashes(work, own);
        record_hashes(*other, others);
        if (std::find_first_of(own.begin(), own.end(), others.begin(), others.end()) != own.end())
            return true;
    }
    return false;
}

SETTLE_FUNCTION void require_applied(std::span<part_result const> results) {
    for (part_result const& result : results) {
        if (result.what == answer::applied) continue;
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
