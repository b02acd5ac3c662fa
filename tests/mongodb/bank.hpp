// SPDX-License-Identifier: BSL-1.0
// Accounts and transfers between them, for the tests in which servers and networks fail.
#pragma once

#include <settle/mongodb.hpp>
#include <settle/testing/store_suite/types.hpp>

#include <doctest/doctest.h>

#include "any_age.hpp"

#include <chrono>
#include <string>

namespace settle_test {

using settle::testing::ledger;
using settle::testing::ledgers;
using transfer = settle::testing::move;

constexpr std::int64_t opening = 100;

/// Options of an address whose server answers, possibly slowly, on a busy machine.
inline char const* const short_waits =
    "serverSelectionTimeoutMS=3000&connectTimeoutMS=3000&socketTimeoutMS=3000";

/// On a busy machine a server that lost a caller may hold its records for a minute.
inline constexpr std::chrono::seconds long_patience{90};

[[nodiscard]] inline settle::options short_limits() {
    settle::options limits;
    limits.takeover = std::chrono::milliseconds{100};
    limits.patience = std::chrono::seconds{15};
    return limits;
}
[[nodiscard]] inline settle::options patient_limits() {
    auto limits = short_limits();
    limits.patience = long_patience;
    return limits;
}

/// Shape:   how - settle::phases
template <typename Database>
auto bank_on(Database& database, settle::phases how = settle::phases::one,
             settle::options const& limits = short_limits()) {
    return settle::engine{database,
                          limits,
                          how,
                          settle::type<settle::testing::move_type>,
                          settle::type<settle::testing::relabel_type>,
                          settle::type<settle::testing::withdraw_type>};
}

/// The sentence that refuses an address, after checks of its form; empty if it is accepted.
inline std::string refusal(std::string const& address,
                           settle::mongodb::database_options const& options = {}) {
    auto const began = std::chrono::steady_clock::now();
    auto const opened = settle::mongodb::database::open(address, options);
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{8});
    if (opened.has_value()) return "";
    std::string text = opened.problem().text;
    INFO(text);
    CHECK(text.starts_with("settle: "));
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.find(". See mongodb#") != std::string::npos);
    CHECK(text.find("..") == std::string::npos);
    return text;
}

template <typename Engine>
std::int64_t balance(Engine& engine, std::string const& id) {
    auto const found = engine.read(ledgers, id).value();
    CHECK(found.has_value());
    return found ? found->balance : -1;
}

/// Settles everything, as a later worker does after a failure.
template <typename Engine>
void settle_all(Engine& engine) {
    auto const report = engine.recover(of_any_age());
    CHECK_MESSAGE(report.problem.empty(), report.problem);
    CHECK(report.skipped.empty());
    CHECK(report.undecided == 0);
    auto const swept = engine.sweep();
    CHECK_MESSAGE(swept.problem.empty(), swept.problem);
}

/// The reported outcome agrees with the entry in the log.
template <typename Engine>
void check_outcome(Engine& engine, settle::outcome const& outcome) {
    INFO("outcome: " << outcome.text());
    auto const entry = engine.find(outcome.id).value();
    if (outcome.done() || outcome.canceled()) {
        CHECK(entry.has_value());
        if (!entry) return;
        CHECK(entry->state == (outcome.done() ? settle::state::done : settle::state::canceled));
        if (outcome.canceled()) CHECK(entry->why == outcome.why);
    } else if (entry) {
        CHECK(settle::is_final(entry->state));
        CHECK(outcome.verdict == settle::verdict::undecided);
    }
}

} // namespace settle_test
