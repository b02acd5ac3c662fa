// SPDX-License-Identifier: BSL-1.0
// Simulation: long runs of engines under virtual time, network delays and faults drawn from a seed.
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
// Workers run, submit, cancel, recover, reverse and sweep. They crash, pause, lose answers, and
// their clocks jump; writes arrive late and databases become unreachable. A simulated_service is
// also slow, wrong and restarted, see simulate/service.hpp. At every step:
//   - an entry changes only along its states' arrows, from its current state and epoch;
//   - every reported outcome is true, and all callers of an id get the same outcome;
//   - no conserved sum exceeds its starting value.
// Within a bounded time after the last fault:
//   - every transaction is done or canceled, and at most one reversal of each is done;
//   - every record holds the result of the done transactions, each applied exactly once;
//   - the books of every simulated service have exactly the calls of the done transactions;
//   - no mark is left, and each conserved sum has its starting value.
#pragma once

#include <settle/testing/simulate/audit.hpp>
#include <settle/testing/simulate/resource.hpp>
#include <settle/testing/simulate/service.hpp>
#include <settle/testing/simulate/worker.hpp>

#include <algorithm>
#include <cstdlib>
#include <thread>

SETTLE_BEGIN
namespace testing {

/// The seeds of a test: `count` seeds from `first`, or the value of the variable SETTLE_SEED.
[[nodiscard]] inline std::vector<std::uint64_t> seeds(std::uint64_t first, std::size_t count) {
    if (char const* const given = std::getenv("SETTLE_SEED")) {
        return {std::strtoull(given, nullptr, 10)};
    }
    std::vector<std::uint64_t> all(count);
    for (auto& seed : all) seed = first++;
    return all;
}

/// One simulated run. Use each database for one simulation only.
/// Shape:   Arguments - the engine's arguments: databases, services, types, and each
///          SimulatedResource with its work. Its options are in simulation_limits. Without an
///          injected fault, a database must not answer `unknown`. With settle::phases::one every
///          other worker uses one phase where it can; the others use two phases
/// Cost:    a thread for each worker; only one thread runs at any moment
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

    /// Runs until every transaction is final and no mark is left.
    /// Shape:   make - called with a `dice&`; returns the parameters of one transaction, or a
    ///          std::variant of several types' parameters. Equal dice must give equal parameters
    template <typename Make>
    simulation_report run(Make const& make, simulation_limits const& limits = {}) {
        check(limits);
        this->begin();
        detail::witness seen;
        detail::shared_state shared{limits, seen, [&] { this->look(seen); }};
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
    static void check(simulation_limits const& limits) {
        if (limits.workers != 0 && limits.look_every != 0 && limits.calls_each != 0) return;
        throw std::invalid_argument("settle: a simulation with 0 as its number of workers, "
                                    "look_every or calls_each checks nothing. Give at least 1");
    }

    template <typename Make>
    void play(detail::shared_state& shared, Make const& make, simulation_limits const& limits) {
        using worker = detail::worker<Make, Arguments...>;
        std::vector<std::unique_ptr<worker>> workers;
        for (std::size_t i = 0; i < limits.workers; ++i) {
            workers.push_back(std::make_unique<worker>(arguments_, shared, i, make));
        }
        std::vector<std::jthread> threads;
        for (auto& each : workers) threads.emplace_back([&each] { each->live(); });
        shared.turns().conduct();
    }

    std::tuple<typename settle::detail::held_argument<Arguments>::type...> arguments_;
};

template <typename... Given>
simulation(Given&&...) -> simulation<std::remove_cvref_t<Given>...>;

} // namespace testing
SETTLE_END
