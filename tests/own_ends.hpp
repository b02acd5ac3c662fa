// SPDX-License-Identifier: BSL-1.0
// Concurrent threads run the same ids on one database: each thread gets the outcome of each id, and
// a transaction that is canceled does not change the outcome of another.
#pragma once

#include <settle/settle.hpp>
#include <settle/testing/store_suite/types.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace settle_test {

/// Limits that a transaction does not reach, however long the threads that hold its records pause.
[[nodiscard]] inline settle::options without_limits(settle::options limits = {}) {
    limits.attempts = std::numeric_limits<std::uint32_t>::max();
    limits.patience = std::chrono::hours::max();
    return limits;
}

/// Shape:   engine - of `move` and `relabel`, with the limits of without_limits(); its ledgers
///          include an unusable record "broken", written by another program
template <typename Engine>
void check_own_ends(Engine& engine) {
    using settle::testing::ledgers;
    constexpr std::size_t people = 6;
    constexpr std::size_t each = 12;
    constexpr std::int64_t at_first = 100;
    auto const person = [](std::size_t number) { return "A" + std::to_string(number % people); };
    for (std::size_t i = 0; i < people; ++i) {
        engine.create(ledgers, {person(i), at_first, 0, ""}).value();
    }
    std::array<std::vector<settle::outcome>, 16> outcomes;
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread_number = 0; thread_number < outcomes.size(); ++thread_number) {
            threads.emplace_back([&, thread_number] {
                for (std::size_t i = 0; i < each; ++i) {
                    // Two threads want the same; some want more than there is, some a bad record,
                    // and some are of another type.
                    std::size_t const number = (thread_number / 2) * each + i;
                    std::string const id = "t" + std::to_string(number);
                    std::string const to = number % 9 == 4 ? "broken" : person(number + 1);
                    std::int64_t const amount = number % 5 == 3 ? 100'000 : 3;
                    using settle::testing::move;
                    using settle::testing::relabel;
                    outcomes[thread_number].push_back(
                        number % 7 == 5 ? engine.run(id, relabel{to, id})
                                        : engine.run(id, move{person(number), to, amount}));
                }
            });
        }
    }
    std::map<std::string, std::int64_t> expected;
    for (std::size_t thread_number = 0; thread_number < outcomes.size(); ++thread_number) {
        for (std::size_t i = 0; i < each; ++i) {
            std::size_t const number = (thread_number / 2) * each + i;
            auto const& end = outcomes[thread_number][i];
            INFO("transaction " << number << ": " << end.text());
            bool const sets_label = number % 7 == 5;
            bool const good = number % 9 != 4 && (sets_label || number % 5 != 3);
            CHECK(end.id == "t" + std::to_string(number));
            CHECK(end.done() == good);
            CHECK(end.canceled() == !good);
            auto const entry = engine.find(end.id).value();
            REQUIRE(entry.has_value());
            CHECK(entry->state == (good ? settle::state::done : settle::state::canceled));
            CHECK(entry->why == end.why);
            if (!good || sets_label || thread_number % 2 != 0) continue;
            expected[person(number)] -= 3;
            expected[person(number + 1)] += 3;
        }
    }
    for (std::size_t i = 0; i < people; ++i) {
        auto const found = engine.read(ledgers, person(i)).value();
        REQUIRE(found.has_value());
        CHECK(found->balance == at_first + expected[person(i)]);
    }
    CHECK(engine.marks().value() == 0);
}

/// A thread runs batches while another runs the ids of the batches one by one.
/// Shape:   batches, singles - engines of `move` in one phase
template <typename First, typename Second>
void check_taken_ids(First& batches, Second& singles) {
    using settle::testing::ledgers;
    using settle::testing::move;
    constexpr int rounds = 5;
    constexpr int count = 60;
    batches.create(ledgers, {"from", rounds * count, 0, ""}).value();
    batches.create(ledgers, {"to", 0, 0, ""}).value();
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::pair<std::string, move>> moves;
        for (int i = 0; i < count; ++i) {
            moves.emplace_back(std::to_string(round) + "-" + std::to_string(i),
                               move{"from", "to", 1});
        }
        std::vector<settle::outcome> ends;
        {
            std::jthread const other{[&] {
                for (auto const& [id, parameters] : moves)
                    ends.push_back(singles.run(id, parameters));
            }};
            for (auto const& end : batches.run_all(moves)) CHECK_MESSAGE(end.done(), end.text());
        }
        for (auto const& end : ends) CHECK_MESSAGE(end.done(), end.text());
    }
    CHECK(batches.read(ledgers, "to").value()->balance == rounds * count);
    CHECK(batches.marks().value() == 0);
}

} // namespace settle_test
