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
    /// Shape:   parts - the number of its parts; first - an epoch unique to this insert, a birth if
    ///          it begins late; stages - at least 1; several stages run in two phases
    [[nodiscard]] static basic_coordinator begin(std::size_t parts, epoch first,
                                                 goal purpose = goal::run, phases how = phases::two,
                                                 stage_plan stages = {}) {
        basic_coordinator coordinator{parts, purpose, stages};
        if (purpose == goal::tombstone) coordinator.why_ = reason::mark_without_entry;
        coordinator.choose(purpose == goal::run || how != phases::one ? how : phases::two);
        if (stages.keeps_at_insert) coordinator.stages_.current = coordinator.stages_.kept = 1;
        coordinator.next_ = coordinator.first_step();
        coordinator.seen_ = first;
        if (coordinator.late_) coordinator.begin_late();
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
        late_ = backs_out_ = false;
        state_ = insert_state();
        epoch_ = seen_;
        is_first_ = joins_;
        if (goal_ != goal::run) next_ = step::end;
        else if (expired && Rules::lifetimes) cancel_for(reason::expired);
        else start(step::apply, stages_.kept);
    }

    /// The log has no entry with this id, or a bar.
    void found_nothing(view_of_entry const& view) {
        bool const leaves = goal_ == goal::tombstone && !Rules::sweeps_unlogged;
        if (bars() && (view.barred >= seen_ || !Rules::bars_first)) {
            state_ = settle::state::barred;
            epoch_ = seen_;
            next_ = step::end;
            return;
        }
        if (in_log_ || goal_ == goal::recover || leaves) {
            vanished_ = true;
            next_ = step::end;
            return;
        }
        bar_ = view.barred;
        // The refusal of unknown outcome is lost, or will be.
        if (late_) clear_decision();
        // A lost earlier insert can still land and be claimed; its epochs stay below this epoch.
        if (!is_birth(seen_)) seen_ = std::max(view.fresh, seen_ + epochs_per_millisecond);
        // A call that looks whether there is an entry inserts one, which no bar holds up.
        else if (!bars()) seen_ = view.fresh;
        next_ = bar_ != 0 ? step::insert : first_step();
    }

    void found(standing const& entry, view_of_entry const& view) {
        bool const claimable = view.abandoned || (view.mine && unsure_);
        // The marks of this call are stray now, but for those that its own late entry commits.
        if (late_ && entry.committed != epoch_ && !std::exchange(backs_out_, true)) {
            return undo_birth();
        }
        late_ = false;
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
            lazy_ = lazy_ || Rules::takeovers_force;
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
        if (late_) decide_late(limit);
        else decide_apply(limit);
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

    // ------------------------------------------------------------------------------- late entries

    /// The insert of the late entry, as decide_one_phase() has decided it, or of a refusal.
    void decided(log_answer reply) {
        settle::state const inserted = insert_state();
        decided_state_ = settle::state::initial;
        if (reply == log_answer::taken) {
            unsure_ = late_ = false;
            in_log_ = true;
            state_ = inserted;
            if (inserted == settle::state::canceled) return start(step::compensate);
            committed_ = epoch_;
            return inserted == settle::state::applied ? start(step::confirm) : ask_log(step::end);
        }
        if (next_ == step::decide) clear_decision();
        if (took_no_effect(reply)) {
            if (reply != log_answer::unavailable) fall_back();
            return;
        }
        if (reply != log_answer::unknown) {
            backs_out_ = true;
            return undo_birth();
        }
        if (!Rules::late_entries_sent_once) return;
        unsure_ = true;
        ask_log(step::read);
    }

    /// Has the next steps insert an entry first, so that a recovery finds this call.
    void fall_back() {
        backs_out_ = false;
        ask_log(step::read);
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
        bool const confirms = late_ && Rules::late_entries_stay_open;
        decided_state_ = why_ != reason::none ? settle::state::canceled
                         : confirms           ? settle::state::applied
                                              : settle::state::done;
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
        bool const all_applied = answers_.all(answer::applied);
        bool const ends = current == step::apply && all_applied && stages_.count == 1;
        if (ends) ask_log(late_ ? step::decide : step::commit);
        else if (current == step::apply) late_ ? decide_late(limit) : decide_apply(limit);
        else if (all_applied) end_wave();
        else decide_finish();
    }

    /// The stores of the confirms were asked to keep them on the disk.
    /// Shape:   is_kept - each store has answered in the session that answered the confirms
    void forced(bool is_kept) {
        if (is_kept || !Rules::one_session_forces) ask_log(step::close);
        else start(step::confirm);
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

    /// Before each wave of compensates of several stages: a part waits while a part whose place is
    /// before its own is not compensated.
    /// Shape:   each_part(function) - calls `function(part, undo_place)` for every part
    /// Returns: true if a part has waited, and is due now
    template <typename EachPart>
    bool order_undo(EachPart const& each_part);

    /// Cancels the transaction, which has not committed. In `deciding` it has no effect.
    void cancel_for(reason why, std::size_t part = no_part) {
        if (!only_pivot_decides()) begin_cancel(why, part);
    }

private:
    using coordinator_state::coordinator_state;

    void begin_cancel(reason why, std::size_t part) {
        why_ = why;
        failed_ = part;
        if (late_ && !Rules::refusals_are_written) {
            state_ = settle::state::canceled;
            return start(step::compensate);
        }
        ask_log(late_ ? step::refuse : step::cancel);
    }
    void begin_late() {
        epoch_ = seen_;
        is_first_ = joins_;
        start(step::apply);
    }
    /// True if this sweep bars a birth.
    [[nodiscard]] bool bars() const noexcept { return goal_ == goal::tombstone && is_birth(seen_); }
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
        stages_.is_undone = false;
        next_ = action;
    }

    /// Compensates every stage that can have been called: after all earlier stages were kept.
    void compensate();
    [[nodiscard]] stage_number last_called() const noexcept;
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

    /// Decides the apply wave of a call without an entry.
    [[gnu::noinline]] void decide_late(std::uint32_t limit);
    /// Undoes all marks of this call, which has no entry.
    void undo_birth();
    /// A call without an entry has undone its marks.
    void begin_anew();
    /// Undoes the marks of another call, which can have no entry: this worker holds the id.
    void clear_other_call();
    [[gnu::noinline]] void decide_apply(std::uint32_t limit);
    void end_stage();
    /// The outcome of an apply is unknown: a claim makes its late write carry an old epoch.
    void repeat();
    /// No worker waits while its transaction holds a mark.
    void back_off(std::uint32_t limit);
    /// Undoes the parts that this wave may have applied, and starts over.
    void roll_back_attempt();
    void begin_again();
    [[gnu::noinline]] void decide_finish();
    /// Makes unknown parts due again: finish and undo may be repeated. True if no part is due.
    [[nodiscard]] bool all_known();
    [[SETTLE_INLINED]] void end_wave() {
        if (stages_.count > 1 && next_stage()) return;
        bool const waits = lazy_ && state_ == settle::state::applied && Rules::closes_wait_for_disk;
        ask_log(is_final(state_) ? step::end : waits ? step::force : step::close);
    }

    /// Confirms the records first.
    [[gnu::noinline]] bool next_stage();
    void claim_again();
    /// Forgets the answers of the wave, so that more states of a search are equal.
    [[SETTLE_INLINED]] void ask_log(step action) {
        answers_.reset();
        next_ = action;
    }
};

/// The coordinator with all rules.
using coordinator = basic_coordinator<detail::protocol_rules>;

SETTLE_END

#include <settle/protocol/coordinator_decisions.hpp>
