// SPDX-License-Identifier: BSL-1.0
// The coordinator of one transaction: a state machine that names steps and takes their answers.
//
// A coordinator is a value: it has no thread, clock, store, key or parameter. The engine, the
// batch driver and the exhaustive search drive the same code. See protocol#the-four-rules.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/protocol/part_answers.hpp>
#include <settle/protocol/rules.hpp>
#include <settle/protocol/step.hpp>

#include <utility>

SETTLE_BEGIN

/// Shape:   Rules - detail::protocol_rules; a search passes a type that switches some rules off
template <typename Rules>
class basic_coordinator {
public:
    static constexpr std::size_t no_part = ~std::size_t{0};

    basic_coordinator() = default;

    /// Starts a new transaction.
    /// Shape:   parts - the number of its parts; first - an epoch unique to this insert
    [[nodiscard]] static basic_coordinator begin(std::size_t parts, epoch first,
                                                 goal wanted = goal::run,
                                                 phases how = phases::two) {
        basic_coordinator made{parts, wanted};
        if (wanted == goal::tombstone) made.why_ = reason::mark_without_entry;
        made.one_phase_ = wanted == goal::run && how == phases::one;
        made.next_ = made.first_step();
        made.seen_ = first;
        return made;
    }

    /// Takes over an existing entry.
    [[nodiscard]] static basic_coordinator take(std::size_t parts, standing const& found,
                                                phases how = phases::two) {
        basic_coordinator made{parts, goal::recover};
        made.adopt(found);
        made.one_phase_ = how == phases::one;
        made.next_ = made.claiming_step();
        return made;
    }

    /// Cancels an entry of any owner and stores the reason in it.
    [[nodiscard]] static basic_coordinator cancel(std::size_t parts,
                                                  reason why = reason::cancel_asked) {
        basic_coordinator made{parts, goal::cancel};
        made.why_ = why;
        made.next_ = step::read;
        return made;
    }

    [[nodiscard]] step next() const noexcept { return next_; }
    [[nodiscard]] settle::state state() const noexcept { return state_; }
    [[nodiscard]] epoch epoch_number() const noexcept { return epoch_; }
    [[nodiscard]] epoch committed() const noexcept { return committed_; }
    /// The highest epoch that a mark of this entry can have.
    [[nodiscard]] epoch latest() const noexcept { return seen_; }
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempts_; }
    [[nodiscard]] reason why() const noexcept { return why_; }
    /// The part whose answer caused the cancel, or `no_part`.
    [[nodiscard]] std::size_t failed_part() const noexcept { return failed_; }
    [[nodiscard]] std::size_t parts() const noexcept { return answers_.size(); }
    [[nodiscard]] answer answer_of(std::size_t part) const noexcept { return answers_[part]; }
    /// True if the entry existed and is now absent. No step deletes an entry within its lifetime.
    [[nodiscard]] bool vanished() const noexcept { return vanished_; }

    /// For `step::one_phase`: true if it inserts the entry, false if it changes the entry.
    [[nodiscard]] bool inserts() const noexcept { return !known_ && goal_ != goal::recover; }
    /// For `step::one_phase`: the epoch that it writes into the entry.
    [[nodiscard]] epoch one_phase_epoch() const noexcept { return inserts() ? seen_ : raised(); }

    /// The state in which the entry is inserted, and its epoch.
    [[nodiscard]] settle::state insert_state() const noexcept {
        return next_ == step::one_phase ? decided_state_
               : goal_ == goal::submit ? settle::state::initial
               : goal_ == goal::cancel || goal_ == goal::tombstone ? settle::state::canceled
                                                                : settle::state::pending;
    }
    [[nodiscard]] epoch insert_epoch() const noexcept { return seen_; }

    /// The compare-and-set that the next step sends to the log.
    [[nodiscard]] transition change() const noexcept { return change(next_); }
    /// As above for a caller that knows next() at compile time: the switch costs nothing there.
    [[nodiscard]] transition change(step known) const noexcept {
        switch (known) {
        case step::claim:
            return {state_, seen_,
                    state_ == settle::state::initial ? settle::state::pending : state_, raised(),
                    committed_, attempts_ + (requeueing_ ? 0 : 1), reason::none, true};
        case step::commit:
            return {state_, epoch_, settle::state::applied, epoch_, epoch_, attempts_, reason::none,
                    false};
        case step::close:
            return {state_, epoch_,
                    state_ == settle::state::applied ? settle::state::done
                                                     : settle::state::canceled,
                    epoch_, committed_, attempts_, reason::none, false};
        case step::cancel:
            return {state_, seen_,
                    state_ == settle::state::initial ? settle::state::canceled
                                                     : settle::state::canceling,
                    held() ? seen_ : seen_ + 1, 0, attempts_, why_, !held()};
        case step::one_phase:
            return {state_, seen_, decided_state_, raised(), 0, attempts_ + 1, why_, true};
        default: return {};
        }
    }

    /// True if the next step must send this part to its store.
    [[nodiscard]] bool due(std::size_t part) const noexcept {
        return answers_[part] == answer::none || answers_[part] == answer::unavailable;
    }

    // ------------------------------------------------------------------------ answers of the log

    /// Shape:   expired - the entry is too old to commit
    void inserted(log_answer reply, bool expired) {
        if (!moved(reply)) return;
        known_ = true;
        state_ = insert_state();
        epoch_ = seen_;
        if (goal_ != goal::run) next_ = step::end;
        else if (expired && Rules::lifetimes) cancel_for(reason::expired);
        else start(step::apply);
    }

    /// The log has no entry with this id.
    void found_nothing(view_of_entry const& view) {
        if (known_ || goal_ == goal::recover) {
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
        known_ = true;
        epoch_ = 0;
        if (is_final(state_)) {
            // This worker may have left marks after another worker's decision. They are stray.
            if (!wrote_) next_ = step::end;
            else start(state_ == settle::state::done ? step::confirm : step::compensate);
        } else if (goal_ == goal::submit || goal_ == goal::tombstone) {
            next_ = step::end;
        } else if (goal_ == goal::cancel &&
                   (state_ == settle::state::initial || state_ == settle::state::pending)) {
            next_ = step::cancel;
        } else {
            next_ = claimable ? claiming_step() : step::wait;
        }
    }

    /// Makes the next step read the entry: after a wait, or before an insert that may find it.
    void look_again() { next_ = step::read; }

    void claimed(log_answer reply, bool expired) {
        // The outcome of this worker's own cancel is unknown.
        bool const cancels = unsure_ && why_ != reason::none;
        if (!moved(reply)) return;
        epoch_ = seen_ = raised();
        if (!std::exchange(requeueing_, false)) ++attempts_;
        if (state_ == settle::state::applied) {
            start(step::confirm);
        } else if (state_ == settle::state::canceling) {
            start(step::compensate);
        } else if (cancels) {
            // That cancel took no effect. The decision to cancel stands.
            state_ = settle::state::pending;
            cancel_for(why_, failed_);
        } else {
            // The transaction starts over, so a failure under an earlier epoch is obsolete.
            state_ = settle::state::pending;
            why_ = reason::none;
            failed_ = no_part;
            if (expired && Rules::lifetimes) cancel_for(reason::expired);
            else start(pausing_ ? step::pause : step::apply);
        }
        pausing_ = false;
    }

    /// The pause is over. A worker without an epoch reads the entry first.
    void resume() {
        if (held()) start(step::apply);
        else look_again();
    }

    void committed(log_answer reply) {
        if (!moved(reply)) return;
        committed_ = epoch_;
        state_ = settle::state::applied;
        start(step::confirm);
    }

    void closed(log_answer reply) {
        if (!moved(reply)) return;
        state_ = state_ == settle::state::applied ? settle::state::done : settle::state::canceled;
        next_ = step::end;
    }

    void canceled(log_answer reply) {
        if (!moved(reply)) return;
        if (!held()) epoch_ = ++seen_;
        if (state_ == settle::state::initial) {
            state_ = settle::state::canceled;
            next_ = step::end;
        } else {
            state_ = settle::state::canceling;
            start(step::compensate);
        }
    }

    // --------------------------------------------------------------------------------- one phase

    /// Decides inside the native transaction, from the answers of all parts.
    /// Shape:   limit - how often a busy transaction tries again;
    ///          expired - the entry is too old to commit
    /// Returns: true if the native transaction must write the entry, as insert_state(), change()
    ///          and why() now say; false if it must change nothing
    [[nodiscard]] bool decide_one_phase(std::uint32_t limit, bool expired) {
        stay_behind();
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

    /// Instead of decide_one_phase(), if an earlier transaction of the window must end first.
    void stay_behind() {
        why_ = reason::none;
        failed_ = no_part;
        decided_state_ = settle::state::initial;
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
            stay_behind();
            answers_.reset();
        }
        if (!moved(reply)) return;
        epoch_ = seen_ = one_phase_epoch();
        if (!inserts()) ++attempts_;
        known_ = true;
        state_ = decided;
        ask_log(step::end);
    }

    /// Another program had committed without an epoch: this claim's epoch is the committed one.
    void committed_without_epoch() noexcept { committed_ = epoch_; }

    // --------------------------------------------------------------------- answers of the stores

    void answered(std::size_t part, answer reply) noexcept { answers_[part] = reply; }

    /// Decides the wave, when every part that was due has an answer.
    /// Shape:   limit - how often a busy transaction starts over
    void decide(std::uint32_t limit) { decide(next_, limit); }
    /// As above for a caller that knows next() at compile time.
    [[SETTLE_INLINED]] void decide(step known, std::uint32_t limit) {
        if (known == step::back_off) return decide_back_off();
        bool const all = answers_.all(answer::applied);
        if (known == step::apply && all) ask_log(step::commit);
        else if (known == step::apply) decide_apply(limit);
        else if (all) end_wave();
        else decide_finish();
    }

    /// True if a part met a mark with a higher epoch: another worker has claimed the entry.
    [[nodiscard]] bool fenced() const noexcept { return answers_.contains(answer::fenced); }

    /// Instead of decide(), if an earlier transaction of the window must end first: undoes what
    /// this transaction applied and starts over without a pause. This counts as no attempt.
    void requeue() {
        requeueing_ = true;
        roll_back_attempt();
    }

    /// Cancels the transaction, which has not committed.
    void cancel_for(reason why, std::size_t part = no_part) {
        why_ = why;
        failed_ = part;
        ask_log(step::cancel);
    }

    friend bool operator==(basic_coordinator const&, basic_coordinator const&) = default;

    [[nodiscard]] std::size_t hash() const noexcept {
        std::size_t seed = hash_mix(0, static_cast<std::uint64_t>(next_) |
                                           static_cast<std::uint64_t>(state_) << 8U |
                                           static_cast<std::uint64_t>(goal_) << 16U |
                                           static_cast<std::uint64_t>(why_) << 24U |
                                           static_cast<std::uint64_t>(attempts_) << 32U);
        seed = hash_mix(seed, epoch_);
        seed = hash_mix(seed, seen_);
        seed = hash_mix(seed, committed_);
        seed = hash_mix(seed, failed_);
        seed = hash_mix(seed, (wrote_ ? 1U : 0U) | (unsure_ ? 2U : 0U) | (pausing_ ? 4U : 0U) |
                                  (vanished_ ? 8U : 0U) | (known_ ? 16U : 0U) |
                                  (one_phase_ ? 32U : 0U) | (requeueing_ ? 64U : 0U) |
                                  static_cast<std::uint64_t>(decided_state_) << 8U);
        for (answer const one : answers_) seed = hash_mix(seed, static_cast<std::uint64_t>(one));
        return seed;
    }

    /// Lets a search renumber epochs: states that differ only in absolute epochs become equal.
    template <typename Function>
    void visit_epochs(Function&& function) {
        function(epoch_);
        function(seen_);
        function(committed_);
    }

    /// Lets a search cap the number of attempts, so that its state space stays finite.
    template <typename Function>
    void visit_attempts(Function&& function) {
        function(attempts_);
    }

private:
    basic_coordinator(std::size_t parts, goal wanted) : answers_(parts), goal_(wanted) {}

    [[nodiscard]] bool held() const noexcept { return epoch_ != 0; }

    /// True if one phase is still possible: an entry that began in two phases ends in two.
    [[nodiscard]] bool one_phase_next() const noexcept {
        return one_phase_ && !held() && state_ == settle::state::initial;
    }
    [[nodiscard]] step first_step() const noexcept {
        return one_phase_ ? step::one_phase : step::insert;
    }
    [[nodiscard]] step claiming_step() const noexcept {
        return one_phase_next() ? step::one_phase : step::claim;
    }

    void adopt(standing const& entry) {
        state_ = entry.state;
        seen_ = entry.epoch_number;
        committed_ = entry.committed;
        attempts_ = std::max(attempts_, entry.attempts);
    }

    [[nodiscard]] epoch raised() const noexcept { return Rules::claims_raise ? seen_ + 1 : seen_; }

    void start(step wanted) {
        if (Rules::all_parts_again || (wanted != step::apply && wanted != step::pause)) {
            answers_.reset();
        }
        wrote_ = wrote_ || wanted == step::apply;
        next_ = wanted;
    }

    /// True if the log acknowledged the write. If not, the next step is set here.
    bool moved(log_answer reply) {
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
            ask_log(step::read);
            return;
        }
        for (std::size_t part = 0; part < answers_.size(); ++part) {
            reason const why = reason_of(answers_[part]);
            if (why != reason::none) return cancel_for(why, part);
        }
        if (answers_.contains(answer::unavailable)) return;
        if (answers_.contains(answer::unknown)) repeat();
        else if (answers_.contains(answer::busy)) back_off(limit);
        else ask_log(step::commit);
    }

    /// The outcome of an apply is unknown: a claim makes its late write carry an old epoch.
    void repeat() {
        if (Rules::unknown_claims && Rules::all_parts_again) return claim_again();
        part_answers const before = answers_;
        if (Rules::unknown_claims) claim_again();
        answers_ = before;
        answers_.forget(answer::unknown);
    }

    /// No worker waits while its transaction holds a mark.
    void back_off(std::uint32_t limit) {
        if (!Rules::backs_off) return answers_.forget(answer::busy);
        if (attempts_ >= limit) return cancel_for(reason::busy, answers_.index_of(answer::busy));
        roll_back_attempt();
    }

    /// Undoes the parts that this wave applied or may have applied, and starts over.
    void roll_back_attempt() {
        for (answer& one : answers_) {
            bool const stands = one == answer::applied || one == answer::unknown;
            one = stands ? answer::none : answer::nothing;
        }
        next_ = step::back_off;
        if (!answers_.contains(answer::none)) begin_again();
    }

    void decide_back_off() {
        if (all_known()) begin_again();
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
        answers_.forget(answer::unknown);
        return !answers_.contains(answer::none) && !answers_.contains(answer::unavailable);
    }

    [[SETTLE_INLINED]] void end_wave() { ask_log(is_final(state_) ? step::end : step::close); }

    void claim_again() {
        pausing_ = !requeueing_;
        ask_log(step::claim);
    }

    /// Forgets the answers of the wave, so that more states of a search are equal.
    [[SETTLE_INLINED]] void ask_log(step wanted) {
        answers_.reset();
        next_ = wanted;
    }

    part_answers answers_;
    epoch epoch_ = 0;     ///< the epoch that this worker holds; 0 if it holds none
    epoch seen_ = 0;      ///< the epoch that the next insert writes or compare-and-set expects
    epoch committed_ = 0;
    std::size_t failed_ = no_part;
    std::uint32_t attempts_ = 0;
    step next_ = step::end;
    settle::state state_ = settle::state::initial;
    goal goal_ = goal::run;
    reason why_ = reason::none;
    bool wrote_ = false;    ///< this worker has sent an apply to a store
    bool unsure_ = false;   ///< after a log write of unknown outcome, until one is acknowledged
    bool pausing_ = false;  ///< pause after the next claim
    bool requeueing_ = false; ///< starts over behind an earlier transaction of the window
    bool one_phase_ = false; ///< runs in one phase if the entry is new or `initial`
    settle::state decided_state_ = settle::state::initial; ///< the final state, in one phase
    bool known_ = false;    ///< the log had the entry
    bool vanished_ = false;
};

/// The coordinator with all rules.
using coordinator = basic_coordinator<detail::protocol_rules>;

SETTLE_END
