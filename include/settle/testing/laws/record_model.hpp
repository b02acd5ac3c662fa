// SPDX-License-Identifier: BSL-1.0
// A model of one record with many parts: the answers and the record that the record rule must
// give, computed without marks.
#pragma once

#include <settle/protocol/record_rule.hpp>
#include <settle/testing/laws/evaluated_part.hpp>

SETTLE_BEGIN
namespace testing {
namespace laws {

/// A part that is applied, and neither confirmed nor undone.
template <Described Record>
struct pending_part {
    transaction_id id;
    part_number part;
    epoch number = 0;
    evaluated_part<Record> evaluated;
    std::optional<Record> before; ///< the record before the apply; an undo of an exclusive part
                                  ///< restores it
};

/// The permitted answers. There are two if a guard fails and an effect overflows.
struct expected_answer {
    answer first = answer::applied;
    answer second = answer::applied;

    [[nodiscard]] bool allows(answer actual) const { return actual == first || actual == second; }
};

/// The record by plain evaluation, and its pending parts.
template <Described Record>
class record_model {
public:
    std::optional<Record> record;
    std::vector<pending_part<Record>> pending;

    [[nodiscard]] pending_part<Record>* find(transaction_id const& id, part_number part) {
        for (auto& candidate : pending) {
            if (candidate.id == id && candidate.part == part) return &candidate;
        }
        return nullptr;
    }

    [[nodiscard]] expected_answer expect(transaction_id const& id,
                                         evaluated_part<Record> const& evaluated) const {
        bool own = false;
        bool own_exclusive = false;
        bool exclusive = false;
        for (auto const& other : pending) {
            own = own || other.id == id;
            own_exclusive = own_exclusive || (other.id == id && other.evaluated.exclusive);
            exclusive = exclusive || other.evaluated.exclusive;
        }
        if (own_exclusive || (own && evaluated.exclusive)) return only(answer::two_parts);
        if (exclusive) return only(answer::busy);
        if (evaluated.creates != !record.has_value()) {
            return only(evaluated.creates ? answer::record_exists : answer::record_missing);
        }
        if (evaluated.exclusive) {
            return pending.empty() ? expect_guards(evaluated) : only(answer::busy);
        }
        bool moved = false;
        bool moved_own = false;
        for (auto const& other : pending) {
            for_each_integer<Record>([&](auto m, auto position) {
                bool const moves =
                    other.evaluated.apply[position] != 0 || other.evaluated.confirm[position] != 0;
                if (!moves || (evaluated.exact_fields >> m.index & 1U) == 0) return;
                moved = true;
                moved_own = moved_own || other.id == id;
            });
        }
        if (moved) return only(moved_own ? answer::two_parts : answer::busy);
        return expect_guards(evaluated);
    }

    /// Applies a part for which the record rule answered `applied`.
    void apply(transaction_id id, part_number part, epoch number,
               evaluated_part<Record> evaluated) {
        pending_part<Record> pending_part{std::move(id), part, number, std::move(evaluated),
                                          record};
        if (pending_part.evaluated.exclusive) record = pending_part.evaluated.pending;
        else add(pending_part.evaluated.apply, 1);
        pending.push_back(std::move(pending_part));
    }

    /// Confirms or undoes a pending part.
    void end(pending_part<Record>* part, bool confirmed) {
        auto const& evaluated = part->evaluated;
        if (evaluated.exclusive) record = confirmed ? evaluated.confirmed : part->before;
        else if (confirmed) add(evaluated.confirm, 1);
        else add(evaluated.apply, -1);
        pending.erase(pending.begin() + (part - pending.data()));
    }

    /// True if a member left its range: then the answer `applied` of the record rule was wrong.
    [[nodiscard]] bool wrapped() const noexcept { return wrapped_; }

private:
    static expected_answer only(answer reply) { return {reply, reply}; }

    void add(wides<Record> const& deltas, int sign) {
        for_each_integer<Record>([&](auto m, auto position) {
            auto& member = m.in(*record);
            assign(member, wide{member} + sign * deltas[position], wrapped_);
        });
    }

    /// Calls `function` with every value that a member can reach, when each pending part stays
    /// pending, is confirmed or is undone.
    template <typename Function>
    void for_each_end(std::size_t position, wide value, Function const& function,
                      std::size_t from = 0) const {
        if (from == pending.size()) {
            function(value);
            return;
        }
        auto const& evaluated = pending[from].evaluated;
        for_each_end(position, value, function, from + 1);
        for_each_end(position, value + evaluated.confirm[position], function, from + 1);
        for_each_end(position, value - evaluated.apply[position], function, from + 1);
    }

    [[nodiscard]] expected_answer expect_guards(evaluated_part<Record> const& evaluated) const {
        if (evaluated.guard_overflow) return only(answer::overflow);
        bool hold = evaluated.hold;
        bool overflow = evaluated.effect_overflow;
        for_each_integer<Record>([&](auto m, auto position) {
            using type = typename decltype(m)::type;
            // A record that is created has no value that a bound could limit.
            wide const value = record ? wide{m.in(*record)} : wide{0};
            for_each_end(position, value, [&](wide reached) {
                for (plain_bound const& bound : evaluated.bounds) {
                    if (bound.position != position) continue;
                    hold = hold && (bound.side == bound_side::lower ? reached >= bound.limit
                                                                    : reached <= bound.limit);
                }
                wide const applied = reached + evaluated.apply[position];
                overflow = overflow || !fits_in<type>(applied) ||
                           !fits_in<type>(applied + evaluated.confirm[position]);
            });
            overflow = overflow || !fits_64(-evaluated.apply[position]);
        });
        hold = hold && (evaluated.amounts_hold || !evaluated.exclusive);
        if (hold) return only(overflow ? answer::overflow : answer::applied);
        return {answer::guard_failed, overflow ? answer::overflow : answer::guard_failed};
    }

    bool wrapped_ = false;
};

} // namespace laws
} // namespace testing
SETTLE_END
