// SPDX-License-Identifier: BSL-1.0
// The limits of an engine and of a single call.
#pragma once

#include <settle/store/environment.hpp>
#include <settle/store/saturating.hpp>

SETTLE_BEGIN

/// The limits of an engine. Every default is explained in running#options. A limit that is the
/// longest duration of its unit is for ever.
/// Errors:  the engine's constructor throws errc::bad_option when a limit is below 0, or lifetime 0
struct options {
    /// How long a caller watches an entry of somebody else stand still before it claims it.
    time_limit takeover = std::chrono::seconds{5};
    /// How long after its end a transaction can be reversed, and within which an id is sent again.
    time_limit resubmission = std::chrono::hours{24};
    /// An entry older than this is never committed any more, only canceled. The same holds for an
    /// entry that was created further ahead than `clocks`, unless this is for ever.
    time_limit lifetime = std::chrono::hours{24 * 7};
    /// How far the clocks of the machines that share a log may be apart. An entry that is dated
    /// further ahead was dated by a wrong clock, and counts as standing still.
    time_limit clocks = std::chrono::hours{1};
    /// How often a transaction that meets others' marks starts over before it is canceled as busy.
    std::uint32_t attempts = 25;
    /// The first pause before it starts over; it doubles, jittered, up to `longest_pause`, which
    /// counts as an hour at most.
    saturating<std::chrono::microseconds> first_pause = std::chrono::microseconds{200};
    saturating<std::chrono::microseconds> longest_pause = std::chrono::milliseconds{50};
    /// How long a call without a deadline of its own tries to reach a store.
    time_limit patience = std::chrono::seconds{30};

    /// Until then after its creation a finished entry still answers: a call under its id may come,
    /// or a late write. Younger ones are never purged.
    [[nodiscard]] constexpr std::chrono::milliseconds horizon() const {
        using std::chrono::milliseconds;
        milliseconds sum{0};
        for (auto const given : {resubmission, lifetime, clocks}) {
            // "For ever" stays that, with whatever is added.
            auto const one = std::max<milliseconds>(given, milliseconds{0});
            sum = one > milliseconds::max() - sum ? milliseconds::max() : sum + one;
        }
        return sum;
    }
};

/// The limits of one call.
struct call_options {
    std::optional<time_limit> deadline{}; ///< from the call
    std::stop_token stop{};
};

/// Whether a limit of a call has passed before the call begins.
template <typename Limits>
[[nodiscard]] bool has_passed(Limits const& call) {
    if constexpr (requires { call.deadline; }) {
        if (call.deadline && call.deadline->count() <= 0) return true;
    }
    return call.stop.stop_requested();
}

/// The limits of a call that runs many transactions.
struct batch_options {
    /// How many are under way at a time; 0 leaves it to the stores. Work on one record keeps the
    /// order of the input.
    std::size_t window = 0;
    std::optional<time_limit> deadline{}; ///< from the call
    std::stop_token stop{};
};

struct recover_options {
    /// How long an entry must have stood still. An entry whose owner was a process of this machine
    /// that is gone is taken at once, and so is an entry that a wrong clock has dated ahead.
    time_limit older_than = std::chrono::minutes{30};
    std::size_t limit = ~std::size_t{0}; ///< those that are skipped do not count
    std::size_t window = 0; ///< how many are under way at a time; 0 leaves it to the stores
    std::stop_token stop{};
};

struct work_options {
    std::size_t limit = ~std::size_t{0}; ///< those that are skipped do not count
    std::size_t window = 0; ///< how many are under way at a time; 0 leaves it to the stores
    std::stop_token stop{};
};

struct purge_options {
    /// How long ago a finished entry must have been created, and have ended; more than
    /// `options::horizon()`.
    time_limit older_than = std::chrono::hours{24 * 30};
    std::size_t step = 1000; ///< how many go at a time, while others wait; 1 to 100,000
    std::size_t limit = ~std::size_t{0};
    std::stop_token stop{};
};

struct cancel_options {
    /// Inserts an id that nobody knows as `canceled`, so that it can never run.
    bool even_if_unknown = false;
    std::optional<time_limit> deadline{};
    std::stop_token stop{};
};

SETTLE_END
