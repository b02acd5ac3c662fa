// SPDX-License-Identifier: BSL-1.0
// The results of calls: the outcome of a transaction, and reports of batches and maintenance.
#pragma once

#include <settle/base/error.hpp>
#include <settle/protocol/entry.hpp>

#include <concepts>
#include <iosfwd>
#include <optional>
#include <vector>

SETTLE_BEGIN

enum class verdict : std::uint8_t {
    done,      ///< every effect took place, exactly once
    canceled,  ///< no effect remains; `why` is the reason
    undecided, ///< this call does not know the outcome; the log has it, or recovery will settle it
    refused    ///< the call wrote nothing; `problem` says what to change
};

[[nodiscard]] constexpr std::string_view name_of(verdict value) {
    constexpr std::string_view names[]{"done", "canceled", "undecided", "refused"};
    return names[static_cast<std::size_t>(value)];
}

/// The outcome of one transaction. It always carries the id.
struct [[nodiscard("settle: only the outcome says whether the transaction is done. Look at it, or "
                   "write std::ignore = in front. See running#undecided")]] outcome {
    transaction_id id;
    settle::verdict verdict = settle::verdict::undecided;
    reason why = reason::none;         ///< the reason of a cancel or a refusal
    std::string participant;           ///< the participant that failed, if any
    std::optional<std::uint32_t> line; ///< its line from 0, in a range; text() counts from 1
    error problem;                     ///< the error of a store or the log, or of a refusal
    /// False if the transaction is done, and this call ended before all of its parts were
    /// confirmed. Recovery confirms them, or the engine with options::answer = at_commit.
    bool finished = true;
    /// The results of the calls, if the transaction has an end; result_of() reads one.
    std::vector<kept_result> results{};

    [[nodiscard]] bool done() const noexcept { return verdict == settle::verdict::done; }
    [[nodiscard]] bool canceled() const noexcept { return verdict == settle::verdict::canceled; }
    template <std::same_as<bool> Bool>
    explicit operator Bool() const {
        static_assert(sizeof(Bool) == 0, "settle: an outcome is not true or false. Ask done() or "
                                         "canceled(), or see verdict. See reference#outcome");
        return {};
    }

    friend bool operator==(outcome const&, outcome const&) = default;
    template <std::same_as<bool> Bool>
    friend bool operator==(outcome const& compared, Bool) {
        return static_cast<Bool>(compared);
    }

    /// One line for a person: `transfer-1: canceled (source: guard failed)`.
    [[nodiscard]] std::string text() const;

    friend std::ostream& operator<<(std::ostream& out, outcome const& shown);
};

/// The report of a batch.
struct batch_report {
    std::size_t taken = 0;                  ///< elements taken from the range; each has an outcome
    std::optional<std::size_t> not_taken{}; ///< elements left in the range, if it knows its size
    error problem{};                        ///< why the batch ended before its range did

    friend bool operator==(batch_report const&, batch_report const&) = default;
};

/// The outcomes of a batch, in the order of its range.
struct [[nodiscard("settle: only the outcomes say which transactions are done. Look at them, or "
                   "write std::ignore = in front. See running#undecided")]] batch_outcomes
    : std::vector<outcome> {
    batch_report report;
};

/// An entry that could not be handled, and why.
struct skipped_entry {
    transaction_id id;
    error problem;
};

/// The report of a call of `work` or `recover`.
struct recovery_report {
    std::uint64_t done = 0;
    std::uint64_t canceled = 0;
    std::uint64_t undecided = 0; ///< the next round may settle them
    std::uint64_t elsewhere = 0; ///< another worker claimed them meanwhile
    std::uint64_t young = 0; ///< left: they moved less than older_than ago, or wait for a call's
                             ///< next try
    std::vector<skipped_entry> skipped; ///< not in the counts above; each has a reason
    error problem; ///< why the round ended early, or why the first undecided entry did not end
};

/// The report of a purge.
struct purge_report {
    std::uint64_t erased = 0;
    error problem; ///< why the purge ended early, or did not begin
};

/// The report of a sweep.
struct sweep_report {
    std::uint64_t looked_at = 0;  ///< marks seen, as engine::marks() counts them
    std::uint64_t undone = 0;     ///< stray marks compensated
    std::uint64_t tombstones = 0; ///< entries inserted as canceled, reason "mark without entry", or
                                  ///< as bars
    std::vector<skipped_entry> skipped; ///< entries whose marks were not undone; each has a reason
    error problem;                      ///< why the sweep ended early, if it did
};

SETTLE_END

template <>
struct std::hash<settle::outcome> {
    std::size_t operator()(settle::outcome const& value) const noexcept {
        std::size_t seed = std::hash<std::string>{}(value.id);
        seed = settle::hash_mix(seed, static_cast<std::uint64_t>(value.verdict) |
                                          static_cast<std::uint64_t>(value.why) << 8U);
        seed = settle::hash_mix(seed, std::hash<std::string>{}(value.participant));
        return settle::hash_mix(seed, value.line ? *value.line + 1U : 0U);
    }
};

#ifndef SETTLE_COMPILED
#include <settle/running/calls/outcome.ipp>
#endif
