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
    auto transaction = coordinator::begin(parts, first_epoch);
    transaction.inserted(log_answer::taken, false);
    REQUIRE(transaction.next() == step::apply);
    return transaction;
}

/// Answers every part that is due, in order, and lets the coordinator decide.
inline void answer_due(coordinator& c, std::vector<answer> const& answers,
                       std::uint32_t limit = many_attempts) {
    std::size_t answer_index = 0;
    for (std::size_t part = 0; part < c.parts(); ++part) {
        if (!c.due(part)) continue;
        REQUIRE(answer_index < answers.size());
        c.answered(part, answers[answer_index++]);
    }
    REQUIRE(answer_index == answers.size());
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
    auto transaction = applying(parts);
    answer_all(transaction, answer::applied);
    REQUIRE(transaction.next() == step::commit);
    return transaction;
}

/// A transaction that has committed and is about to finish its records.
[[nodiscard]] inline coordinator confirming(std::size_t parts) {
    auto transaction = committing(parts);
    transaction.committed(log_answer::taken);
    REQUIRE(transaction.next() == step::confirm);
    return transaction;
}

/// A transaction before its cancel.
[[nodiscard]] inline coordinator canceling(std::size_t parts) {
    auto transaction = applying(parts);
    answer_all(transaction, answer::guard_failed);
    REQUIRE(transaction.next() == step::cancel);
    return transaction;
}

} // namespace coordinator_test
