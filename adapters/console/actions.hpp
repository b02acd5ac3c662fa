// SPDX-License-Identifier: BSL-1.0
// What an operator may do with an entry, and the filter of a list.
#pragma once

#include "views.hpp"

#include <settle/base/function_view.hpp>
#include <settle/console/options.hpp>

#include <array>

SETTLE_BEGIN
namespace detail {

[[nodiscard]] std::optional<operator_action> operator_action_from(std::string_view name);

/// The value of a field; empty if it is not there.
[[nodiscard]] std::string field(console_fields const& fields, std::string_view name);

/// Errors:  a sentence, without a pointer, on the first field that has none of the names
[[nodiscard]] error check_fields(console_fields const& fields,
                                 std::initializer_list<std::string_view> names);

/// What a dry run has seen of an entry. It differs once the entry has moved.
[[nodiscard]] std::string seen_of(entry const& stored);

/// Notes who asks, before anything is changed. If it gives an error, nothing is changed.
using note_function = function_view<error()>;

/// The answer if that error is there.
[[nodiscard]] console_reply not_kept(error const& problem);

/// Takes an action, or says what it would do if the fields have `dry_run=1`.
/// Shape:   fields - `dry_run=1`, or `seen` of a dry run; of a resolve also `participant`, `why`,
///          and where they apply `line` (from 1), `pivot` and `result`
[[nodiscard]] console_reply act(operator_action action, transaction_id const& id,
                                console_fields const& fields, served_engine& engine,
                                std::chrono::milliseconds limit, note_function note);

/// Pauses the calls of a service, of a type or of one transaction, or resumes them.
/// Shape:   fields - `scope`, `name`, and `why`, which a resume may leave out
[[nodiscard]] console_reply change_pause(bool pauses, console_fields const& fields,
                                         served_engine& engine, std::chrono::milliseconds limit,
                                         note_function note);

/// Ends the marks and prepared transactions that their transactions have left behind, or says with
/// `dry_run=1` how many there are.
/// Shape:   fields - `dry_run=1`, or `seen` of a dry run; limit - of the count; the sweep itself
///          has five times as long
[[nodiscard]] console_reply sweep(console_fields const& fields, served_engine& engine,
                                  std::chrono::milliseconds limit, note_function note);

/// The outcome of an action whose fields are good.
[[nodiscard]] outcome take_action(operator_action action, transaction_id const& id,
                                  console_fields const& fields, served_engine& engine,
                                  std::chrono::milliseconds limit);

/// What a person is told of an outcome.
[[nodiscard]] std::string told_of(outcome const& ended);

/// The fields of a list_filter.
inline constexpr std::array<std::string_view, 11> filter_names{
    "state",       "type", "id",    "older", "still", "reason",
    "participant", "key",  "after", "limit", "looked"};

/// The filter of a list, as a URL has it.
struct list_filter {
    std::optional<settle::state> state{};
    bool is_unfinished = false;
    std::string type{};
    std::string id_prefix{};
    std::string reason{};
    std::string participant{};
    std::string key{};                                ///< of a record: `collection/key`
    std::optional<std::chrono::milliseconds> older{}; ///< created so long ago
    std::optional<std::chrono::milliseconds> still{}; ///< not changed for so long
    std::size_t limit = 50;
    transaction_id after{};
    std::uint64_t looked = 0; ///< the number of entries that the pages before have looked at
    console_fields fields{};  ///< as they were given, without `after` and `looked`

    /// Errors:  a sentence on the first field that is unknown, or whose value is
    [[nodiscard]] static result<list_filter> from(console_fields const& fields);

    /// What an index of the log selects: the log has one of its open entries, and one of all ids.
    [[nodiscard]] entry_filter of_log() const;
    /// True if entries are read that do not match.
    [[nodiscard]] bool scans() const;
    [[nodiscard]] bool matches(entry const& stored, timestamp now,
                               std::chrono::milliseconds clocks) const;
    [[nodiscard]] console_json shown() const;
    /// The query of the page after an id.
    /// Shape:   looked_at - by the pages up to there
    [[nodiscard]] std::string query(transaction_id const& after_id, std::uint64_t looked_at) const;
};

/// True if an entry has a part on a record.
/// Shape:   record - `collection/key`. A key that only a secret parameter has is no match
[[nodiscard]] bool has_part_on(std::string_view record, entry const& stored,
                               known_directions known);

/// How far a filter was followed.
struct matches_seen {
    std::uint64_t looked_at = 0;
    transaction_id after{};   ///< the last entry that was looked at
    bool is_complete = false; ///< no further entry matches
    bool ends_early = false;  ///< the time was over
};

struct scan_limits {
    std::chrono::milliseconds call{}; ///< of one call of the log
    std::chrono::milliseconds scan{}; ///< of all of them; one is made in any case
};

/// Calls `visit(entry)` for the entries that match, in the order of their ids, until it returns
/// false.
/// Shape:   now - from which the filter counts ages
[[nodiscard]] result<matches_seen> scan_matches(served_engine& engine, list_filter const& wanted,
                                                timestamp now, scan_limits const& limits,
                                                function_view<bool(entry const&)> visit);

} // namespace detail
SETTLE_END
