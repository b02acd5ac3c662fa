// SPDX-License-Identifier: BSL-1.0
// The limits of an engine and of a single call.
#pragma once

#include <settle/base/environment.hpp>
#include <settle/base/saturating.hpp>

#include <optional>
#include <string>
#include <string_view>

SETTLE_BEGIN

/// When a call answers that a transaction is done.
enum class answer_time : std::uint8_t {
    at_end,   ///< each part is confirmed, on the disk
    at_commit ///< the decision is on the disk; the engine confirms the parts afterwards
};
using enum answer_time;

/// The limits of an engine; options#options explains each default. The longest duration of a
/// limit's unit means "for ever".
/// Errors:  the engine's constructor throws errc::bad_option when a limit is below 0, or lifetime 0
struct options {
    /// How long a caller watches another owner's entry stand still before it claims the entry.
    time_limit takeover = std::chrono::seconds{5};
    /// How long a transaction can be reversed after its end, and an id be submitted again.
    time_limit resubmission = std::chrono::hours{24};
    /// An entry older than this is never committed, only canceled. The same holds for an entry
    /// created more than `clocks` in the future, unless this limit is "for ever".
    time_limit lifetime = std::chrono::hours{24 * 7};
    /// The largest difference between the clocks of machines that share a log. An entry with a time
    /// further in the future has it from a wrong clock, and counts as standing still.
    time_limit clocks = std::chrono::hours{1};
    /// How often a transaction backs off from others' marks before it is canceled as busy.
    std::uint32_t attempts = 25;
    /// The first pause before a transaction tries again. Each further pause doubles, with jitter,
    /// up to `longest_pause`, which counts as an hour at most.
    saturating<std::chrono::microseconds> first_pause = std::chrono::microseconds{200};
    saturating<std::chrono::microseconds> longest_pause = std::chrono::milliseconds{50};
    /// How often a call of a service that is unavailable or unknown is made before its transaction
    /// is canceled. A pivot, a confirm and a compensation are repeated without a limit.
    std::uint32_t call_attempts = 10;
    /// As first_pause and longest_pause, for calls of services.
    saturating<std::chrono::microseconds> call_first_pause = std::chrono::milliseconds{100};
    saturating<std::chrono::microseconds> call_longest_pause = std::chrono::seconds{30};
    /// As `patience`, for a transaction that waits for a service.
    time_limit call_patience = std::chrono::minutes{1};
    /// An unfinished transaction that was created longer ago than this is stuck. The observer sees
    /// it with event::stuck, engine.stuck() lists it, and engine.statistics() counts it.
    time_limit stuck_after = std::chrono::minutes{10};
    /// In a call without a deadline, a transaction that has to pause (a store is unreachable, a
    /// record is busy, or another owner has the entry) gives up this long after its first pause. So
    /// does each read of a log or a store outside of transactions.
    time_limit patience = std::chrono::seconds{30};
    /// With `at_commit`, `run`, `reverse` and the runner answer when the transaction is decided,
    /// with outcome::finished false: see late_entries#answered-at-the-commit. `run_all`, one phase
    /// and the memory store always answer at the end.
    answer_time answer = at_end;

    /// How long after its creation a finished entry is still needed: by a call with its id, or
    /// against a late write. A purge erases no younger entry.
    [[nodiscard]] constexpr std::chrono::milliseconds horizon() const {
        using std::chrono::milliseconds;
        milliseconds sum{0};
        for (auto const duration : {resubmission, lifetime, clocks}) {
            // "For ever" plus any duration stays "for ever".
            auto const one = std::max<milliseconds>(duration, milliseconds{0});
            sum = one > milliseconds::max() - sum ? milliseconds::max() : sum + one;
        }
        return sum;
    }
};

/// The limits of one call.
struct call_options {
    std::optional<time_limit> deadline{}; ///< counted from the start of the call
    std::stop_token stop{};
    /// The W3C trace context of the caller, kept in the entry that the call inserts; empty if there
    /// is none. A call that continues an entry has the trace context of that entry.
    /// Shape:   outlives the call, or the start of a runner
    std::string_view traceparent{};
};

/// True if the deadline has passed, or a stop was requested, before the call begins. Where it is
/// inlined, g++ 12 warns that the value of an empty deadline is read.
template <typename Limits>
[[nodiscard, gnu::noinline]] bool has_passed(Limits const& call) {
    if constexpr (requires { call.deadline; }) {
        if (call.deadline && call.deadline->count() <= 0) return true;
    }
    return call.stop.stop_requested();
}

/// The limits of a call that runs many transactions.
struct batch_options {
    /// How many transactions are under way at a time; 0 lets the stores choose. Transactions that
    /// share a record keep the order of the input.
    std::size_t window = 0;
    std::optional<time_limit> deadline{}; ///< counted from the start of the call
    std::stop_token stop{};
    std::string_view traceparent{}; ///< of all its transactions, as in call_options
};

struct recover_options {
    /// How long an entry must have stood still. An entry is claimed at once if its owner was a
    /// process of this machine that is gone, or if a wrong clock dated it in the future.
    time_limit older_than = std::chrono::minutes{30};
    std::size_t limit = ~std::size_t{0}; ///< the most entries to claim; skipped ones do not count
    std::size_t window = 0; ///< how many are under way at a time; 0 lets the stores choose
    std::stop_token stop{};
};

struct work_options {
    std::size_t limit = ~std::size_t{0}; ///< the most entries to run; skipped ones do not count
    std::size_t window = 0; ///< how many are under way at a time; 0 lets the stores choose
    std::stop_token stop{};
};

struct purge_options {
    /// How long ago a finished entry must have been created, and must have ended; must be more than
    /// the longest `options::horizon()` of all engines that have used the log.
    time_limit older_than = std::chrono::hours{24 * 30};
    std::size_t step = 1000; ///< entries erased at a time, while other calls wait; 1 to 100,000
    std::size_t limit = ~std::size_t{0}; ///< the most entries to erase
    std::stop_token stop{};
};

/// What a person learned from the service about a call that cannot be undone.
enum class pivot_outcome : std::uint8_t { was_applied, was_not_applied };

struct resolve_options {
    std::optional<std::uint32_t> line{}; ///< from 0, of a range; messages count lines from 1
    /// Of a transaction that is `deciding`; it then commits or cancels. In other states: none.
    std::optional<pivot_outcome> pivot{};
    /// JSON: the result of a pivot that was applied, if its service gives one.
    std::string result{};
    std::optional<time_limit> deadline{};
    std::stop_token stop{};
};

struct cancel_options {
    /// Inserts an id that the log does not have as `canceled`, so that it can never run.
    bool even_if_unknown = false;
    std::optional<time_limit> deadline{};
    std::stop_token stop{};
};

SETTLE_END
