// SPDX-License-Identifier: BSL-1.0
// The visited states of a search, as fingerprints, each with the move that led to it.
#pragma once

#include <settle/testing/explore/fingerprint.hpp>

#include <limits>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// Cost:    about 40 bytes for each state, and 4 bytes for each protocol step between two states
class seen_states {
public:
    using number = std::uint32_t;
    static constexpr number none = std::numeric_limits<number>::max();

    seen_states() : table_(1U << 16U, none) {}

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

    /// The number of a state, and whether it is new.
    std::pair<number, bool> add(fingerprint const& print, number parent, std::uint16_t move) {
        if (nodes_.size() * 2 > table_.size()) grow();
        std::size_t const index = slot(print);
        if (table_[index] != none) return {table_[index], false};
        table_[index] = static_cast<number>(nodes_.size());
        nodes_.push_back({print, parent, move});
        return {table_[index], true};
    }

    /// The moves that lead to a state, from the first.
    [[nodiscard]] std::vector<std::uint16_t> path(number index) const {
        std::vector<std::uint16_t> moves;
        for (; nodes_[index].parent != none; index = nodes_[index].parent)
            moves.push_back(nodes_[index].move);
        std::reverse(moves.begin(), moves.end());
        return moves;
    }

    // States are expanded in the order of their numbers, so all steps fit in one vector.

    void step_to(number to) { steps_.push_back(to); }
    void expanded(bool is_end) {
        step_ends_.push_back(steps_.size());
        can_end_.push_back(is_end);
    }

    /// The first state from which protocol steps alone reach no end, or `none`.
    [[nodiscard]] number first_stuck() {
        for (bool changed = true; changed;) {
            changed = false;
            // Most steps lead to higher numbers, so that a few backward passes suffice.
            for (std::size_t i = can_end_.size(); i-- > 0;) {
                if (can_end_[i]) continue;
                for (std::size_t s = i == 0 ? 0 : step_ends_[i - 1]; s < step_ends_[i]; ++s) {
                    if (!can_end_[steps_[s]]) continue;
                    can_end_[i] = true;
                    changed = true;
                    break;
                }
            }
        }
        for (std::size_t i = 0; i < can_end_.size(); ++i) {
            if (!can_end_[i]) return static_cast<number>(i);
        }
        return none;
    }

private:
    struct node {
        fingerprint print;
        number parent;
        std::uint16_t move;
    };

    [[nodiscard]] std::size_t slot(fingerprint const& print) const {
        std::size_t index = print.first & (table_.size() - 1);
        while (table_[index] != none && nodes_[table_[index]].print != print) {
            index = (index + 1) & (table_.size() - 1);
        }
        return index;
    }

    void grow() {
        table_.assign(table_.size() * 2, none);
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            table_[slot(nodes_[i].print)] = static_cast<number>(i);
        }
    }

    std::vector<node> nodes_;
    std::vector<number> table_;
    std::vector<number> steps_;
    std::vector<std::size_t> step_ends_;
    std::vector<bool> can_end_;
};

} // namespace testing
SETTLE_END
