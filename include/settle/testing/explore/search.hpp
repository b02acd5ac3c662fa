// SPDX-License-Identifier: BSL-1.0
// Breadth-first search over every state that a few transactions can reach.
#pragma once

#include <settle/testing/explore/moves.hpp>
#include <settle/testing/explore/state_checker.hpp>
#include <settle/testing/explore/states.hpp>

#include <charconv>
#include <chrono>
#include <deque>
#include <map>
#include <ostream>

SETTLE_BEGIN
namespace testing {

/// The result of a search. It converts to true when every state within the bounds is right and can
/// reach an end.
struct exploration {
    bool right = true;
    bool complete = true;  ///< false when `most_states` ended the search, and for a replay
    std::string trace;     ///< the shortest run to the first wrong state, one line a step
    std::string run;       ///< the same run, for settle::testing::replay
    std::size_t steps = 0; ///< the length of that run
    std::size_t states = 0;
    std::size_t transitions = 0;
    std::size_t depth = 0; ///< the greatest distance of a state from the first, in moves
    double seconds = 0;

    explicit operator bool() const noexcept { return right && complete; }

    friend std::ostream& operator<<(std::ostream& out, exploration const& shown) {
        double const speed = static_cast<double>(shown.states) / std::max(shown.seconds, 1e-9);
        out << shown.states << " states, " << shown.transitions << " transitions, depth "
            << shown.depth << ", " << shown.seconds << " s, " << static_cast<std::size_t>(speed)
            << " states/s";
        if (shown.states == 0) out << ", one run alone";
        else if (!shown.complete) out << ", cut short by bounds::most_states";
        if (!shown.trace.empty()) out << '\n' << shown.trace;
        if (!shown.run.empty()) {
            out << "To see this run again: settle::testing::replay{\"" << shown.run << "\"}\n";
        }
        return out;
    }
};

template <typename Protocol, typename Records>
class search {
public:
    using moves_type = moves<Protocol, Records>;
    using world_type = typename moves_type::world_type;
    using checker_type =
        state_checker<typename Protocol::coordinator_type, typename Protocol::rules, Records>;
    using path_type = std::vector<std::uint16_t>;

    search(moves_type const& possible, checker_type const& checker, world_type first)
        : possible_(possible), checker_(checker), first_(std::move(first)) {}

    [[nodiscard]] exploration visit_all(std::size_t most_states) {
        auto const started = std::chrono::steady_clock::now();
        visit(most_states);
        if (seen_.right && seen_.complete) look_for_stuck();
        seen_.states = states_.size();
        seen_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        return std::move(seen_);
    }

    /// Repeats one run and writes its trace. The result never converts to true: one run does not
    /// show whether its last state is stuck.
    [[nodiscard]] exploration replay(path_type const& path) {
        seen_.complete = false;
        std::string const wrong = trace_run(path);
        if (!wrong.empty()) fail(path, "WRONG: " + wrong);
        return std::move(seen_);
    }

private:
    using number = seen_states::number;

    void visit(std::size_t most_states) {
        std::deque<std::pair<world_type, std::uint32_t>> waiting;
        states_.add(first_.print(), seen_states::none, 0);
        waiting.emplace_back(first_, 0U);
        for (number index = 0; !waiting.empty(); ++index) {
            auto const& [here, depth] = waiting.front();
            seen_.depth = depth;
            if (std::string const wrong = checker_.wrong(here); !wrong.empty()) {
                return fail(states_.path(index), "WRONG: " + wrong);
            }
            std::uint16_t move = 0;
            std::uint32_t const next_depth = depth + 1;
            possible_.each(here, [&](world_type&& next, move_kind kind, auto const&) {
                ++seen_.transitions;
                possible_.canonize(next);
                auto const [to, fresh] = states_.add(next.print(), index, move++);
                if (fresh) waiting.emplace_back(std::move(next), next_depth);
                if (kind == move_kind::protocol) states_.step_to(to);
            });
            states_.expanded(checker_type::is_end(here));
            waiting.pop_front();
            if (states_.size() > most_states) {
                seen_.complete = false;
                return;
            }
        }
    }

    void look_for_stuck() {
        number const stuck = states_.first_stuck();
        if (stuck == seen_states::none) return;
        fail(states_.path(stuck), "STUCK: the protocol cannot end from this state");
    }

    void fail(path_type const& path, std::string const& what) {
        if (seen_.trace.empty()) static_cast<void>(trace_run(path));
        seen_.right = false;
        seen_.trace += what + "\n";
        seen_.steps = path.size();
        for (auto const move : path) {
            seen_.run += (seen_.run.empty() ? "" : ".") + std::to_string(move);
        }
    }

    /// Writes the trace of a run; returns the problem of its last state, or an empty string.
    std::string trace_run(path_type const& path) {
        world_type now = first_;
        std::string shown = possible_.text_of(now);
        seen_.trace = shown;
        std::size_t step = 0;
        for (auto const chosen : path) {
            std::uint16_t move = 0;
            world_type taken = now;
            possible_.each(now, [&](world_type&& next, move_kind, auto const& describe) {
                if (move++ != chosen) return;
                taken = std::move(next);
                seen_.trace += std::to_string(++step) + ". " + describe() + "\n";
            });
            // The trace repeats the records and receivers when they have changed.
            if (std::string after = possible_.text_of(taken); after != shown) {
                seen_.trace += after;
                shown = std::move(after);
            }
            if (move <= chosen) return "this run is of another search: it has no such step";
            now = std::move(taken);
            possible_.canonize(now);
        }
        return checker_.wrong(now);
    }

    moves_type const& possible_;
    checker_type const& checker_;
    world_type first_;
    seen_states states_;
    exploration seen_;
};

} // namespace testing
SETTLE_END
