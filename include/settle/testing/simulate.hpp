// SPDX-License-Identifier: BSL-1.0
// Simulation: long runs of an engine in a time, with a network and with mishaps that a seed makes.
//
//   settle::memory::database db;
//   settle::testing::simulation trial{db, settle::type<bank::transfer_type>};
//   trial.open(bank::accounts, {"A", 100, 100}).open(bank::accounts, {"B", 100, 100});
//   trial.conserves(bank::accounts, settle::field<&bank::account::balance>);
//   settle::testing::simulation_limits limits;
//   limits.seed = 17;
//   auto const report = trial.run([](settle::testing::dice& chance) {
//       return bank::transfer{"A", "B", chance.between(1, 100)};
//   }, limits);
//   if (!report) std::cerr << report << '\n';
//
// Workers run, submit, cancel, recover, reverse and sweep; they crash, stand still, lose answers
// and have clocks that jump; writes arrive late and databases go away. At every step:
//   - an entry changes as its states allow, from the state and epoch that it has;
//   - who was told an outcome was told the truth, and nobody is told another one;
//   - no sum that is declared conserved is above what it was in the beginning.
// After the faults have ended, within a bounded time:
//   - every transaction is done or canceled, at most one reversal of each is done;
//   - every record is what the transactions that are done make of it, each taken once;
//   - no mark is left, and the sums are what they were.
#pragma once

#include <settle/testing/simulate/audit.hpp>
#include <settle/testing/simulate/worker.hpp>

#include <algorithm>
#include <cstdlib>
#include <thread>

SETTLE_BEGIN
namespace testing {

/// The seeds of a test: `count` of them, or the one that the variable SETTLE_SEED names.
[[nodiscard]] inline std::vector<std::uint64_t> seeds(std::uint64_t first, std::size_t count) {
    if (char const* const asked = std::getenv("SETTLE_SEED")) {
        return {std::strtoull(asked, nullptr, 10)};
    }
    std::vector<std::uint64_t> all(count);
    for (auto& one : all) one = first++;
    return all;
}

/// One simulated run of an engine; the databases serve this one run.
/// Shape:   Arguments - what an engine is built from: databases and types. Limits of the engine
///          are in simulation_limits; a database answers for certain when nothing is wrong with
///          it. With settle::phases::one every other worker settles at once what it can, and the
///          rest goes through two phases beside it
/// Cost:    a thread for each worker, of which one runs at any moment
/// Example: tests/fault/simulate.cpp
template <typename... Arguments>
class simulation : public detail::audited<Arguments...> {
    using base = detail::audited<Arguments...>;

public:
    template <typename... Given>
    explicit simulation(Given&&... arguments)
        : base(arguments...), arguments_(std::forward<Given>(arguments)...) {}
    simulation(simulation const&) = delete;
    simulation& operator=(simulation const&) = delete;

    /// Runs it from the first transaction until all is settled.
    /// Shape:   make - called with a `dice&`; gives the parameters of one transaction, or a
    ///          std::variant of those of several types. The same dice must make the same
    template <typename Make>
    simulation_report run(Make const& make, simulation_limits const& limits = {}) {
        this->begin();
        detail::witness seen;
        detail::stage shared{limits, seen, [&] { this->look(seen); }};
        play(shared, make, limits);
        simulation_report report = std::move(shared.report());
        if (seen.content()) this->audit(seen, report);
        report.claims = seen.claims();
        report.purged = seen.purged();
        report.again = seen.again();
        report.problems = seen.problems();
        return report;
    }

private:
    template <typename Make>
    void play(detail::stage& shared, Make const& make, simulation_limits const& limits) {
        using worker = detail::worker<Make, Arguments...>;
        std::vector<std::unique_ptr<worker>> workers;
        for (std::size_t i = 0; i < limits.workers; ++i) {
            workers.push_back(std::make_unique<worker>(arguments_, shared, i, make));
        }
        std::vector<std::jthread> threads;
        for (auto& one : workers) threads.emplace_back([&one] { one->live(); });
        shared.turns().conduct();
    }

    std::tuple<typename settle::detail::held_argument<Arguments>::type...> arguments_;
};

template <typename... Given>
simulation(Given&&...) -> simulation<std::remove_cvref_t<Given>...>;

} // namespace testing
SETTLE_END
