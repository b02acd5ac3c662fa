// SPDX-License-Identifier: BSL-1.0
// The filters that find entries: by id, by the state that a change requires, and for listings.
#pragma once

#include <settle/mongodb/log/entry_layout.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Makes filters for entries in their layout.
class entry_finder {
public:
    explicit entry_finder(entry_layout const& layout) : layout_(&layout) {}

    /// Matches an entry.
    [[nodiscard]] document filter_of(transaction_id const& id) const;
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
    [[nodiscard]] static bool matches(document const& stored, transition const& change);

private:
    /// A field that is absent means 0.
    static void append_number(document& filter, std::string_view name, std::uint64_t number);

    void append_conditions(document& query, entry_filter const& filter) const;

    /// Matches entries that stood still. An entry without a time always counts as standing still.
    void append_stalled(document& query, entry_filter const& filter) const;

    entry_layout const* layout_;
};

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/log/entry_finder.ipp>
#endif
