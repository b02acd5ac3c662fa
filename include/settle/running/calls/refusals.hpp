// SPDX-License-Identifier: BSL-1.0
// The outcomes of calls that wrote nothing: refusals with their sentences, and final entries.
#pragma once

#include <settle/kinds/prepared/prepared_part.hpp>
#include <settle/protocol/entry.hpp>
#include <settle/running/calls/ids.hpp>
#include <settle/running/calls/outcome.hpp>
#include <settle/running/construction/options.hpp>

SETTLE_BEGIN
namespace detail {

[[nodiscard]] outcome refuse(transaction_id const& id, error problem);

/// Shape:   refused - the result of the direction's check of `parameters`
[[nodiscard]] outcome refuse_parameters(transaction_id const& id,
                                        transaction_descriptor const& direction,
                                        void const* parameters, refusal const& refused);

/// True if the parameters are refused before anything is written.
[[nodiscard]] bool has_fault(transaction_descriptor const& direction, void const* parameters);
template <typename Direction>
[[nodiscard]] bool has_fault(typename Direction::parameters const& parameters) {
    return has_bad_text(parameters) || Direction::check(parameters).why != reason::none;
}

/// The refusal of parameters that fail a check before anything is written.
[[nodiscard]] outcome refused_before_write(transaction_id const& id,
                                           transaction_descriptor const& direction,
                                           void const* parameters);

[[nodiscard]] outcome unknown_id(transaction_id const& id);

/// Shape:   key - as JSON
[[nodiscard]] error record_missing(std::string_view collection, std::string_view key);

/// The log could not be reached, or its answer was lost, so the state of the id is unknown.
[[nodiscard]] outcome unreadable(transaction_id const& id, error const& problem);

/// A limit of the call had passed before the call began.
[[nodiscard]] error nothing_begun();

/// A limit ended the call before the outcome was known.
/// Shape:   limit - the name of that limit
[[nodiscard]] error ended_waiting(std::string_view limit);

/// A stop request ended a call that handles many entries or marks in turn.
[[nodiscard]] error stopped_early();

/// The error behind the reason of a cancel, with the text that the entry keeps; empty if it keeps
/// none.
[[nodiscard]] error cause_of(entry const& stored, transaction_descriptor const& type);

/// The outcome of an entry that is final.
[[nodiscard]] outcome outcome_of(entry const& stored, transaction_descriptor const& type);

[[nodiscard]] error id_in_use(transaction_id const& id);

[[nodiscard]] error other_definition(entry const& stored);

[[nodiscard]] error unknown_type(entry const& stored);

[[nodiscard]] error damaged_parameters(entry const& stored, error const& problem);

/// The error of a readable entry that no worker can use; empty if a worker can use it.
[[nodiscard]] error fault_of(entry const& stored);

/// The log is older than the records: a worker raises the entry's epoch before it raises a mark.
[[nodiscard]] error entry_behind_marks(transaction_id const& id);

[[nodiscard]] error vanished_entry(transaction_id const& id);

[[nodiscard]] error too_young(std::chrono::milliseconds age, std::chrono::milliseconds horizon);

/// The error of a limit that is too short.
/// Shape:   name - as a program spells it; least - the text for the permitted values
template <typename Duration>
[[nodiscard]] error bad_limit(std::string_view name, Duration value, std::string_view least,
                              std::string_view anchor) {
    std::string text{"settle: "};
    text.append(name).append(" is ").append(std::to_string(value.count()));
    text.append(std::is_same_v<typename Duration::period, std::milli> ? " ms" : " us");
    text.append(". Give it ").append(least).append("; std::chrono::hours::max() is for ever. ");
    return {make_error_code(errc::bad_option), text.append(anchor)};
}

/// The error of a cancel in `deciding`: only the answer of the pivot decides.
[[nodiscard]] error pivot_decides(entry const& stored);

[[nodiscard]] error not_closable(entry const& stored, std::string const& why);

/// True if a person has closed a call of this entry for this reason.
[[nodiscard]] bool was_closed(entry const& entry, std::string_view why);

/// The reason why no part of this entry can be closed; empty if one can.
[[nodiscard]] error check_closing(entry const& stored, std::string_view why,
                                  resolve_options const& call_options);

[[nodiscard]] error no_such_call(entry const& stored, part_name const& named);

[[nodiscard]] error moved_meanwhile(entry const& stored);

/// Errors:  errc::bad_option with the first invalid limit, or none
[[nodiscard]] error check_options(options const& limits);

/// The reason why an entry cannot be reversed; empty if it can.
[[nodiscard]] std::string why_not_reversible(entry const& original, timestamp now,
                                             options const& limits);

/// The error of a reversal that the library cannot derive.
[[nodiscard]] error no_reversal(entry const& original);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/refusals.ipp>
#endif
