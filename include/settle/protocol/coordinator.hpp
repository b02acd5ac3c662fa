// SPDX-License-Identifier: BSL-1.0
// The coordinator of one transaction: a state machine that names steps and takes their answers.
//
// A coordinator is a value: it has no thread, clock, store, key or parameter. The engine, the
// batch driver and the exhaustive search drive the same code. See protocol#the-four-rules.
#pragma once

#include <settle/protocol/coordinator_state.hpp>
#include <settle/protocol/rules.hpp>

#include <utility>

SETTLE_BEGIN

/// Shape:   Rules - detail::protocol_rules; a search passes a type that switches some rules off
template <typename Rules>
class basic_coordinator : public coordinator_state {
public:
    using coordinator_state::committed;

    basic_coordinator() = default;

    /// Starts a new transaction.
    /// Shape:   parts - the number of its parts; first - an epoch unique to this insert;
    ///          stages - at least 1; several stages run in two phases
    [[nodiscard]] static basic_coordinator begin(std::size_t parts, epoch first,
                                                 goal purpose = goal::run, phases how = phases::two,
                                                 stage_plan stages = {}) {
        basic_coordinator coordinator{parts, purpose, stages};
        if (purpose == goal::tombstone) coordinator.why_ = reason::mark_without_entry;
        coordinator.choose(purpose == goal::run || how != phases::one ? how : phases::two);
        if (stages.keeps_at_insert) coordinator.stages_.current = coordinator.stages_.kept = 1;
        coordinator.next_ = coordinator.first_step();
        coordinator.seen_ = first;
        return coordinator;
    }

    /// Takes over an existing entry.
    [[nodiscard]] static basic_coordinator take(std::size_t parts, standing const& current,
                                                phases how = phases::two, stage_plan stages = {}) {
        basic_coordinator coordinator{parts, goal::recover, stages};
        coordinator.adopt(current);
        coordinator.choose(how);
        coordinator.next_ = coordinator.claiming_step();
        return coordinator;
    }

    /// Cancels an entry of any owner and stores the reason in it.
    [[nodiscard]] static basic_coordinator
    cancel(std::size_t parts, reason why = reason::cancel_asked, stage_plan stages = {}) {
        basic_coordinator coordinator{parts, goal::cancel, stages};
        coordinator.why_ = why;
        coordinator.next_ = step::read;
        return coordinator;
    }

    /// For `step::one_phase`: the epoch that the step writes into the entry.
    [[nodiscard]] epoch one_phase_epoch() const noexcept { return inserts() ? seen_ : raised(); }

    /// The compare-and-set that the next step sends to the log.
    [[nodiscard]] transition change() const noexcept { return change(next_); }
    /// As above for a caller that knows next() at compile time: the switch costs nothing there.
    [[nodiscard]] transition change(step current) const noexcept {
        auto const revision = stages_.revision;
        transition written{state_,       epoch_, state_,   epoch_,   committed_,  attempts_,
                           reason::none, false,  revision, revision, stages_.kept};
        switch (current) {
        case step::claim:
            written.from_epoch = seen_;
            if (state_ == settle::state::initial) written.to = settle::state::pending;
            written.to_epoch = raised();
            if (!requeueing_) ++written.attempts;
            written.takes_owner = true;
            break;
        case step::keep:
            written.to = state_after_keep();
            ++written.to_revision;
            ++written.stages_kept;
            break;
        case step::commit:
        case step::commit_and_close:
            written.to = current == step::commit ? settle::state::applied : settle::state::done;
            written.committed = epoch_;
            break;
        case step::close: written.to = closed_state(); break;
        case step::pause: break;
        case step::cancel:
            written.from_epoch = seen_;
            written.to = canceling_state();
            written.to_epoch = holds_epoch() ? seen_ : seen_ + 1;
            written.committed = 0;
            written.why = why_;
            written.takes_owner = !holds_epoch();
            break;
        case step::one_phase:
            written.from_epoch = seen_;
            written.to = decided_state_;
            written.to_epoch = raised();
            written.committed = 0;
            ++written.attempts;
            written.why = why_;
            written.takes_owner = true;
            break;
        default: return {};
        }
        return written;
    }

    // ------------------------------------------------------------------------ answers of the log

    /// Shape:   expired - the entry is too old to commit
    void inserted(log_answer reply, bool expired) {
        // An earlier entry of the id may have been purged, with its results.
        if (expired && Rules::old_inserts_keep_nothing) stages_.kept = stages_.current = 0;
        if (!acknowledged(reply)) return;
        in_log_ = true;
        state_ = insert_state();
        epoch_ = seen_;
        is_first_ = joins_;
        if (goal_ != goal::run) next_ = step::end;
        else if (expired && Rules::lifetimes) cancel_for(reason::expired);
        else start(step::apply, stages_.kept);
    }

    /// The log has no entry with this id.
    void found_nothing(view_of_entry const& view) {
        bool const leaves = goal_ == goal::tombstone && !Rules::sweeps_unlogged;
        if (in_log_ || goal_ == goal::recover || leaves) {
            vanished_ = true;
            next_ = step::end;
            return;
        }
        // A lost earlier insert can still land and be claimed; its epochs stay below this epoch.
        seen_ = std::max(view.fresh, seen_ + epochs_per_millisecond);
        next_ = first_step();
    }

    void found(standing const& entry, view_of_entry const& view) {
        bool const claimable = view.abandoned || (view.mine && unsure_);
        adopt(entry);
        // A worker that has to read its entry has lost its epoch; only a new claim gives it one.
        in_log_ = true;
        epoch_ = 0;
        if (Rules::first_joins) is_first_ = false;
        if (is_final(state_)) {
            // This worker may have left marks after another worker ended the entry. They are stray.
            if (!wrote_) next_ = step::end;
            else start(state_ == settle::state::done ? step::confirm : step::compensate);
        } else if (goal_ == goal::submit || goal_ == goal::tombstone) {
            next_ = step::end;
        } else if (goal_ == goal::cancel &&
                   (state_ == settle::state::initial || state_ == settle::state::pending ||
                    (state_ == settle::state::deciding && !Rules::pivot_decides))) {
            next_ = step::cancel;
        } else {
            next_ = claimable ? claiming_step() : step::wait;
        }
    }

    void claimed(log_answer reply, bool expired) {
        // True if the outcome of this worker's own cancel is unknown. In `deciding`, the pivot is
        // called again instead: its receiver has kept its refusal.
        bool const cancels = unsure_ && why_ != reason::none && !only_pivot_decides();
        if (!acknowledged(reply)) return;
        epoch_ = seen_ = raised();
        if (!std::exchange(requeueing_, false)) ++attempts_;
        if (state_ == settle::state::initial) {
            state_ = settle::state::pending;
            is_first_ = joins_;
        }
        if (state_ == settle::state::applied) {
            start(step::confirm);
        } else if (state_ == settle::state::canceling) {
            compensate();
        } else if (cancels) {
            // That cancel took no effect, and is sent again.
            cancel_for(why_, failed_);
        } else {
            // The transaction starts over, so a failure under an earlier epoch is obsolete.
            why_ = reason::none;
            failed_ = no_part;
            if (expired && Rules::lifetimes && !only_pivot_decides()) cancel_for(reason::expired);
            else if (pausing_) start(step::pause);
            else start(step::apply, Rules::records_again ? stage_number{0} : stages_.kept);
        }
        pausing_ = false;
    }

    /// The pause is over. A worker without an epoch reads the entry first.
    void resume() {
        if (!holds_epoch()) look_again();
        else if (stages_.current == 0) start(step::apply);
        else next_ = step::apply;
    }

    /// The results of the applied stage are in the entry.
    void kept(log_answer reply) {
        if (!took_no_effect(reply) && !Rules::keeps_acknowledged) reply = log_answer::taken;
        if (!acknowledged(reply)) return;
        state_ = state_after_keep();
        ++stages_.revision;
        start(step::apply, ++stages_.kept);
    }

    void committed(log_answer reply) {
        if (!acknowledged(reply)) return;
        committed_ = epoch_;
        bool const closes = next_ == step::commit_and_close;
        state_ = closes ? settle::state::done : settle::state::applied;
        if (closes) next_ = step::end;
        else start(step::confirm);
    }

    /// The native transaction of a joined commit has changed nothing, as may_join() said. Goes on
    /// as after the apply of its parts, which may be busy or refused.
    /// Shape:   limit - as for decide()
    void not_joined(std::uint32_t limit) {
        if (answers_.contains(answer::unavailable)) return;
        next_ = step::apply;
        decide_apply(limit);
    }

    void closed(log_answer reply) {
        if (!acknowledged(reply)) return;
        state_ = closed_state();
        next_ = step::end;
    }

    void canceled(log_answer reply) {
        if (!acknowledged(reply)) return;
        if (!holds_epoch()) epoch_ = ++seen_;
        if (state_ == settle::state::initial) {
            state_ = settle::state::canceled;
            next_ = step::end;
        } else {
            state_ = settle::state::canceling;
            compensate();
        }
    }

    // --------------------------------------------------------------------------------- one phase

    /// Decides inside the native transaction, from the answers of all parts.
    /// Shape:   limit - how often a busy transaction tries again; expired - it is too old to commit
    /// Returns: true if the native transaction must write the entry, as insert_state(), change()
    ///          and why() now say; false if it must change nothing
    [[nodiscard]] bool decide_one_phase(std::uint32_t limit, bool expired) {
        clear_decision();
        for (std::size_t part = 0; part < answers_.size() && why_ == reason::none; ++part) {
            why_ = reason_of(answers_[part]);
            if (why_ != reason::none) failed_ = part;
        }
        if (expired && Rules::lifetimes) {
            why_ = reason::expired;
            failed_ = no_part;
        }
        if (why_ == reason::none && answers_.contains(answer::busy)) {
            if (attempts_ < limit) return false;
            why_ = reason::busy;
            failed_ = answers_.index_of(answer::busy);
        }
        decided_state_ = why_ == reason::none ? settle::state::done : settle::state::canceled;
        return true;
    }

    /// The native transaction has ended.
    /// Shape:   reply - the answer to the insert or change of the entry
    void settled(log_answer reply) {
        settle::state const decided = std::exchange(decided_state_, settle::state::initial);
        if (reply == log_answer::held_back) {
            bool const busy = answers_.contains(answer::busy);
            if (busy) ++attempts_;
            return start(busy ? step::pause : step::one_phase);
        }
        if (reply != log_answer::taken) {
            clear_decision();
            answers_.reset();
        }
        if (!acknowledged(reply)) return;
        epoch_ = seen_ = one_phase_epoch();
        if (!inserts()) ++attempts_;
        in_log_ = true;
        state_ = decided;
        ask_log(step::end);
    }

    // --------------------------------------------------------------------- answers of the stores

    /// Decides the wave, when every part that was due has an answer. A wave of a later stage is
    /// sent again while a part is unavailable or unknown; the driver limits this by cancel_for().
    /// Shape:   limit - how often a busy transaction starts over, or a busy later stage is sent
    ///          again
    void decide(std::uint32_t limit) { decide(next_, limit); }
    /// As above for a caller that knows next() at compile time.
    [[SETTLE_INLINED]] void decide(step current, std::uint32_t limit) {
        if (current == step::back_off) return all_known() ? begin_again() : void();
        bool const all = answers_.all(answer::applied);
        if (current == step::apply && all && stages_.count == 1) ask_log(step::commit);
        else if (current == step::apply) decide_apply(limit);
        else if (all) end_wave();
        else decide_finish();
    }

    /// Instead of decide(), if an earlier transaction of the window must end first: undoes what
    /// this transaction applied and starts over without a pause. This counts as no attempt. Only
    /// for a transaction that may_start_over().
    void requeue() {
        requeueing_ = true;
        roll_back_attempt();
    }

    /// Follows decide(). Cancels an expired transaction before its pivot is called; from then on,
    /// only the pivot decides.
    void look_at_age(bool expired) {
        bool const enters = next_ == step::keep && stages_.pivot_is_next();
        if (enters && expired && Rules::lifetimes) cancel_for(reason::expired);
    }

    /// Cancels the transaction, which has not committed. In `deciding` it has no effect.
    void cancel_for(reason why, std::size_t part = no_part) {
        if (!only_pivot_decides()) begin_cancel(why, part);
    }

private:
    using coordinator_state::coordinator_state;

    void begin_cancel(reason why, std::size_t part) {
        why_ = why;
        failed_ = part;
        ask_log(step::cancel);
    }
    [[nodiscard]] bool only_pivot_decides() const noexcept {
        return state_ == settle::state::deciding && Rules::pivot_decides;
    }
    [[nodiscard]] step committing_step() const noexcept {
        bool const confirms = stages_.confirms && Rules::confirms_before_close;
        return confirms ? step::commit : step::commit_and_close;
    }
    [[nodiscard]] settle::state state_after_keep() const noexcept {
        return Rules::notes_pivot && stages_.pivot_is_next() ? settle::state::deciding : state_;
    }

    [[nodiscard]] epoch raised() const noexcept { return Rules::claims_raise ? seen_ + 1 : seen_; }

    void start(step action, stage_number stage = 0) {
        if (Rules::all_parts_again || (action != step::apply && action != step::pause)) {
            answers_.reset();
        }
        wrote_ = wrote_ || action == step::apply;
        stages_.current = stage;
        stages_.is_first_undo = false;
        next_ = action;
    }

    /// Compensates every stage that can have been called: after all earlier stages were kept.
    void compensate() {
        if (!Rules::undo_waits) stages_.undone_after_later = 0;
        start(step::compensate, last_called());
        stages_.is_first_undo = true;
    }
    [[nodiscard]] stage_number last_called() const noexcept {
        if (Rules::compensates_unanswered || stages_.kept == 0) return stages_.kept;
        return static_cast<stage_number>(stages_.kept - 1);
    }

    /// True if the log acknowledged the write. If not, the next step is the same write, or a read.
    bool acknowledged(log_answer reply) {
        if (reply == log_answer::taken) {
            unsure_ = false;
            return true;
        }
        bool const begins = next_ == step::insert || next_ == step::claim;
        if (reply == log_answer::unknown && begins && !Rules::acknowledged_only) return true;
        if (took_no_effect(reply)) return false;
        // The conflict may be with this worker's own earlier write, whose outcome was unknown.
        unsure_ = unsure_ || reply == log_answer::unknown;
        pausing_ = requeueing_ = false;
        next_ = step::read;
        return false;
    }

    [[gnu::noinline]] void decide_apply(std::uint32_t limit) {
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
        else if (answers_.contains(answer::busy)) back_off(limit);
        else end_stage();
    }

    void end_stage() {
        auto const next = static_cast<stage_number>(stages_.current + 1);
        if (stages_.is_last()) ask_log(committing_step());
        // After a claim only the records are applied again. The results of kept stages stay.
        else if (stages_.current < stages_.kept) start(step::apply, stages_.kept);
        else if (Rules::keeps) ask_log(step::keep);
        else start(step::apply, next);
    }

    /// The outcome of an apply is unknown: a claim makes its late write carry an old epoch.
    void repeat() {
        // A call has the same key under each epoch, so it may be repeated.
        if (stages_.current != 0) return answers_.forget(answer::unknown);
        if (Rules::unknown_claims && Rules::all_parts_again) return claim_again();
        part_answers const before = answers_;
        if (Rules::unknown_claims) claim_again();
        answers_ = before;
        answers_.forget(answer::unknown);
    }

    /// No worker waits while its transaction holds a mark.
    void back_off(std::uint32_t limit) {
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

    /// Undoes the parts that this wave may have applied, and starts over.
    void roll_back_attempt() {
        for (answer& one : answers_) {
            bool const may_have_effect = one == answer::applied || one == answer::unknown;
            one = may_have_effect ? answer::none : answer::nothing;
        }
        next_ = step::back_off;
        if (!answers_.contains(answer::none)) begin_again();
    }

    void begin_again() {
        if (Rules::backs_off_anew) return claim_again();
        ++attempts_;
        answers_.reset();
        next_ = step::pause;
    }

    [[gnu::noinline]] void decide_finish() {
        if (all_known()) end_wave();
    }

    /// Makes unknown parts due again: finish and undo may be repeated. True if no part is due.
    [[nodiscard]] bool all_known() {
        bool const again =
            answers_.contains(answer::unknown) || answers_.contains(answer::unavailable);
        answers_.forget(answer::unknown);
        // With several stages, a part without an answer is of another stage.
        return !again && (stages_.count > 1 || !answers_.contains(answer::none));
    }

    [[SETTLE_INLINED]] void end_wave() {
        if (stages_.count > 1 && next_stage()) return;
        ask_log(is_final(state_) ? step::end : step::close);
    }

    /// Confirms the records first. Compensates stages that wait for later ones, the last first.
    [[gnu::noinline]] bool next_stage() {
        stage_number const next =
            next_ == step::confirm ? stages_.next_confirmed() : stages_.next_undone();
        // In a final entry, only marks of records can be stray.
        if (next == stages_.current || is_final(state_)) return false;
        start(next_, next);
        return true;
    }

    void claim_again() {
        pausing_ = !requeueing_;
        ask_log(step::claim);
    }

    /// Forgets the answers of the wave, so that more states of a search are equal.
    [[SETTLE_INLINED]] void ask_log(step action) {
        answers_.reset();
        next_ = action;
    }
};

/// The coordinator with all rules.
using coordinator = basic_coordinator<detail::protocol_rules>;

SETTLE_END
