// SPDX-License-Identifier: BSL-1.0
// The bank of the engine's tests: an account, a transfer, and a clock that a test moves.
#pragma once

#include <settle/memory.hpp>
#include <settle/settle.hpp>
#include <settle/testing/entry_writer.hpp>

#include <doctest/doctest.h>

#include "any_age.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>

namespace engine_test {

struct account {
    std::string id;
    std::int64_t balance = 0;
};

struct transfer {
    std::string source, destination;
    std::int64_t amount = 0;
};

} // namespace engine_test
BOOST_HANA_ADAPT_STRUCT(engine_test::account, id, balance);
BOOST_HANA_ADAPT_STRUCT(engine_test::transfer, source, destination, amount);

namespace engine_test {

using settle::field;
using settle::lit;
using settle::param;
using settle::reason;
using settle::state;
using settle::verdict;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;

inline constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(field<&account::balance> += param<&transfer::amount>),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

using transfer_direction = settle::forward<transfer_type>;

/// For a call whose transaction cannot end: the call soon gives up.
inline settle::call_options const soon{std::chrono::milliseconds{50}, {}};

/// The state of a manual environment. An engine copies the environment, so the state is separate.
struct world_state {
    settle::timestamp time{std::chrono::milliseconds{1800000000000}};
    std::chrono::nanoseconds elapsed{0};
    std::uint64_t drawn = 0;
    int pauses = 0;
    std::function<void()> while_pausing{}; ///< called while a call waits
};

/// A manual clock: it moves while a call pauses, or when a test moves it.
class manual_environment {
public:
    explicit manual_environment(world_state& state) : state_(&state) {}

    [[nodiscard]] settle::timestamp now() const { return state_->time; }
    [[nodiscard]] std::chrono::nanoseconds elapsed() const { return state_->elapsed; }
    [[nodiscard]] std::uint64_t random() const { return ++state_->drawn * 0x9e3779b97f4a7c15U; }
    void pause(std::chrono::nanoseconds duration, std::stop_token const&) const {
        ++state_->pauses;
        state_->elapsed += duration;
        state_->time += std::chrono::duration_cast<std::chrono::milliseconds>(duration);
        if (state_->while_pausing) state_->while_pausing();
    }

private:
    world_state* state_;
};

/// Thrown by an observer to end a worker at a step, as a kill would: nothing is cleaned up.
struct killed : settle::testing::crash {};

/// Observes every step of an engine, and calls the test's function.
class hook {
public:
    explicit hook(std::function<void(settle::event const&)>& action) : action_(&action) {}
    void operator()(settle::event const& seen) const {
        // A copy, since the function may replace itself while it runs.
        auto const action = *action_;
        if (action) action(seen);
    }

private:
    std::function<void(settle::event const&)>* action_;
};

/// Kills the worker right after a step.
[[nodiscard]] inline std::function<void(settle::event const&)> kill_after(settle::step last) {
    return [last](settle::event const& seen) {
        if (seen.taken == last) throw killed{};
    };
}

template <typename Engine>
void open_accounts(Engine& engine, std::initializer_list<account> records) {
    for (auto const& one : records) engine.create(accounts, one).value();
}

template <typename Engine>
std::int64_t balance_of(Engine& engine, std::string const& id) {
    auto const found = engine.read(accounts, id).value();
    REQUIRE(found);
    return found->balance;
}

template <typename Engine>
settle::entry entry_of(Engine& engine, std::string const& id) {
    auto found = engine.find(id).value();
    REQUIRE(found);
    return *std::move(found);
}

template <typename Engine>
std::uint64_t marks_in(Engine& engine) {
    return engine.marks().value();
}

using settle_test::of_any_age;

/// Puts an entry into a log as a worker of another program would have left it.
template <typename Direction>
void plant(settle::memory::database& database, std::string const& id,
           typename Direction::parameters const& parameters, std::string const& owner,
           settle::timestamp created, settle::state as = settle::state::pending) {
    auto log = database.bind_log();
    settle::testing::entry_writer worker{
        log, settle::testing::test_transaction::of<Direction>(id, parameters)};
    auto const why =
        as == settle::state::canceled ? settle::reason::mark_without_entry : settle::reason::none;
    REQUIRE(worker.insert(as, 5000, created, owner, created, why) == settle::log_answer::taken);
}

} // namespace engine_test
