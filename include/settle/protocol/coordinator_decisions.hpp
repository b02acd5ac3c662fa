// SPDX-License-Identifier: BSL-1.0
// How a coordinator decides the waves that its driver sends to stores: bodies of functions that
// coordinator.hpp declares.
#pragma once

#include <settle/protocol/coordinator.hpp>

SETTLE_BEGIN

template <typename Rules>
void basic_coordinator<Rules>::compensate() {
    start(step::compensate, last_called());
    stages_.is_undone = true;
}

template <typename Rules>
template <typename EachPart>
bool basic_coordinator<Rules>::order_undo(EachPart const& each_part) {
    if (next_ != step::compensate || !stages_.is_undone || !Rules::undo_waits) return false;
    std::uint64_t open = 0;
    stage_number last_open = 0;
    each_part([&](std::size_t part, undo_place const& place) {
        bool const is_open = due(part) || answers_[part] == answer::later;
        if (!is_open || place.stage > stages_.current) return;
        open |= undo_place::bit(place.participant);
        last_open = std::max(last_open, place.stage);
    });
    bool releases = false;
    each_part([&](std::size_t part, undo_place const& place) {
        answer const earlier = answers_[part];
        if (earlier != answer::none && earlier != answer::later) return;
        bool const waits =
            (place.after & open) != 0 || (stages_.undone_by_stage && place.stage < last_open);
        answers_[part] = waits ? answer::later : answer::none;
        releases = releases || (earlier == answer::later && !waits);
    });
    return releases;
}

template <typename Rules>
stage_number basic_coordinator<Rules>::last_called() const noexcept {
    if (Rules::compensates_unanswered || stages_.kept == 0) return stages_.kept;
    return static_cast<stage_number>(stages_.kept - 1);
}

template <typename Rules>
void basic_coordinator<Rules>::decide_late(std::uint32_t limit) {
    for (std::size_t part = 0; part < answers_.size(); ++part) {
        reason const why = reason_of(answers_[part]);
        if (why != reason::none) return begin_cancel(why, part);
    }
    if (answers_.contains(answer::unknown)) {
        if (Rules::births_apply_once) return fall_back();
        answers_.forget(answer::unknown);
    }
    if (answers_.contains(answer::unavailable) || answers_.contains(answer::none)) return;
    bool const meets_other =
        answers_.contains(answer::other_call) || answers_.contains(answer::fenced);
    if (!meets_other && attempts_ >= limit) {
        return begin_cancel(reason::busy, answers_.index_of(answer::busy));
    }
    if (meets_other && !Rules::others_wait_for_entries) return clear_other_call();
    backs_out_ = meets_other;
    roll_back_attempt();
}

template <typename Rules>
void basic_coordinator<Rules>::undo_birth() {
    answers_.reset();
    next_ = step::back_off;
}

template <typename Rules>
void basic_coordinator<Rules>::begin_anew() {
    if (backs_out_) return ask_log(step::read);
    if (Rules::births_are_fresh) epoch_ = seen_ = seen_ + births_per_second;
    answers_.reset();
    next_ = std::exchange(requeueing_, false) ? step::apply : step::pause;
    if (next_ == step::pause) ++attempts_;
}

template <typename Rules>
void basic_coordinator<Rules>::clear_other_call() {
    for (answer& reply : answers_) {
        reply = reply == answer::other_call ? answer::none : answer::nothing;
    }
    clearing_ = true;
    next_ = step::back_off;
}

template <typename Rules>
void basic_coordinator<Rules>::decide_apply(std::uint32_t limit) {
    if (fenced()) {
        unsure_ = false;
        return ask_log(step::read);
    }
    for (std::size_t part = 0; part < answers_.size(); ++part) {
        reason const why = reason_of(answers_[part]);
        if (why == reason::none) continue;
        bool const is_pivot = stages_.is_last();
        if (is_pivot || !only_pivot_decides()) return begin_cancel(why, part);
        // Another worker may have ended the transaction. If not, a person must mend the record.
        unsure_ = pausing_ = true;
        return ask_log(step::read);
    }
    if (answers_.contains(answer::unavailable)) return;
    if (answers_.contains(answer::unknown)) repeat();
    else if (answers_.contains(answer::other_call)) clear_other_call();
    else if (answers_.contains(answer::busy)) back_off(limit);
    else end_stage();
}

template <typename Rules>
void basic_coordinator<Rules>::end_stage() {
    auto const next = static_cast<stage_number>(stages_.current + 1);
    if (stages_.is_last()) ask_log(committing_step());
    // After a claim only the records are applied again. The results of kept stages stay.
    else if (stages_.current < stages_.kept) start(step::apply, stages_.kept);
    else if (Rules::keeps) ask_log(step::keep);
    else start(step::apply, next);
}

template <typename Rules>
void basic_coordinator<Rules>::repeat() {
    // A call has the same key under each epoch, so it may be repeated.
    if (stages_.current != 0) return answers_.forget(answer::unknown);
    if (Rules::unknown_claims && Rules::all_parts_again) return claim_again();
    part_answers const before = answers_;
    if (Rules::unknown_claims) claim_again();
    answers_ = before;
    answers_.forget(answer::unknown);
}

template <typename Rules>
void basic_coordinator<Rules>::back_off(std::uint32_t limit) {
    if (!Rules::backs_off) return answers_.forget(answer::busy);
    if (attempts_ >= limit && !only_pivot_decides()) {
        return cancel_for(reason::busy, answers_.index_of(answer::busy));
    }
    if (may_start_over()) return roll_back_attempt();
    if (!Rules::kept_stages_stay) {
        stages_.kept = 0;
        return claim_again();
    }
    // A call cannot be undone and made again: its key is closed by then.
    ++attempts_;
    answers_.forget(answer::busy);
    next_ = step::pause;
}

template <typename Rules>
void basic_coordinator<Rules>::roll_back_attempt() {
    for (answer& reply : answers_) {
        bool const may_have_effect = reply == answer::applied || reply == answer::unknown;
        reply = may_have_effect ? answer::none : answer::nothing;
    }
    next_ = step::back_off;
    if (!answers_.contains(answer::none)) begin_again();
}

template <typename Rules>
void basic_coordinator<Rules>::begin_again() {
    if (std::exchange(clearing_, false)) return start(step::apply);
    if (late_) return begin_anew();
    if (Rules::backs_off_anew) return claim_again();
    ++attempts_;
    answers_.reset();
    next_ = step::pause;
}

template <typename Rules>
void basic_coordinator<Rules>::decide_finish() {
    if (all_known()) end_wave();
}

template <typename Rules>
bool basic_coordinator<Rules>::all_known() {
    bool const again = answers_.contains(answer::unknown) ||
                       answers_.contains(answer::unavailable) || answers_.contains(answer::later);
    answers_.forget(answer::unknown);
    // With several stages, a part without an answer is of another stage.
    return !again && (stages_.count > 1 || !answers_.contains(answer::none));
}

template <typename Rules>
bool basic_coordinator<Rules>::next_stage() {
    // In a final entry, only marks of records can be stray.
    if (next_ != step::confirm || stages_.is_last() || is_final(state_)) return false;
    start(next_, static_cast<stage_number>(stages_.current + 1));
    return true;
}

template <typename Rules>
void basic_coordinator<Rules>::claim_again() {
    pausing_ = !requeueing_;
    ask_log(step::claim);
}

SETTLE_END
