// SPDX-License-Identifier: BSL-1.0
// Entries as documents that a person can read:
//
//   { _id: "…", type: "transfer", definition: "0123456789abcdef", parameters: {…},
//     state: "pending", epoch: 5, committed: 5, owner: "host/1/2", created: date, modified: date,
//     attempts: 1, reason: "guard failed", reason_text: "…", participant: "source", line: 0,
//     images: [{participant: 0, line: 0, before: "{…}", after: "{…}"}], open: true,
//     revision: 1, stages_kept: 1, results: [{participant: 0, line: 0, value: "{…}"}],
//     call_tries: 2, next_try: date, tried_in: 257, traceparent: "00-…" }
//
// `open` exists as long as the entry is unfinished, `reason_text` if the reason has a text, and
// `traceparent` if the caller had one. The first keep adds `revision`, `stages_kept` and `results`.
// A call that failed adds `call_tries`, `next_try` and `tried_in`, which is the state and the kept
// stages that they belong to.
//
// This is settle's own layout; settle::mongodb_tutorial derives the layout of other programs.
#pragma once

#include <settle/adapter/entry_fields.hpp>
#include <settle/mongodb/connection/client.hpp>
#include <settle/protocol/state.hpp>
#include <settle/store/entry_facts.hpp>
#include <settle/store/seam.hpp>

#include <initializer_list>
#include <vector>

SETTLE_BEGIN
namespace mongodb::detail {

using settle::detail::entry_field;

class document_reader;

[[nodiscard]] inline std::int64_t count_of(timestamp time) {
    return time.time_since_epoch().count();
}

/// Writes, reads and finds the documents of entries.
struct entry_layout {
    std::string collection = "settle_entries";
    std::string state_field = "state";
    std::string modified_field = "modified";
    std::string owner_field = "owner";
    bool is_own = true; ///< only settle writes the entries, and an unfinished one has `open`
    bool has_several_forms = false; ///< an id may be stored as a text, a number or an ObjectId

    entry_layout() = default;
    entry_layout(entry_layout const&) = delete;
    entry_layout& operator=(entry_layout const&) = delete;
    virtual ~entry_layout() = default;

    // ---------------------------------------------------------------------- what is stored

    /// The document of a new entry.
    [[nodiscard]] document encode(entry_write const& write, write_context const& context) const;
    [[nodiscard]] document change_of(entry_write const& write, write_context const& context) const;
    /// Stores only the committed epoch.
    [[nodiscard]] static document commit_of(epoch committed);
    /// Reads the legible parts of an entry. Returns the first problem, or an empty text.
    [[nodiscard]] std::string decode(document const& from, entry& into) const;

    // ---------------------------------------------------------------------- how it is found

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

    // ---------------------------------------------------------------------- what layouts differ in

    /// The name of an entry's own field.
    [[nodiscard]] std::string_view name_of(entry_field field) const;
    /// Whether a field of the entry is a parameter of the transaction.
    [[nodiscard]] virtual bool is_parameter(std::string_view field) const;

    /// Appends an id in the form that this layout writes.
    virtual void append_id(document& to, std::string_view name, transaction_id const& id) const;
    /// Adds every stored form of an id to an array that has `count` elements.
    virtual void append_forms(document& to, transaction_id const& id, std::size_t& count) const;
    /// Whether append_forms covers a stored id.
    [[nodiscard]] virtual bool finds(value_view const& stored) const;
    /// A condition for ids of the accepted kinds.
    [[nodiscard]] virtual document readable_ids() const;
    /// The stored form of an id, as `_id` of a document.
    [[nodiscard]] virtual document locator_of(link& client, transaction_id const& id) const;
    /// Restricts a query to the readable ids after an id.
    virtual void append_after(document& query, value_view const& after) const;

    /// The name of a state that this layout writes.
    [[nodiscard]] virtual std::string name_of(state value) const;
    /// Returns: false for a text that names no state
    [[nodiscard]] virtual bool read_state(std::string_view text, state& into) const;
    virtual void append_states(document& query, std::initializer_list<state> states) const;
    /// An entry is unfinished unless its state is final or initial.
    virtual void append_unfinished(document& query) const;
    /// Adds conditions for times that are no dates.
    virtual void append_other_times(std::vector<document>& any, entry_filter const& filter) const;

    virtual void append_parameters(document& to, entry_write const& write) const;
    /// Reads the type and the parameters.
    virtual void read_type(document_reader& reader, entry& into) const;

    /// What decides how entries are found and read: the database stores it, and refuses another
    /// one. Empty for settle's own layout.
    [[nodiscard]] virtual std::string description() const;

private:
    void append(document& to, entry_field field, entry_write const& write,
                write_context const& context) const;
    void append_conditions(document& query, entry_filter const& filter) const;
    /// Matches entries that stood still. An entry without a time always counts as standing still.
    void append_stalled(document& query, entry_filter const& filter) const;
    void read_id(document_reader& reader, entry& into) const;
    void read_state_of(document_reader& reader, entry& into) const;
};

[[nodiscard]] entry_layout const& own_entries();

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/log/entry_layout.ipp>
#endif
