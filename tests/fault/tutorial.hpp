// SPDX-License-Identifier: BSL-1.0
// The protocol of MongoDB's tutorial "Perform Two Phase Commits", as a coordinator for the search:
// states on the transaction, one bare mark on each account, recovery by time.
// Source: MongoDB manual 3.4, "Perform Two Phase Commits"
#pragma once

#include <settle/testing/explore.hpp>

namespace explored {

using settle::answer;
using settle::epoch;
using settle::log_answer;
using settle::standing;
using settle::state;
using settle::step;

/// Shape:   Owned - a worker that takes a transaction over writes its name or epoch into it, and
///          every later change of the transaction compares this value
template <bool Owned>
class tutorial_coordinator {
public:
    tutorial_coordinator() = default;

    static tutorial_coordinator begin(std::size_t parts, epoch, settle::goal = settle::goal::run) {
        return {parts, step::insert};
    }
    /// Recovery: continues a transaction that has not moved for a while, from its state.
    static tutorial_coordinator take(std::size_t parts, standing const& current) {
        tutorial_coordinator coordinator{parts, step::end};
        coordinator.adopt(current);
        if (Owned) coordinator.next_ = step::claim;
        else coordinator.go_on();
        return coordinator;
    }
    static tutorial_coordinator cancel(std::size_t parts) { return {parts, step::read}; }

    [[nodiscard]] step next() const { return next_; }
    [[nodiscard]] settle::state state() const { return state_; }
    [[nodiscard]] std::size_t parts() const { return answers_.size(); }
    [[nodiscard]] epoch epoch_number() const { return owner_; }
    [[nodiscard]] epoch latest() const { return owner_; }
    [[nodiscard]] epoch committed() const { return owner_; }
    [[nodiscard]] settle::state insert_state() const { return state::initial; }
    [[nodiscard]] epoch insert_epoch() const { return 1; }
    [[nodiscard]] bool due(std::size_t part) const { return answers_[part] == answer::none; }

    [[nodiscard]] settle::transition change() const {
        using enum settle::state;
        auto const to = next_ == step::claim    ? (state_ == initial ? pending : state_)
                        : next_ == step::commit ? applied
                        : next_ == step::cancel ? canceling
                        : state_ == applied     ? done
                                                : canceled;
        epoch const owner = Owned && next_ == step::claim ? owner_ + 1 : owner_;
        epoch const committed = to == applied || to == done ? owner : 0;
        return {state_, owner_, to, owner, committed, 0, settle::reason::none, false};
    }

    void inserted(log_answer reply, bool) {
        owner_ = 1;
        moved(reply, step::claim);
    }
    void claimed(log_answer reply, bool) {
        if (!moved(reply, step::apply)) return;
        if (Owned) ++owner_;
        if (state_ == state::initial) state_ = state::pending;
        go_on();
    }
    void committed(log_answer reply) {
        if (moved(reply, step::confirm)) state_ = state::applied;
    }
    void canceled(log_answer reply) {
        if (moved(reply, step::compensate)) state_ = state::canceling;
    }
    void closed(log_answer reply) {
        if (moved(reply, step::end)) {
            state_ = state_ == state::applied ? state::done : state::canceled;
        }
    }

    void found_nothing(settle::view_of_entry const&) { next_ = step::insert; }
    void found(standing const& now, settle::view_of_entry const&) {
        adopt(now);
        go_on();
    }

    void answered(std::size_t part, answer reply) { answers_[part] = reply; }
    void decide(std::uint32_t) {
        // A part that timed out is sent again: the mark should prevent a second effect.
        std::replace(answers_.begin(), answers_.end(), answer::unknown, answer::none);
        if (answers_.contains(answer::none)) return;
        if (next_ != step::apply) start(step::close);
        else start(settled() ? step::commit : step::cancel);
    }
    void resume() {}
    void look_again() { next_ = step::read; }

    [[nodiscard]] std::size_t hash() const {
        std::size_t seed =
            settle::hash_mix(static_cast<std::size_t>(next_), static_cast<std::uint64_t>(state_));
        seed = settle::hash_mix(seed, owner_);
        for (answer const one : answers_) {
            seed = settle::hash_mix(seed, static_cast<std::uint64_t>(one));
        }
        return seed;
    }
    template <typename Function>
    void visit_epochs(Function&& function) {
        function(owner_);
    }
    template <typename Function>
    void visit_attempts(Function&&) {}

private:
    tutorial_coordinator(std::size_t parts, step first) : answers_(parts), next_(first) {}

    void adopt(standing const& now) {
        state_ = now.state;
        owner_ = now.epoch_number;
    }
    void start(step action) {
        answers_.reset();
        next_ = action;
    }
    void go_on() {
        switch (state_) {
        case state::initial: return start(step::claim);
        case state::pending: return start(step::apply);
        case state::applied: return start(step::confirm);
        case state::canceling: return start(step::compensate);
        default: return start(step::end);
        }
    }
    bool moved(log_answer reply, step then) {
        if (reply == log_answer::taken) start(then);
        else start(reply == log_answer::unknown ? step::read : step::end);
        return reply == log_answer::taken;
    }
    [[nodiscard]] bool settled() const {
        return std::all_of(answers_.begin(), answers_.end(),
                           [](answer answer) { return answer == answer::applied; });
    }

    settle::part_answers answers_;
    epoch owner_ = 0;
    step next_ = step::end;
    settle::state state_ = state::initial;
};

/// A mark is there or it is not, and a transaction changes by compare-and-set on its state alone.
struct tutorial_rules : settle::detail::protocol_rules {
    static constexpr bool marks_carry_epochs = false;
    static constexpr bool changes_compare = false;
};
/// The same, where a transaction also compares its owner.
struct owned_rules : tutorial_rules {
    static constexpr bool changes_compare = true;
};

using tutorial = settle::testing::searched_protocol<tutorial_coordinator<false>, tutorial_rules>;
using owned_tutorial = settle::testing::searched_protocol<tutorial_coordinator<true>, owned_rules>;

} // namespace explored
