// SPDX-License-Identifier: BSL-1.0
// The entry of a transaction in the log, and the test for its stray marks.
#pragma once

#include <settle/base/saturating.hpp>
#include <settle/definition/structure.hpp>
#include <settle/protocol/state.hpp>

#include <optional>
#include <string>
#include <vector>

SETTLE_BEGIN

/// The effect of an exclusive part on one record, as JSON: the whole native record before it, and
/// the described members after it. A text is empty if the record did not exist.
struct image {
    std::uint32_t participant;
    std::uint32_t line;
    std::string before;
    std::string after;

    friend bool operator==(image const&, image const&) = default;
};

/// The answer of one part of a stage, which the entry has before the next stage begins.
struct kept_result {
    std::uint32_t participant = 0;
    std::uint32_t line = 0;
    std::string value;                   ///< JSON
    std::optional<std::string> closed{}; ///< why a person closed the part, if a person did

    friend bool operator==(kept_result const&, kept_result const&) = default;
};

/// One transaction in the log.
struct entry {
    transaction_id id;
    std::string type;             ///< the transaction type's name; empty if a cancel or a sweep
                                  ///< inserted the entry
    std::uint64_t definition = 0; ///< the fingerprint of the definition's canonical text
    std::string parameters;       ///< JSON
    settle::state state = settle::state::initial;
    epoch epoch_number = 0;
    epoch committed = 0;          ///< the epoch of the commit; 0 before it, and in one phase
    std::uint32_t revision = 0;   ///< the number of keeps and of calls that a person closed
    stage_number stages_kept = 0; ///< the number of stages whose results the entry has
    std::string owner;            ///< the process that claimed it last: host, process, start
    timestamp created;
    timestamp modified;
    std::uint32_t attempts = 0;        ///< the number of claims, and of pauses for a busy call
    reason why = reason::none;         ///< the reason of the cancel, or of the end in a copy
    std::string why_text;              ///< the sentence of the error behind it, if there was one
    std::string participant;           ///< the participant that caused the cancel, if any
    std::optional<std::uint32_t> line; ///< the line of that participant, in a range
    std::vector<image> images;
    std::vector<kept_result> results; ///< of the kept stages; from the commit on, of all stages
    /// How often calls were tried without an answer, by all workers, since the entry was last in
    /// another state or had fewer stages kept.
    std::uint32_t call_tries = 0;
    timestamp next_try{};    ///< when such a call is made again; timestamp{} if no try has failed
    std::string traceparent; ///< of the call that inserted it; empty if that call had none
    std::string fault;       ///< in a listing: why the entry cannot be decoded; empty if it can

    friend bool operator==(entry const&, entry const&) = default;
};

/// The fields of an entry that the coordinator reads.
struct standing {
    settle::state state = settle::state::initial;
    epoch epoch_number = 0;
    epoch committed = 0;
    std::uint32_t attempts = 0;
    std::uint32_t revision = 0;
    /// A number of its own: a stage may have no result, and other writes may raise the revision.
    stage_number stages_kept = 0;

    friend bool operator==(standing const&, standing const&) = default;
};

/// True if a mark with this epoch is stray: its transaction is final and did not commit with that
/// epoch, or it has a birth and the entry of another call is there. Marks that other programs write
/// without an epoch have epoch 0, which no commit has. A mark of a birth above a bar is not stray:
/// its call may still insert its entry.
[[nodiscard]] constexpr bool is_stray(standing const& entry, epoch marked) {
    switch (entry.state) {
    case state::canceled: return true;
    case state::done: return entry.committed != marked || marked == 0;
    case state::barred: return is_birth(marked) && entry.epoch_number >= marked;
    default: return is_birth(marked) && entry.committed != marked;
    }
}

/// Shape:   Entry - has the members of a standing
template <typename Entry>
[[nodiscard]] constexpr standing standing_of(Entry const& entry) {
    return {entry.state,    entry.epoch_number, entry.committed,
            entry.attempts, entry.revision,     entry.stages_kept};
}

namespace detail {

/// No pause between two tries of a call is longer.
inline constexpr std::chrono::hours longest_call_pause{24};

/// True if a call is made again only after `now`. A later time than a pause can reach is of a wrong
/// clock.
[[nodiscard]] constexpr bool waits_for_try(timestamp next_try, timestamp now) {
    return next_try > now && next_try - now <= longest_call_pause;
}

/// How long an entry has stood still.
[[nodiscard]] inline std::chrono::milliseconds still_for(entry const& entry, timestamp now,
                                                         std::chrono::milliseconds clocks) {
    return is_ahead(entry.created, now, clocks) ? std::chrono::milliseconds::max()
                                                : age_of(entry.modified, now, clocks);
}

} // namespace detail
SETTLE_END

SETTLE_STRUCT(settle::image, participant, line, before, after);
SETTLE_STRUCT(settle::kept_result, participant, line, value, closed);
