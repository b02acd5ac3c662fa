// SPDX-License-Identifier: BSL-1.0
// The coordinator of one transaction: says the next step, is given the answers, and moves.
//
// It is a value. It owns no thread, clock, store, key or parameter; the engine, the batch driver
// and the exhaustive search drive the same code. The protocol is told in ../README.md.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/protocol/part_answers.hpp>
#include <settle/protocol/rules.hpp>

SETTLE_BEGIN

/// What a coordinator wants done next.
enum class step : std::uint8_t {
    insert,         ///< log: insert the entry
    read,           ///< log: read the entry
    claim,          ///< log: raise the epoch and become the owner
    commit,         ///< log: pending → applied
    close,          ///< log: applied → done, canceling → canceled
    cancel,         ///< log: pending → canceling, initial → canceled
    apply,          ///< stores: apply the parts that are due
    confirm,        ///< stores: finish the parts that are due, by the committed epoch
    compensate,     ///< stores: undo the parts that are due, whatever their epoch
    give_way,       ///< stores: undo the parts that are due, of exactly this epoch
    pause,          ///< driver: wait a little, then resume()
    wait,           ///< driver: another owner is at work; wait, then look_again()
    end             ///< nothing: `state()` says how it ended
};

[[nodiscard]] constexpr std::string_view name_of(step value) {
    constexpr std::string_view names[]{"insert", "read",       "claim",    "commit", "close",
                                       "cancel", "apply",      "confirm",  "compensate",
                                       "give way", "pause",    "wait",     "end"};
    return names[static_cast<std::size_t>(value)];
}

/// How the log answered an insert or a compare-and-set.
enum class log_answer : std::uint8_t {
    taken,       ///< acknowledged
    conflict,    ///< the entry was there already, or not in the expected state and epoch
    unavailable, ///< did not take effect; may be asked again
    unknown      ///< took effect at most once, possibly later
};

/// A compare-and-set of an entry.
struct transition {
    state from = state::initial;
    epoch from_epoch = 0;
    state to = state::initial;
    epoch to_epoch = 0;
    epoch committed = 0;
    std::uint32_t attempts = 0;
    reason why = reason::none;
    bool takes_owner = false;
};

/// What a driver wants of a transaction.
enum class goal : std::uint8_t {
    run,     ///< insert it as `pending` and bring it to its end
    submit,  ///< insert it as `initial`
    recover, ///< bring an entry that is there to its end
    cancel,  ///< cancel an entry, whoever owns it; one that is not there is inserted as `canceled`
    annul    ///< insert it as `canceled`; an entry that is there is left alone
};

/// What a driver knows when it shows an entry to its coordinator.
struct view_of_entry {
    bool mine = false;      ///< its owner is this process
    bool abandoned = false; ///< its owner is gone, or has stood still for too long
    epoch fresh = 0;        ///< an epoch unique to the next insert
};

/// Shape:   Rules - all of them, except in a search
template <typename Rules>
class basic_coordinator {
public:
    static constexpr std::size_t no_part = ~std::size_t{0};

    basic_coordinator() = default;

    /// A transaction that is new to the log.
    /// Shape:   parts - how many parts it has; first - an epoch unique to this insert
    [[nodiscard]] static basic_coordinator begin(std::size_t parts, epoch first,
                                                 goal wanted = goal::run) {
        basic_coordinator made{parts, wanted};
        if (wanted == goal::annul) made.why_ = reason::mark_without_entry;
        made.next_ = step::insert;
        made.seen_ = first;
        return made;
    }

    /// An entry that the driver has chosen to take over.
    [[nodiscard]] static basic_coordinator take(std::size_t parts, standing const& found) {
        basic_coordinator made{parts, goal::recover};
        made.adopt(found);
        made.next_ = step::claim;
        return made;
    }

    /// An entry to be canceled, whoever owns it; the reason is kept with it.
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
    /// The latest epoch that a mark of this entry can have.
    [[nodiscard]] epoch latest() const noexcept { return seen_; }
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempts_; }
    [[nodiscard]] reason why() const noexcept { return why_; }
    /// The part that made it cancel, or `no_part`.
    [[nodiscard]] std::size_t failed_part() const noexcept { return failed_; }
    [[nodiscard]] std::size_t parts() const noexcept { return answers_.size(); }
    [[nodiscard]] answer answer_of(std::size_t part) const noexcept { return answers_[part]; }
    /// True when the entry was there and is gone: no protocol step does that within its lifetime.
    [[nodiscard]] bool vanished() const noexcept { return vanished_; }

    /// The state in which the entry is inserted, and its epoch.
    [[nodiscard]] settle::state insert_state() const noexcept {
        return goal_ == goal::submit ? settle::state::initial
               : goal_ == goal::cancel || goal_ == goal::annul ? settle::state::canceled
                                                                : settle::state::pending;
    }
    [[nodiscard]] epoch insert_epoch() const noexcept { return seen_; }

    /// The compare-and-set that the next step asks of the log.
    [[nodiscard]] transition change() const noexcept {
        switch (next_) {
        case step::claim:
            return {state_, seen_,
                    state_ == settle::state::initial ? settle::state::pending : state_, raised(),
                    committed_, attempts_ + 1, reason::none, true};
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
        default: return {};
        }
    }

    /// True when the step that is next has this part to do.
    [[nodiscard]] bool due(std::size_t part) const noexcept {
        return answers_[part] == answer::none || answers_[part] == answer::unavailable;
    }

    // ------------------------------------------------------------------------- what the log says

    /// Shape:   expired - the entry is older than a transaction may be
    void inserted(log_answer said, bool expired) {
        if (!moved(said)) return;
        known_ = true;
        state_ = insert_state();
        epoch_ = seen_;
        if (goal_ != goal::run) next_ = step::end;
        else if (expired && Rules::lifetimes) cancel_for(reason::expired);
        else start(step::apply);
    }

    /// The log has no entry of this id.
    void found_nothing(view_of_entry const& view) {
        if (known_ || goal_ == goal::recover) {
            vanished_ = true;
            next_ = step::end;
            return;
        }
        // The claims of its lost insert, should it land yet, never come to the epochs of this one.
        seen_ = std::max(view.fresh, seen_ + births_apart);
        next_ = step::insert;
    }

    void found(standing const& entry, view_of_entry const& view) {
        bool const claimable = view.abandoned || (view.mine && unsure_);
        adopt(entry);
        // Whoever has to look holds nothing any more: only a new claim gives an epoch.
        known_ = true;
        epoch_ = 0;
        if (is_final(state_)) {
            // What this worker wrote after another one decided may still be there: it is stray.
            if (!wrote_) next_ = step::end;
            else start(state_ == settle::state::done ? step::confirm : step::compensate);
        } else if (goal_ == goal::submit || goal_ == goal::annul) {
            next_ = step::end;
        } else if (goal_ == goal::cancel &&
                   (state_ == settle::state::initial || state_ == settle::state::pending)) {
            next_ = step::cancel;
        } else {
            next_ = claimable ? step::claim : step::wait;
        }
    }

    /// The driver has waited; the entry is looked at again.
    void look_again() { next_ = step::read; }

    void claimed(log_answer said, bool expired) {
        if (!moved(said)) return;
        epoch_ = seen_ = raised();
        ++attempts_;
        if (state_ == settle::state::applied) {
            start(step::confirm);
        } else if (state_ == settle::state::canceling) {
            start(step::compensate);
        } else {
            // It starts over, so what failed under an earlier epoch says nothing any more.
            state_ = settle::state::pending;
            why_ = reason::none;
            failed_ = no_part;
            if (expired && Rules::lifetimes) cancel_for(reason::expired);
            else start(pausing_ ? step::pause : step::apply);
        }
        pausing_ = false;
    }

    /// The pause is over.
    void resume() { start(step::apply); }

    void committed(log_answer said) {
        if (!moved(said)) return;
        committed_ = epoch_;
        state_ = settle::state::applied;
        start(step::confirm);
    }

    void closed(log_answer said) {
        if (!moved(said)) return;
        state_ = state_ == settle::state::applied ? settle::state::done : settle::state::canceled;
        next_ = step::end;
    }

    void canceled(log_answer said) {
        if (!moved(said)) return;
        if (!held()) epoch_ = ++seen_;
        if (state_ == settle::state::initial) {
            state_ = settle::state::canceled;
            next_ = step::end;
        } else {
            state_ = settle::state::canceling;
            start(step::compensate);
        }
    }

    // ---------------------------------------------------------------------- what the stores say

    void answered(std::size_t part, answer said) noexcept { answers_[part] = said; }

    /// Every part that was due has an answer.
    /// Shape:   limit - how often a transaction that meets others' marks starts over
    void decide(std::uint32_t limit) {
        if (next_ == step::apply) decide_apply(limit);
        else if (next_ == step::give_way) decide_give_way();
        else decide_finish();
    }

    /// The user asked for the end of this transaction before it committed, or the limit is reached.
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
                                  (vanished_ ? 8U : 0U) | (known_ ? 16U : 0U));
        for (answer const one : answers_) seed = hash_mix(seed, static_cast<std::uint64_t>(one));
        return seed;
    }

    /// Lets a search rename epochs, so that states that differ in absolute numbers are one.
    template <typename Function>
    void visit_epochs(Function&& function) {
        function(epoch_);
        function(seen_);
        function(committed_);
    }

    /// Lets a search cap what only a limit looks at, so that its states stay finite.
    template <typename Function>
    void visit_attempts(Function&& function) {
        function(attempts_);
    }

private:
    basic_coordinator(std::size_t parts, goal wanted) : answers_(parts), goal_(wanted) {}

    [[nodiscard]] bool held() const noexcept { return epoch_ != 0; }

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

    /// True when a compare-and-set was acknowledged; otherwise what to do next is settled here.
    bool moved(log_answer said) {
        bool const begins = next_ == step::insert || next_ == step::claim;
        if (said == log_answer::unknown && begins && !Rules::acknowledged_only) return true;
        if (said == log_answer::taken) {
            unsure_ = false;
            return true;
        }
        if (said == log_answer::unavailable) return false;
        // A conflict may be with its own write of unknown outcome, landed meanwhile.
        unsure_ = unsure_ || said == log_answer::unknown;
        pausing_ = false;
        next_ = step::read;
        return false;
    }

    void decide_apply(std::uint32_t limit) {
        if (answers_.contains(answer::fenced)) {
            unsure_ = false;
            ask_log(step::read);
            return;
        }
        for (std::size_t part = 0; part < answers_.size(); ++part) {
            if (reason const why = reason_of(answers_[part]); why != reason::none) {
                cancel_for(why, part);
                return;
            }
        }
        if (answers_.contains(answer::unavailable)) return;
        if (answers_.contains(answer::unknown)) repeat();
        else if (answers_.contains(answer::busy)) give_way(limit);
        else ask_log(step::commit);
    }

    /// An apply may have taken effect: a new epoch tells its late copy from the next.
    void repeat() {
        if constexpr (Rules::unknown_claims && Rules::all_parts_again) return claim_again();
        part_answers const before = answers_;
        if constexpr (Rules::unknown_claims) claim_again();
        answers_ = before;
        forget(answer::unknown);
    }

    /// Nobody waits while holding a mark.
    void give_way(std::uint32_t limit) {
        if constexpr (!Rules::gives_way) return forget(answer::busy);
        if (attempts_ >= limit) {
            auto const* const first = std::find(answers_.begin(), answers_.end(), answer::busy);
            cancel_for(reason::busy, static_cast<std::size_t>(first - answers_.begin()));
            return;
        }
        for (answer& one : answers_) {
            one = one == answer::applied ? answer::none : answer::nothing;
        }
        next_ = step::give_way;
        if (!answers_.contains(answer::none)) begin_again();
    }

    void decide_give_way() {
        if (!answers_.contains(answer::unavailable)) begin_again();
    }

    void begin_again() {
        if constexpr (Rules::gives_way_anew) return claim_again();
        ++attempts_;
        answers_.reset();
        next_ = step::pause;
    }

    void forget(answer forgotten) {
        std::replace(answers_.begin(), answers_.end(), forgotten, answer::none);
    }

    /// A finish or an undo meets the same mark or none, however often it is asked.
    void decide_finish() {
        bool all = true;
        for (answer& one : answers_) {
            if (one == answer::unknown) one = answer::none;
            all = all && one != answer::none && one != answer::unavailable;
        }
        if (!all) return;
        ask_log(is_final(state_) ? step::end : step::close);
    }

    void claim_again() {
        pausing_ = true;
        ask_log(step::claim);
    }

    /// The answers of a wave are used up: forgetting them makes states of a search alike.
    void ask_log(step wanted) {
        answers_.reset();
        next_ = wanted;
    }

    part_answers answers_;
    epoch epoch_ = 0;     ///< the epoch that this worker holds; 0 while it holds none
    epoch seen_ = 0;      ///< the epoch that the next compare-and-set expects, or inserts
    epoch committed_ = 0;
    std::size_t failed_ = no_part;
    std::uint32_t attempts_ = 0;
    step next_ = step::end;
    settle::state state_ = settle::state::initial;
    goal goal_ = goal::run;
    reason why_ = reason::none;
    bool wrote_ = false;    ///< this worker has sent an apply to a store
    bool unsure_ = false;   ///< a write to the log is of unknown outcome, and none followed it
    bool pausing_ = false;  ///< pause after the next claim
    bool known_ = false;    ///< the entry was there once
    bool vanished_ = false;
};

/// The coordinator that runs.
using coordinator = basic_coordinator<detail::protocol_rules>;

SETTLE_END
