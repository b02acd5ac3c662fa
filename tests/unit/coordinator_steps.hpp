// SPDX-License-Identifier: BSL-1.0
// Brings a coordinator to the step under test, without a log or a store.
#pragma once

#include <settle/protocol/coordinator.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

namespace coordinator_test {

using settle::answer;
using settle::coordinator;
using settle::goal;
using settle::log_answer;
using settle::reason;
using settle::standing;
using settle::state;
using settle::step;
using settle::view_of_entry;

inline constexpr settle::epoch first_epoch = 1000;
inline constexpr std::uint32_t many_attempts = 25;
inline constexpr view_of_entry own{true, false, 9000};
inline constexpr view_of_entry of_another{false, false, 9000};
inline constexpr view_of_entry abandoned{false, true, 9000};

/// A transaction with a pending entry, before its apply.
[[nodiscard]] inline coordinator applying(std::size_t parts) {
    auto made = coordinator::begin(parts, first_epoch);
    made.inserted(log_answer::taken, false);
    REQUIRE(made.next() == step::apply);
    return made;
}

/// Answers every part that is due, in order, and lets the coordinator decide.
inline void answer_due(coordinator& c, std::vector<answer> const& answers,
                       std::uint32_t limit = many_attempts) {
    std::size_t given = 0;
    for (std::size_t part = 0; part < c.parts(); ++part) {
        if (!c.due(part)) continue;
        REQUIRE(given < answers.size());
        c.answered(part, answers[given++]);
    }
    REQUIRE(given == answers.size());
    c.decide(limit);
}

inline void answer_all(coordinator& c, answer reply) {
    for (std::size_t part = 0; part < c.parts(); ++part) {
        if (c.due(part)) c.answered(part, reply);
    }
    c.decide(many_attempts);
}

[[nodiscard]] inline std::vector<bool> due_parts(coordinator const& c) {
    std::vector<bool> due;
    for (std::size_t part = 0; part < c.parts(); ++part) due.push_back(c.due(part));
    return due;
}

/// A transaction that is about to commit.
[[nodiscard]] inline coordinator committing(std::size_t parts) {
    auto made = applying(parts);
    answer_all(made, answer::applied);
    REQUIRE(made.next() == step::commit);
    return made;
}

/// A transaction that has committed and is about to finish its records.
[[nodiscard]] inline coordinator confirming(std::size_t parts) {
    auto made = committing(parts);
    made.committed(log_answer::taken);
    REQUIRE(made.next() == step::confirm);
    return made;
}

/// A transaction before its cancel.
[[nodiscard]] inline coordinator canceling(std::size_t parts) {
    auto made = applying(parts);
    answer_all(made, answer::guard_failed);
    REQUIRE(made.next() == step::cancel);
    return made;
}

} // namespace coordinator_test
