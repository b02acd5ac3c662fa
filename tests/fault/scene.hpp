// SPDX-License-Identifier: BSL-1.0
// Shared by the fault tests: initial records, engines in one manual time, and the check that
// everything ended well.
#pragma once

#include <settle/memory.hpp>
#include <settle/testing/faults.hpp>
#include <settle/testing/manual_environment.hpp>
#include <settle/testing/store_suite/types.hpp>

#include <doctest/doctest.h>

#include "any_age.hpp"

#include <random>

namespace settle_test {

using namespace settle::testing;
using settle::answer;
using settle::outcome;
using settle::verdict;
using namespace std::chrono_literals;
using memory_database = settle::memory::database;

[[nodiscard]] inline settle::options fault_limits() {
    settle::options limits;
    limits.takeover = 100ms;
    limits.attempts = 8;
    return limits;
}

/// An engine with the types of the fault tests.
template <typename Database>
auto engine_on(Database& database, manual_environment const& time,
               settle::options const& limits = fault_limits(),
               settle::phases how = settle::phases::one) {
    return settle::engine{database,
                          how,
                          settle::with_environment(time),
                          limits,
                          settle::type<move_type>,
                          settle::type<order_type>,
                          settle::type<rewrite_type>,
                          settle::type<issue_type>,
                          settle::type<withdraw_type>};
}

[[nodiscard]] inline card first_card() {
    return {"c", "Anna", true, colour::red, {}, 250, std::nullopt, 10, 3};
}
[[nodiscard]] inline card second_card() {
    return {"c", "Bára", false, colour::blue, {}, std::nullopt, "note", 4, 2};
}
[[nodiscard]] inline card new_card() {
    card made = second_card();
    made.id = "d";
    return made;
}

constexpr std::int64_t opening_sum = 300;

template <typename Engine>
void open_records(Engine& engine) {
    engine.create(ledgers, {"A", 100, 0, ""}).value();
    engine.create(ledgers, {"B", 100, 0, ""}).value();
    engine.create(ledgers, {"C", 100, 0, ""}).value();
    engine.create(shelves, {1, 20}).value();
    engine.create(shelves, {2, 20}).value();
    engine.create(cards, first_card()).value();
}

/// Every record, as text.
template <typename Engine>
std::string snapshot(Engine& engine) {
    return settle::encode_json(
               engine.template scan_page<ledgers_type>(std::nullopt, 1000).value()) +
           settle::encode_json(
               engine.template scan_page<shelves_type>(std::nullopt, 1000).value()) +
           settle::encode_json(engine.template scan_page<cards_type>(std::nullopt, 1000).value());
}

/// Reads the accounts directly in the store: money that does not exist is never visible.
template <typename Database>
class onlooker {
public:
    explicit onlooker(Database& database)
        : session_(database.template bind<ledgers_type>(database.bind_log().name())) {}

    void look() {
        std::int64_t sum = 0;
        for (ledger const& one : session_.template scan<ledgers_type>(std::nullopt, 1000).value()) {
            CHECK(one.balance >= 0);
            sum += one.balance;
        }
        CHECK(sum <= opening_sum);
    }

private:
    decltype(std::declval<Database&>().template bind<ledgers_type>(std::string{})) session_;
};

/// After recovery and sweep: no mark and no unfinished entry is left, and every reported outcome
/// agrees with its entry.
template <typename Engine>
void check_settled(Engine& engine, std::vector<outcome> const& outcomes) {
    CHECK(engine.marks().value() == 0);
    for (settle::entry const& entry : engine.page({}, "", 1000).value()) {
        INFO("entry ", entry.id, " is ", std::string{name_of(entry.state)});
        CHECK((settle::is_final(entry.state) || entry.state == settle::state::initial));
        if (entry.state == settle::state::done) {
            CHECK(entry.committed != 0);
            CHECK(entry.why == settle::reason::none);
        }
        if (entry.state == settle::state::canceled) CHECK(entry.why != settle::reason::none);
    }
    for (outcome const& outcome : outcomes) {
        if (outcome.verdict == verdict::undecided || outcome.verdict == verdict::refused) continue;
        INFO("outcome: ", outcome.text());
        auto const entry = engine.find(outcome.id).value();
        REQUIRE(entry.has_value());
        CHECK(entry->state == (outcome.done() ? settle::state::done : settle::state::canceled));
        if (outcome.canceled()) {
            CHECK(entry->why == outcome.why);
            CHECK(entry->participant == outcome.participant);
            CHECK(entry->line == outcome.line);
        }
    }
}

constexpr fault_kind every_kind[]{fault_kind::unavailable,   fault_kind::unknown_before,
                                  fault_kind::unknown_after, fault_kind::late,
                                  fault_kind::crash_before,  fault_kind::crash_after};

[[nodiscard]] constexpr bool is_crash(fault_kind kind) {
    return kind == fault_kind::crash_before || kind == fault_kind::crash_after;
}

// The actions of a scene: one transaction of each kind, always under the id "t".
inline auto const transfer = [](auto& engine) { return engine.run("t", move{"A", "B", 30}); };
inline auto const uncovered = [](auto& engine) { return engine.run("t", move{"A", "B", 300}); };
inline auto const purchase = [](auto& engine) {
    return engine.run("t", order{"A", 30, {{1, 5}, {2, 20}, {1, 15}}});
};
inline auto const change = [](auto& engine) {
    return engine.run("t", rewrite{first_card(), second_card()});
};
inline auto const creation = [](auto& engine) { return engine.run("t", issue{new_card()}); };
inline auto const erasure = [](auto& engine) { return engine.run("t", withdraw{"c", true}); };

} // namespace settle_test
