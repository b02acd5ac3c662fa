// SPDX-License-Identifier: BSL-1.0
// The filters that find entries: by id, by the state that a change requires, and for listings.
#pragma once

#include <settle/mongodb/records/layout.hpp>
#include <settle/store/entry_facts.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

inline std::int64_t count_of(timestamp at) { return at.time_since_epoch().count(); }

/// Makes filters for entries in their layout.
class entry_finder {
public:
    explicit entry_finder(entry_layout layout) : layout_(std::move(layout)) {}

    /// Matches an entry.
    [[nodiscard]] document filter_of(transaction_id const& id) const;
    /// Matches an id in any form.
    [[nodiscard]] static document filter_of_any(transaction_id const& id);
    /// Matches an entry only in the state, epoch and revision that a change requires.
    [[nodiscard]] document filter_of(transaction_id const& id, transition const& change) const;

    /// Matches the entries of a listing that follow a given entry.
    /// Shape:   after - the document of that entry, or its id alone; empty at the beginning
    [[nodiscard]] document query_of(entry_filter const& filter, document const& after) const;

    /// Matches the entries with unreadable ids, which the listing's order cannot contain.
    [[nodiscard]] document query_of_unreadable(entry_filter const& filter) const;

    /// Matches finished entries that are old: both the creation and the last change precede the
    /// cutoff, since the clock of either may have been wrong.
    /// Shape:   passed - entries created earlier are skipped
    [[nodiscard]] document query_of_finished(timestamp before, std::int64_t passed) const;

    /// The options of a find that reads only the fields that `matches` needs, from settle's own
    /// documents.
    [[nodiscard]] static document options_for_match();
    /// Whether an entry has the state, epoch and revision that a change requires.
    [[nodiscard]] static bool matches(document const& found, transition const& change);

    /// The document of an id that is shown in its stored form; empty for any other id.
    [[nodiscard]] static document shown_id(transaction_id const& id);

private:
    /// A field that is absent means 0.
    static void append_number(document& filter, std::string_view name, std::uint64_t number);

    void append_conditions(document& query, entry_filter const& filter) const;

    /// Matches entries that stood still. Programs write dates, counts of milliseconds, or no times:
    /// an entry without a time always counts as standing still.
    void append_stalled(document& query, entry_filter const& filter) const;
    /// Adds conditions for times in the forms of the tutorial's programs. Where an entry has no
    /// creation time, its ObjectId holds the time.
    void append_other_times(std::vector<document>& any, entry_filter const& filter) const;

    /// The seconds in a count of milliseconds, within the range of a timestamp or an ObjectId.
    static std::uint32_t seconds_of(std::int64_t count);

    /// Ids of one kind keep their order; texts follow numbers and precede ObjectIds.
    void append_after(document& query, value_view const& after) const;

    /// An entry is unfinished unless its state is a spelling of a final or of the initial state.
    void append_unfinished(document& query) const;

    void append_states(document& query, std::initializer_list<state> states) const;

    /// Matches initial entries without an owner. An initial entry with an owner belongs to that
    /// application, and no other worker runs it until it has stood still.
    [[nodiscard]] document without_owner() const;
    static document no_owner();

    [[nodiscard]] tutorial_layout const& names() const noexcept { return layout_.names; }

    entry_layout layout_;
};

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/log/entry_finder.ipp>
#endif
