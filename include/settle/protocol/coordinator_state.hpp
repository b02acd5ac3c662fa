// SPDX-License-Identifier: BSL-1.0
// The data of a coordinator, with the functions that its driver and a search read it by.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/protocol/part_answers.hpp>
#include <settle/protocol/step.hpp>

#include <algorithm>

SETTLE_BEGIN

/// The stages of one transaction. A transaction without calls has one stage.
struct stage_progress {
    stage_number count = 1;
    bool has_pivot = false;       ///< the last stage is the pivot
    bool confirms = true;         ///< a part has work after the commit
    bool is_undone = false;       ///< all stages up to the current one are compensated
    bool undone_by_stage = false; ///< see stage_plan
    stage_number current = 0;     ///< the stage whose parts the next wave sends
    stage_number kept = 0;        ///< the number of stages whose results the entry has
    std::uint32_t revision = 0;

    /// True if the next wave sends parts of a stage.
    [[nodiscard]] bool sends(stage_number stage) const noexcept {
        return stage == current || (is_undone && stage < current);
    }
    [[nodiscard]] bool is_last() const noexcept { return current + 1 == count; }
    /// True if the pivot is called after the next keep.
    [[nodiscard]] bool pivot_is_next() const noexcept { return has_pivot && kept + 2 == count; }
    /// True if no worker can have called a stage after the first.
    [[nodiscard]] bool only_first() const noexcept { return kept == 0 && current == 0; }

    /// All members in one number; 0 if there is only one stage.
    [[nodiscard]] std::uint64_t packed() const noexcept {
        return (std::uint64_t{count} - 1) | std::uint64_t{current} << 8U |
               std::uint64_t{kept} << 16U | (has_pivot ? 1U : 0U) << 24U |
               (confirms ? 0U : 1U) << 25U | (is_undone ? 1U : 0U) << 26U |
               std::uint64_t{revision} << 32U;
    }

    friend bool operator==(stage_progress const&, stage_progress const&) = default;
};

/// The base of every basic_coordinator. The derived class has the rules of the protocol.
class coordinator_state {
public:
    static constexpr std::size_t no_part = ~std::size_t{0};

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

    [[nodiscard]] stage_number stages() const noexcept { return stages_.count; }
    /// The stage whose parts the next step sends; the highest of them if it sends several stages.
    [[nodiscard]] stage_number stage() const noexcept { return stages_.current; }
    [[nodiscard]] stage_number stages_kept() const noexcept { return stages_.kept; }
    [[nodiscard]] std::uint32_t revision() const noexcept { return stages_.revision; }
    /// False if a later stage may have been called. Then requeue() must not be called.
    [[nodiscard]] bool may_start_over() const noexcept { return stages_.only_first(); }

    /// True if the next step must send this part of a transaction with one stage to its store.
    [[nodiscard]] bool due(std::size_t part) const noexcept {
        return answers_[part] == answer::none || answers_[part] == answer::unavailable;
    }
    /// As above for any number of stages. A coordinator does not store the stages of parts; the
    /// caller passes the stage from the part's descriptor.
    [[nodiscard]] bool due(std::size_t part, stage_number of_part) const noexcept {
        return due(part) && stages_.sends(of_part);
    }

    /// The state in which the entry is inserted, and its epoch.
    [[nodiscard]] settle::state insert_state() const noexcept {
        bool const decides = next_ == step::one_phase || next_ == step::decide;
        bool const bars = goal_ == goal::tombstone && is_birth(seen_);
        bool const cancels =
            next_ == step::refuse || goal_ == goal::cancel || goal_ == goal::tombstone;
        return decides                 ? decided_state_
               : goal_ == goal::submit ? settle::state::initial
               : bars                  ? settle::state::barred
               : cancels               ? settle::state::canceled
                                       : settle::state::pending;
    }
    [[nodiscard]] epoch insert_epoch() const noexcept { return seen_; }
    /// The bar that step::insert replaces, by its epoch; 0 if there is none.
    [[nodiscard]] epoch replaced_bar() const noexcept { return bar_; }
    /// The epoch whose marks step::back_off undoes.
    [[nodiscard]] epoch undone_epoch() const noexcept { return clearing_ ? other_ : epoch_; }
    /// True if this call may have marks, and has no entry.
    [[nodiscard]] bool is_late() const noexcept { return late_; }
    /// True if the commit executes the parts in the log's own store. Until then they have no mark,
    /// and no other wave sends them.
    [[nodiscard]] bool joins() const noexcept { return is_first_; }
    /// True if a store may lose the confirms until step::force: the entry stays open until then.
    [[nodiscard]] bool confirms_lazily() const noexcept { return lazy_; }
    void confirm_lazily() noexcept { lazy_ = true; }
    /// For a joined commit: true if its native transaction must write the entry, since all parts
    /// are applied; false if it must change nothing.
    [[nodiscard]] bool may_join() const noexcept { return answers_.all(answer::applied); }
    /// True if a part of a wave must be sent again before it can be decided.
    [[nodiscard]] bool must_ask_again() const noexcept {
        return answers_.contains(answer::unavailable) || answers_.contains(answer::none);
    }

    /// True if a part found a mark with a higher epoch: another worker has claimed the entry.
    [[nodiscard]] bool fenced() const noexcept { return answers_.contains(answer::fenced); }
    /// True if the worker pauses before its next try.
    [[nodiscard]] bool pauses() const noexcept { return pausing_; }

    /// For `step::one_phase`: true if the step inserts the entry, false if it changes the entry.
    [[nodiscard]] bool inserts() const noexcept { return !in_log_ && goal_ != goal::recover; }

    /// Takes a store's answer to a part.
    /// Shape:   other - of answer::other_call: the epoch of the mark that is there
    void answered(std::size_t part, answer reply, epoch other = 0) noexcept {
        // A mark that a store does not name cannot be undone.
        answers_[part] = reply == answer::other_call && other == 0 ? answer::busy : reply;
        if (other != 0) other_ = other;
    }
    /// Makes the next step read the entry: after a wait, or before an insert that may find it.
    void look_again() { next_ = step::read; }
    /// Instead of decide_one_phase(), if an earlier transaction of the window must end first: the
    /// native transaction then writes nothing for this transaction.
    void clear_decision() {
        why_ = reason::none;
        failed_ = no_part;
        decided_state_ = settle::state::initial;
    }

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
        seed = hash_mix(
            seed, (wrote_ ? 1U : 0U) | (unsure_ ? 2U : 0U) | (pausing_ ? 4U : 0U) |
                      (vanished_ ? 8U : 0U) | (in_log_ ? 16U : 0U) | (one_phase_ ? 32U : 0U) |
                      (requeueing_ ? 64U : 0U) | (joins_ ? 128U : 0U) | (is_first_ ? 256U : 0U) |
                      (late_ ? 512U : 0U) | (backs_out_ ? 1024U : 0U) | (clearing_ ? 2048U : 0U) |
                      (lazy_ ? 4096U : 0U) | static_cast<std::uint64_t>(decided_state_) << 16U);
        if (other_ != 0) seed = hash_mix(seed, other_);
        if (bar_ != 0) seed = hash_mix(seed, bar_ + 1);
        if (stages_.packed() != 0) seed = hash_mix(seed, stages_.packed());
        for (answer const one : answers_) seed = hash_mix(seed, static_cast<std::uint64_t>(one));
        return seed;
    }

    /// Lets a search renumber epochs: states that differ only in absolute epochs become equal.
    template <typename Function>
    void visit_epochs(Function&& function) {
        function(epoch_);
        function(seen_);
        function(committed_);
        function(other_);
        function(bar_);
    }

    /// Lets a search cap the number of attempts, so that its state space stays finite.
    template <typename Function>
    void visit_attempts(Function&& function) {
        function(attempts_);
    }

    friend bool operator==(coordinator_state const&, coordinator_state const&) = default;

protected:
    coordinator_state() = default;
    coordinator_state(std::size_t parts, goal purpose, stage_plan stages)
        : answers_(parts), goal_(purpose) {
        stages_.count = stages.count;
        stages_.has_pivot = stages.has_pivot;
        stages_.confirms = stages.confirms;
        stages_.undone_by_stage = stages.undone_by_stage;
    }

    /// Transactions with several stages have two phases.
    void choose(phases how) noexcept {
        one_phase_ = how == phases::one && stages_.count == 1;
        late_ = how == phases::late && goal_ == goal::run && stages_.count == 1;
        joins_ = (how == phases::joined || how == phases::late) && stages_.count == 1;
    }
    [[nodiscard]] bool holds_epoch() const noexcept { return epoch_ != 0; }

    /// True if one phase is still possible: an entry that began in two phases ends in two.
    [[nodiscard]] bool one_phase_next() const noexcept {
        return one_phase_ && !holds_epoch() && state_ == settle::state::initial;
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
        stages_.revision = entry.revision;
        stages_.kept = entry.stages_kept;
    }

    [[nodiscard]] settle::state closed_state() const noexcept {
        return state_ == settle::state::applied ? settle::state::done : settle::state::canceled;
    }
    [[nodiscard]] settle::state canceling_state() const noexcept {
        return state_ == settle::state::initial ? settle::state::canceled
                                                : settle::state::canceling;
    }

    part_answers answers_;
    epoch epoch_ = 0; ///< the epoch that this worker holds; 0 if it holds none
    epoch other_ = 0; ///< the epoch of a mark of another call, which this worker has met
    epoch seen_ = 0;  ///< the epoch that the next insert writes or compare-and-set expects
    epoch bar_ = 0;   ///< of the bar that was read in place of an entry, or 0
    epoch committed_ = 0;
    std::size_t failed_ = no_part;
    stage_progress stages_;
    std::uint32_t attempts_ = 0;
    step next_ = step::end;
    settle::state state_ = settle::state::initial;
    goal goal_ = goal::run;
    reason why_ = reason::none;
    bool wrote_ = false;      ///< this worker has sent an apply to a store
    bool unsure_ = false;     ///< after a log write of unknown outcome, until one is acknowledged
    bool pausing_ = false;    ///< pause after the next claim
    bool requeueing_ = false; ///< starts over after an earlier transaction of the window
    bool one_phase_ = false;  ///< runs in one phase if the entry is new or `initial`
    bool joins_ = false;      ///< the commit executes the parts in the log's own store
    bool is_first_ = false;   ///< of these: parts were applied under claims of this worker alone
    settle::state decided_state_ = settle::state::initial; ///< the final state, in one phase
    bool in_log_ = false; ///< the log had the entry, or took its insert
    bool vanished_ = false;
    bool late_ = false;      ///< this call may have marks of its birth, and has no entry
    bool backs_out_ = false; ///< of a late call: its marks go, and it looks for an entry then
    bool clearing_ = false;  ///< step::back_off undoes marks of another call
    bool lazy_ = false;      ///< its confirms, or those of an earlier worker, may be lost
};

SETTLE_END
