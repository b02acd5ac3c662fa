// SPDX-License-Identifier: BSL-1.0
// The length and fault rates of a simulation, and its report.
#pragma once

#include <settle/protocol/state.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/testing/simulate/dice.hpp>

#include <map>
#include <ostream>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// The number of faults per million calls to a store, a log or a service.
struct fault_rates {
    std::uint32_t crash = 1'500;       ///< the worker crashes before or after the call
    std::uint32_t pause = 2'000;       ///< the worker pauses before the call
    std::uint32_t unavailable = 5'000; ///< the call has no effect and reports it
    std::uint32_t unknown = 10'000;    ///< the answer is lost; the call took effect or did not
    std::uint32_t late = 20'000;       ///< the answer is lost; the write arrives later
    std::uint32_t away = 150;          ///< the database or service is unreachable for a while
    std::uint32_t jump = 300;          ///< the worker's or service's clock is set to another time
    // Of services alone:
    std::uint32_t slow = 300;      ///< for a while a service answers after its caller has given up
    std::uint32_t garbled = 3'000; ///< the call took effect, and its answer is wrong
    std::uint32_t restart = 1'000; ///< a service loses the effects that it has not answered
    /// A service returns to a backup and loses effects that it has answered. No protocol can repair
    /// this; the report names each broken promise.
    std::uint32_t restore = 0;
};

/// The times of calls to services.
struct service_times {
    std::chrono::nanoseconds longest_call = std::chrono::milliseconds{500};
    std::chrono::nanoseconds longest_away = std::chrono::minutes{10};
    std::chrono::nanoseconds longest_slow = std::chrono::minutes{5};
    std::chrono::nanoseconds oldest_backup = std::chrono::minutes{10};
};

struct simulation_limits {
    std::uint64_t seed = 1;
    std::size_t workers = 24;
    std::size_t transactions = 2'000; ///< the number of transactions to begin
    fault_rates faults{};
    settle::options engine = default_engine(); ///< the options of every worker's engine
    std::chrono::nanoseconds longest_call = std::chrono::milliseconds{2};
    service_times services{};
    /// The longest time between two engine calls of a worker.
    std::chrono::nanoseconds longest_rest = std::chrono::milliseconds{1};
    std::chrono::nanoseconds longest_pause = std::chrono::seconds{3};
    std::chrono::nanoseconds longest_late = std::chrono::seconds{10};
    std::chrono::nanoseconds longest_away = std::chrono::milliseconds{300};
    std::chrono::nanoseconds longest_jump = std::chrono::minutes{2}; ///< forward or back
    /// The virtual time after the faults, by which all entries must be final and all marks gone.
    std::chrono::nanoseconds settles_within = std::chrono::minutes{10};
    /// Workers purge the log from time to time.
    bool purges = false;
    /// The number of steps between two checks of the conserved sums.
    std::uint32_t look_every = 4;
    /// The limit of calls per transaction, beyond which a run counts as endless.
    std::uint64_t calls_each = 5'000;

    /// Draws limits from a seed: fault rates up to three times the default, 2 to 32 workers.
    [[nodiscard]] static simulation_limits drawn(std::uint64_t seed) {
        simulation_limits limits;
        limits.seed = seed;
        dice chance{hash_mix(2, seed)};
        limits.workers = chance.between<std::size_t>(2, 32);
        fault_rates& rates = limits.faults;
        auto const change = [&](std::uint32_t& rate) {
            constexpr std::uint32_t tenths[]{0, 3, 10, 10, 20, 30};
            rate = rate / 10 * tenths[chance.draw() % 6];
        };
        for (std::uint32_t* rate : {&rates.crash, &rates.pause, &rates.unavailable, &rates.unknown,
                                    &rates.late, &rates.away, &rates.jump}) {
            change(*rate);
        }
        limits.engine.attempts = chance.between(2U, 12U);
        limits.engine.takeover = std::chrono::milliseconds{chance.between(5, 400)};
        limits.longest_call = chance.up_to(std::chrono::milliseconds{20});
        for (std::uint32_t* rate : {&rates.slow, &rates.garbled, &rates.restart}) change(*rate);
        return limits;
    }

    /// Limits under which a run takes hours, so that services can be away for minutes.
    [[nodiscard]] static simulation_limits with_services(std::uint64_t seed) {
        simulation_limits limits;
        limits.seed = seed;
        limits.longest_rest = std::chrono::minutes{10};
        limits.longest_late = std::chrono::minutes{5};
        limits.engine.takeover = std::chrono::seconds{5};
        limits.engine.patience = std::chrono::seconds{30};
        limits.engine.lifetime = std::chrono::minutes{30};
        limits.settles_within = std::chrono::hours{2};
        return limits;
    }

    /// Limits under which an entry can be purged while late writes to it are undelivered.
    [[nodiscard]] static simulation_limits slow(std::uint64_t seed) {
        simulation_limits limits;
        limits.seed = seed;
        limits.purges = true;
        limits.longest_call = std::chrono::seconds{20};
        limits.longest_late = std::chrono::minutes{40};
        // A purge is safe only while clocks differ by at most `options::clocks`.
        limits.faults.jump = 0;
        limits.engine.clocks = std::chrono::milliseconds{0};
        limits.engine.resubmission = std::chrono::minutes{3};
        limits.engine.lifetime = std::chrono::minutes{5};
        limits.engine.takeover = std::chrono::minutes{1};
        limits.engine.patience = std::chrono::minutes{2};
        limits.settles_within = std::chrono::hours{2};
        return limits;
    }

private:
    /// Short times, so that takeover, expiry and the end of patience occur in a run. Clocks jump
    /// further apart than `options::clocks` allows.
    static settle::options default_engine() {
        settle::options options;
        options.clocks = std::chrono::minutes{1};
        options.takeover = std::chrono::milliseconds{50};
        options.lifetime = std::chrono::minutes{1};
        options.attempts = 8;
        options.patience = std::chrono::milliseconds{500};
        return options;
    }
};

/// The result of a simulation. It converts to true when there was no problem.
struct simulation_report {
    std::uint64_t seed = 0;
    std::vector<std::string> problems; ///< in the order in which they were found
    std::uint64_t trace = 0;           ///< a hash over every step: time, worker, call, fault
    std::uint64_t steps = 0;           ///< calls to stores, logs, services and resources
    std::uint64_t begun = 0;           ///< transactions begun by a worker
    std::uint64_t done = 0;            ///< entries, reversals included
    std::uint64_t canceled = 0;
    std::map<reason, std::uint64_t> reasons; ///< the number of cancels for each reason
    std::uint64_t reversed = 0;              ///< reversals that are done
    std::uint64_t crashes = 0;
    std::uint64_t lost = 0;              ///< calls whose outcome was unknown
    std::uint64_t late = 0;              ///< writes and calls that arrived late
    std::uint64_t service_calls = 0;     ///< waves of calls to services
    std::uint64_t service_faults = 0;    ///< times that a service was away, slow or restarted
    std::uint64_t restores = 0;          ///< returns of a service to a backup
    std::uint64_t purged = 0;            ///< the number of purges of an entry
    std::uint64_t again = 0;             ///< purged ids that a late insert put back
    std::uint64_t claims = 0;            ///< claims and cancels that took over an entry
    std::chrono::nanoseconds lasted{};   ///< virtual time until the end
    std::chrono::nanoseconds settling{}; ///< virtual time from the last fault to the end

    explicit operator bool() const noexcept { return problems.empty(); }

    friend std::ostream& operator<<(std::ostream& out, simulation_report const& shown) {
        auto const seconds = [](std::chrono::nanoseconds time) {
            return std::chrono::duration<double>{time}.count();
        };
        out << "seed " << shown.seed << ": " << shown.begun << " transactions begun, " << shown.done
            << " done (" << shown.reversed << " reversals), " << shown.canceled << " canceled";
        char const* separator = " (";
        for (auto const& [why, count] : shown.reasons) {
            out << separator << name_of(why) << ' ' << count;
            separator = ", ";
        }
        out << (shown.reasons.empty() ? "; " : "); ") << shown.steps << " calls, " << shown.crashes
            << " crashes, " << shown.lost << " answers lost, " << shown.late << " writes late, "
            << shown.service_calls << " waves of calls to services (" << shown.service_faults
            << " times away, slow or restarted, " << shown.restores << " backups restored), "
            << shown.claims << " claims, " << shown.purged << " entries purged (" << shown.again
            << " came again); " << seconds(shown.lasted) << " s of virtual time, settled "
            << seconds(shown.settling) << " s after the last fault; trace " << shown.trace;
        for (auto const& problem : shown.problems) out << "\n  " << problem;
        return out;
    }
};

} // namespace testing
SETTLE_END
