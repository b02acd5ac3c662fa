// SPDX-License-Identifier: BSL-1.0
// How long a simulation runs, what goes wrong in it, and how it ended.
#pragma once

#include <settle/protocol/state.hpp>
#include <settle/running/options.hpp>
#include <settle/testing/simulate/dice.hpp>

#include <map>
#include <ostream>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// How often things go wrong: in a million calls to a store or a log.
struct fault_rates {
    std::uint32_t crash = 1'500;       ///< the worker ends before or after the call
    std::uint32_t pause = 2'000;       ///< the worker stands still before the call
    std::uint32_t unavailable = 5'000; ///< the call takes no effect, and says so
    std::uint32_t unknown = 10'000;    ///< the answer is lost; the effect is there or is not
    std::uint32_t late = 20'000;       ///< the answer is lost; the write arrives later
    std::uint32_t away = 150;          ///< the whole database cannot be reached for a while
    std::uint32_t jump = 300;          ///< the worker's clock is set to another time
};

struct simulation_limits {
    std::uint64_t seed = 1;
    std::size_t workers = 24;
    std::size_t transactions = 2'000; ///< how many are begun
    fault_rates faults{};
    settle::options engine = default_engine(); ///< of every worker's engine
    std::chrono::nanoseconds longest_call = std::chrono::milliseconds{2};
    std::chrono::nanoseconds longest_pause = std::chrono::seconds{3};
    std::chrono::nanoseconds longest_late = std::chrono::seconds{10};
    std::chrono::nanoseconds longest_away = std::chrono::milliseconds{300};
    std::chrono::nanoseconds longest_jump = std::chrono::minutes{2}; ///< forward or back
    /// After the faults have ended, everything must be settled and every mark gone within this
    /// (virtual) time.
    std::chrono::nanoseconds settles_within = std::chrono::minutes{10};
    /// Somebody purges the log now and then.
    bool purges = false;
    /// The declared sums are looked at once in so many steps.
    std::uint32_t look_every = 4;
    /// A run that takes more calls than this for each transaction is held for endless.
    std::uint64_t calls_each = 5'000;

    /// Limits that a seed draws: some kinds of fault often, others never, few workers or many.
    [[nodiscard]] static simulation_limits drawn(std::uint64_t seed) {
        simulation_limits made;
        made.seed = seed;
        dice chance{hash_mix(2, seed)};
        made.workers = chance.between<std::size_t>(2, 32);
        fault_rates& rates = made.faults;
        for (std::uint32_t* rate : {&rates.crash, &rates.pause, &rates.unavailable, &rates.unknown,
                                    &rates.late, &rates.away, &rates.jump}) {
            constexpr std::uint32_t tenths[]{0, 3, 10, 10, 20, 30};
            *rate = *rate / 10 * tenths[chance.draw() % 6];
        }
        made.engine.attempts = chance.between(2U, 12U);
        made.engine.takeover = std::chrono::milliseconds{chance.between(5, 400)};
        made.longest_call = chance.up_to(std::chrono::milliseconds{20});
        return made;
    }

    /// Limits under which entries grow old enough to be purged while writes to them are still on
    /// their way.
    [[nodiscard]] static simulation_limits slow(std::uint64_t seed) {
        simulation_limits made;
        made.seed = seed;
        made.purges = true;
        made.longest_call = std::chrono::seconds{20};
        made.longest_late = std::chrono::minutes{40};
        // Clocks that jump by more than `options::clocks` allows break what a purge rests on.
        made.faults.jump = 0;
        made.engine.clocks = std::chrono::milliseconds{0};
        made.engine.resubmission = std::chrono::minutes{3};
        made.engine.lifetime = std::chrono::minutes{5};
        made.engine.takeover = std::chrono::minutes{1};
        made.engine.patience = std::chrono::minutes{2};
        made.settles_within = std::chrono::hours{2};
        return made;
    }

private:
    /// Short, so that takeover, expiry and lost patience come up among all the rest, and clocks
    /// that jump go further than they may be apart.
    static settle::options default_engine() {
        settle::options made;
        made.clocks = std::chrono::minutes{1};
        made.takeover = std::chrono::milliseconds{50};
        made.lifetime = std::chrono::minutes{1};
        made.attempts = 8;
        made.patience = std::chrono::milliseconds{500};
        return made;
    }
};

/// How a simulation ended. It is true when nothing was wrong.
struct simulation_report {
    std::uint64_t seed = 0;
    std::vector<std::string> problems; ///< what was wrong, the first first
    std::uint64_t trace = 0;           ///< a hash over every step: time, worker, call, fault
    std::uint64_t steps = 0;           ///< calls to stores and logs
    std::uint64_t begun = 0;           ///< transactions that somebody began
    std::uint64_t done = 0;            ///< entries, reversals included
    std::uint64_t canceled = 0;
    std::map<reason, std::uint64_t> reasons; ///< why they were canceled, and how many for each
    std::uint64_t reversed = 0;        ///< reversals that are done
    std::uint64_t crashes = 0;
    std::uint64_t lost = 0;            ///< calls whose outcome was unknown
    std::uint64_t late = 0;            ///< writes that arrived late
    std::uint64_t purged = 0;          ///< how often an entry was purged
    std::uint64_t again = 0;           ///< of those, how many came again: inserts that were late
    std::uint64_t claims = 0;          ///< how often an entry was claimed or canceled by another
    std::chrono::nanoseconds lasted{}; ///< virtual time, until all was settled
    std::chrono::nanoseconds settling{}; ///< of it, after the faults had ended

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
        out << (shown.reasons.empty() ? "; " : "); ") << shown.steps << " calls, "
            << shown.crashes << " crashes, " << shown.lost << " answers lost, " << shown.late
            << " writes late, " << shown.claims << " claims, " << shown.purged
            << " entries purged (" << shown.again << " came again); " << seconds(shown.lasted)
            << " s of virtual time, settled " << seconds(shown.settling)
            << " s after the last fault; trace " << shown.trace;
        for (auto const& one : shown.problems) out << "\n  " << one;
        return out;
    }
};

} // namespace testing
SETTLE_END
