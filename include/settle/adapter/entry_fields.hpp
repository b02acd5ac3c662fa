// SPDX-License-Identifier: BSL-1.0
// The fields of a stored entry: their names and order, the fields that each write stores, their
// values in a write, and their members in an entry that is read. A log adds only the native form of
// each value.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/store/entry_facts.hpp>
#include <settle/store/request.hpp>

#include <array>
#include <span>

SETTLE_BEGIN
namespace detail {

/// `definition` has the digits of the fingerprint, `parameters` is JSON, and `open` is true as long
/// as the entry is unfinished.
enum class entry_field : std::uint8_t {
    id,
    type,
    definition,
    parameters,
    state,
    epoch,
    committed,
    owner,
    created,
    modified,
    attempts,
    reason,
    participant,
    line,
    images,
    open,
    revision,
    stages_kept,
    results,
    reason_text,
    call_tries,
    next_try,
    tried_in,
    traceparent
};

inline constexpr std::array<std::string_view, 24> entry_field_names{
    "id",          "type",        "definition", "parameters", "state",    "epoch",
    "committed",   "owner",       "created",    "modified",   "attempts", "reason",
    "participant", "line",        "images",     "open",       "revision", "stages_kept",
    "results",     "reason_text", "call_tries", "next_try",   "tried_in", "traceparent"};

[[nodiscard]] constexpr std::string_view name_of(entry_field field) {
    return entry_field_names[static_cast<std::size_t>(field)];
}

inline constexpr auto all_entry_fields = [] {
    std::array<entry_field, entry_field_names.size()> all{};
    for (std::size_t at = 0; at < all.size(); ++at) all[at] = static_cast<entry_field>(at);
    return all;
}();

/// True if an entry may lack the field, which then has its initial value.
[[nodiscard]] constexpr bool may_be_absent(entry_field field) {
    return field == entry_field::committed || field >= entry_field::reason;
}

namespace fields_of_write {

using enum entry_field;
inline constexpr std::array insert{id,       type,        definition,  parameters, state,
                                   epoch,    committed,   owner,       created,    modified,
                                   attempts, reason,      participant, line,       images,
                                   open,     stages_kept, reason_text, traceparent};
inline constexpr std::array claim{state, epoch, owner, modified, attempts};
inline constexpr std::array keep{state,       modified, attempts,  revision,
                                 stages_kept, results,  call_tries};
inline constexpr std::array pause{modified, call_tries, next_try, tried_in};
inline constexpr std::array commit{state, committed, modified, attempts, images, results};
inline constexpr std::array commit_and_close{state,  committed, modified, attempts,
                                             images, results,   open};
inline constexpr std::array close{state, modified, open};
inline constexpr std::array cancel{state,       epoch, owner, modified, attempts,   reason,
                                   participant, line,  open,  results,  reason_text};
inline constexpr std::array one_phase{state,       epoch, owner,  modified, attempts,   reason,
                                      participant, line,  images, open,     reason_text};

} // namespace fields_of_write

/// The fields that a compare-and-set stores. All others stay.
[[nodiscard]] constexpr std::span<entry_field const> fields_changed_by(step action) {
    switch (action) {
    case step::claim: return fields_of_write::claim;
    case step::keep: return fields_of_write::keep;
    case step::pause: return fields_of_write::pause;
    case step::commit: return fields_of_write::commit;
    case step::commit_and_close: return fields_of_write::commit_and_close;
    case step::close: return fields_of_write::close;
    case step::cancel: return fields_of_write::cancel;
    default: return fields_of_write::one_phase;
    }
}
/// True for the fields that are points in time.
[[nodiscard]] constexpr bool is_time(entry_field field) {
    return field == entry_field::created || field == entry_field::modified ||
           field == entry_field::next_try;
}
[[nodiscard]] constexpr std::span<entry_field const> fields_inserted() {
    return fields_of_write::insert;
}

/// What the tries of an entry belong to, in one number: its state and its kept stages.
[[nodiscard]] constexpr std::uint32_t phase_of(state of, stage_number stages_kept) {
    return static_cast<std::uint32_t>(of) << 8U | stages_kept;
}

/// Calls `give(value)` with the value that a write stores in a field, in the type of the entry's
/// member; for the parameters, with the descriptor that writes them. Without a value, it makes no
/// call.
template <typename Give>
void with_value(entry_field field, entry_write const& write, write_context const& context,
                Give&& give) {
    transition const& change = write.change;
    switch (field) {
    case entry_field::id: return give(std::string_view{*write.id});
    case entry_field::type:
        if (write.type->described) give(std::string_view{write.type->name()});
        return;
    case entry_field::definition:
        if (write.type->described) give(std::string_view{hex_of(write.type->definition())});
        return;
    case entry_field::parameters:
        if (write.type->described) give(*write.type);
        return;
    case entry_field::state: return give(change.to);
    case entry_field::epoch: return give(change.to_epoch);
    case entry_field::committed:
        if (change.committed != 0) give(change.committed);
        return;
    case entry_field::owner:
        if (write.inserts || change.takes_owner) give(std::string_view{context.owner});
        return;
    case entry_field::created: return give(write.created);
    case entry_field::modified: return give(context.now);
    case entry_field::attempts: return give(write.inserts ? 0U : change.attempts);
    case entry_field::reason:
        if (change.why != reason::none) give(change.why);
        return;
    case entry_field::participant:
        if (auto const where = write.failed(); !where.participant.empty()) {
            give(std::string_view{where.participant});
        }
        return;
    case entry_field::line:
        if (auto const line = write.failed().line) give(*line);
        return;
    case entry_field::images:
        if (write.images != nullptr) give(*write.images);
        return;
    case entry_field::open: return give(!is_final(change.to));
    case entry_field::revision: return give(change.to_revision);
    case entry_field::stages_kept:
        if (!write.inserts || change.stages_kept != 0) give(change.stages_kept);
        return;
    case entry_field::results:
        if (write.results != nullptr) give(*write.results);
        return;
    case entry_field::reason_text:
        if (!write.why_text.empty()) give(write.why_text);
        return;
    case entry_field::call_tries: return give(write.call_tries);
    case entry_field::next_try: return give(write.next_try);
    case entry_field::tried_in: return give(phase_of(change.to, change.stages_kept));
    case entry_field::traceparent:
        if (!write.traceparent.empty()) give(write.traceparent);
        return;
    }
}

/// Calls `read(field, member)` for every field from `epoch` on that an entry has as a member.
/// Shape:   into - has its state
template <typename Read>
void read_members(entry& into, Read&& read) {
    read(entry_field::epoch, into.epoch_number);
    read(entry_field::committed, into.committed);
    read(entry_field::owner, into.owner);
    read(entry_field::created, into.created);
    read(entry_field::modified, into.modified);
    read(entry_field::attempts, into.attempts);
    read(entry_field::reason, into.why);
    read(entry_field::participant, into.participant);
    read(entry_field::line, into.line);
    read(entry_field::images, into.images);
    read(entry_field::revision, into.revision);
    read(entry_field::stages_kept, into.stages_kept);
    read(entry_field::results, into.results);
    read(entry_field::reason_text, into.why_text);
    read(entry_field::call_tries, into.call_tries);
    read(entry_field::next_try, into.next_try);
    read(entry_field::traceparent, into.traceparent);
    std::uint32_t tried_in = 0;
    read(entry_field::tried_in, tried_in);
    if (tried_in == phase_of(into.state, into.stages_kept)) return;
    into.call_tries = 0;
    into.next_try = {};
}

} // namespace detail
SETTLE_END
