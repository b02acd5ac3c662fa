// SPDX-License-Identifier: BSL-1.0
// The observer: sees every step of every transaction, and never a secret value.
#pragma once

#include <settle/base/saturating.hpp>
#include <settle/definition/codec.hpp>
#include <settle/protocol/step.hpp>

#include <stdexcept>

SETTLE_BEGIN

namespace testing {

/// Ends a worker of a test at once, as a kill would: nothing is cleaned up. No other exception of
/// an observer ends its call at once.
struct crash : std::runtime_error {
    crash() : std::runtime_error("settle: the worker was ended by a test") {}
};

} // namespace testing

/// One step of a transaction; `step::end` reports that the transaction is over.
struct event {
    transaction_id const& id;
    std::string_view type; ///< the name of the transaction type; empty for a tombstone
    step taken = step::end;
    settle::state state = settle::state::initial; ///< of the entry, after the step
    std::uint32_t attempts = 0;
    answer failed_answer =
        answer::none; ///< of a store's step: the first answer that is not a success
    reason why = reason::none;
    /// The store's own message, if it had a problem; at `step::end` the text of `why`, if any.
    std::string_view problem;
    void (*show)(std::string&, void const*, secrets) = nullptr;
    void const* shown = nullptr;
    bool by_this_call = false; ///< of `step::end`: the observed call made the state final
    /// True if this step failed and will be taken again, and the transaction is older than
    /// options::stuck_after or only a person can change the answer: `problem` has it. An engine
    /// sets it once for each transaction.
    bool stuck = false;
    std::string_view participant{};      ///< the participant that failed, if one did
    std::optional<std::uint32_t> line{}; ///< its line, if the participant is a range
    timestamp created{};                 ///< when the transaction began
    timestamp when{};                    ///< when the worker last read its clock
    bool first = false;                  ///< of the events that this call gives for the transaction
    bool inserted = false;               ///< the step inserted the entry
    bool claimed = false;                ///< the step raised the epoch of the entry
    bool took_over = false;         ///< the step claimed an unfinished entry that another call had
    bool again = false;             ///< the step is taken again, since it failed
    std::string_view traceparent{}; ///< of the entry; empty if it has none

    /// True if this call has ended the transaction. This holds for one event of each transaction.
    [[nodiscard]] bool ends() const noexcept { return taken == step::end && by_this_call; }
    /// True if the transaction had ended before this call, or another call has ended it.
    [[nodiscard]] bool ended_before() const noexcept { return taken == step::end && !by_this_call; }

    /// The parameters as JSON; a secret member is written as "***".
    [[nodiscard]] std::string parameters() const {
        std::string text;
        if (show != nullptr) show(text, shown, secrets::hidden);
        return text;
    }
};

/// One call of a store or of the log, which holds the work of one step for many transactions.
struct store_call {
    std::string_view store; ///< the names of its collections and services; "log" of the log
    step taken;
    std::size_t parts;   ///< or entries, of a call of the log
    std::size_t unknown; ///< of these, how many have an unknown outcome
    std::chrono::nanoseconds took;
};

// An observer is a function of an event. It may also have these members, which must not throw:
//   left(type)      A call has left a transaction of this type unfinished, after its events.
//   called(call)    A store or the log has answered a store_call. A log and stores that are all
//                   plain containers of this process give none.
//   swept(count)    A sweep or a recovery has undone so many stray marks.
//   skips_plain_steps = true   A constant: it gets no event of a step that is neither the first nor
//                   taken again, and that neither waits nor inserts nor claims the entry. Its
//                   events lack failed_answer. Of a transaction in containers a later event may
//                   tell that one was the first, or inserted or claimed the entry.

/// The observer of an engine without an observer: it costs nothing.
struct no_observer {
    void operator()(event const&) const noexcept {}
};

namespace detail {

template <typename Observer>
inline constexpr bool skips_steps = false;
template <typename Observer>
    requires requires { requires Observer::skips_plain_steps; }
inline constexpr bool skips_steps<Observer> = true;

} // namespace detail

SETTLE_END
