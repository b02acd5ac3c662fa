// SPDX-License-Identifier: BSL-1.0
// How a transaction ended, as its caller sees it.
#pragma once

#include <settle/protocol/state.hpp>
#include <settle/store/error.hpp>

#include <optional>
#include <ostream>
#include <vector>

SETTLE_BEGIN

enum class verdict : std::uint8_t {
    done,      ///< every effect took place, once
    canceled,  ///< none did; `why` says what stood against it
    undecided, ///< not known here; the log knows, or recovery will settle it
    refused    ///< nothing was written; `problem` says what to change
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
    reason why = reason::none;           ///< why it was canceled or refused
    std::string participant;             ///< the participant that failed, when one did
    std::optional<std::uint32_t> line;   ///< and its line, in a range
    error problem;                       ///< what could not be reached, or what was refused

    [[nodiscard]] bool done() const noexcept { return verdict == settle::verdict::done; }
    [[nodiscard]] bool canceled() const noexcept { return verdict == settle::verdict::canceled; }

    friend bool operator==(outcome const&, outcome const&) = default;

    /// One line for a person: `transfer-1: canceled (source: guard failed)`.
    [[nodiscard]] std::string text() const {
        std::string out = id + ": " + std::string{name_of(verdict)};
        if (why != reason::none) {
            out += " (";
            if (!participant.empty()) out += participant;
            if (line) out += " line " + std::to_string(*line + 1);
            if (!participant.empty()) out += ": ";
            out += name_of(why);
            out += ')';
        }
        if (!problem.empty()) out += ": " + problem.message();
        return out;
    }

    friend std::ostream& operator<<(std::ostream& out, outcome const& shown) {
        return out << shown.text();
    }
};

/// How far a batch got through its range.
struct batch_report {
    std::size_t taken = 0;                  ///< elements that were taken; each has its outcome
    std::optional<std::size_t> not_taken{}; ///< how many were not; none where nobody can count them
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

/// What a round of `work` or `recover` did.
struct recovery_report {
    std::uint64_t done = 0;
    std::uint64_t canceled = 0;
    std::uint64_t undecided = 0;        ///< the next round may settle them
    std::uint64_t elsewhere = 0;        ///< another worker took them meanwhile
    std::uint64_t young = 0;            ///< left, since they have not stood still for so long
    std::vector<skipped_entry> skipped; ///< beside those; each with what to do about it
    error problem; ///< why the round ended early, or what kept the first entry undecided
};

/// What a purge did.
struct purge_report {
    std::uint64_t erased = 0;
    error problem; ///< why it ended early, or did not begin
};

/// What a sweep did.
struct sweep_report {
    std::uint64_t looked_at = 0; ///< marks seen
    std::uint64_t undone = 0;    ///< stray marks compensated
    std::uint64_t annulled = 0;  ///< entries inserted as canceled, reason "mark without entry"
    std::vector<skipped_entry> skipped; ///< of marks left alone, each with what to do about it
    error problem;                      ///< why the sweep ended early, when it did
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
