// SPDX-License-Identifier: BSL-1.0
// Entries as documents that a person can read:
//
//   { _id: "…", type: "transfer", definition: "0123456789abcdef", parameters: {…},
//     state: "pending", epoch: 5, committed: 5, owner: "host/1/2", created: date, modified: date,
//     attempts: 1, reason: "guard failed", reason_text: "…", participant: "source", line: 0,
//     images: [{participant: 0, line: 0, before: "{…}", after: "{…}"}], open: true,
//     revision: 1, stages_kept: 1, results: [{participant: 0, line: 0, value: "{…}"}] }
//
// `open` exists as long as the entry is unfinished, and `reason_text` if the reason has a text. The
// first keep adds the last three fields.
#pragma once

#include <settle/mongodb/log/entry_finder.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Writes and reads entries in their layout.
class entry_codec {
public:
    explicit entry_codec(entry_layout const& layout) : layout_(&layout) {}

    [[nodiscard]] entry_layout const& layout() const noexcept { return *layout_; }

    /// The document of a new entry.
    [[nodiscard]] document encode(entry_write const& write, write_context const& context) const;

    [[nodiscard]] document change_of(entry_write const& write, write_context const& context) const;

    /// Stores only the committed epoch.
    [[nodiscard]] static document commit_of(epoch committed);

    /// Reads the legible parts of an entry. Returns the first problem, or an empty text.
    [[nodiscard]] std::string decode(document const& from, entry& into) const;

private:
    void append(document& to, entry_field field, entry_write const& write,
                write_context const& context) const;

    void read_id(document_reader& read, entry& into) const;
    void read_state(document_reader& read, entry& into) const;
    static timestamp creation_of(document const& from, entry const& read);

    entry_layout const* layout_;
};

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/log/entry_codec.ipp>
#endif
