// SPDX-License-Identifier: BSL-1.0
// The layouts of entries and records in documents: settle's own layout, and the layout of
// MongoDB's tutorial "Perform Two Phase Commits".
#pragma once

#include <settle/adapter/entry_fields.hpp>
#include <settle/mongodb/connection/bson.hpp>
#include <settle/protocol/state.hpp>

#include <array>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace mongodb {

/// The letter case of the state names that a program stores.
enum class spelling : std::uint8_t { lower, upper, capitalised };

/// The kind of a program's transaction ids.
enum class id_kind : std::uint8_t {
    any, ///< any kind is found; new ids are texts
    text,
    number,
    object_id
};

/// The documents of a program that follows the tutorial. The members name the program's deviations;
/// settle reads every spelling.
/// Source:  mongodb#coming-from-the-tutorial
struct tutorial_layout {
    std::string transactions = "transactions"; ///< the collection of the entries
    /// Parameters whose field name differs from the struct's member: {{"amount", "value"}}.
    std::vector<std::pair<std::string, std::string>> fields{};
    /// The same for the members of records.
    std::vector<std::pair<std::string, std::string>> record_fields{};
    std::string state = "state";
    std::string modified = "lastModified";
    std::string application = "application";
    spelling states = spelling::lower;
    std::string applied = "applied";   ///< or `committed`, as in older texts
    std::string canceled = "canceled"; ///< or `cancelled`
    id_kind ids = id_kind::any;
    std::string key = "_id"; ///< the field that identifies a record, such as `name`
};

namespace detail {

using settle::detail::entry_field;

/// The field name of a member, from the list of differing names.
[[nodiscard]] std::string_view
field_among(std::vector<std::pair<std::string, std::string>> const& fields,
            std::string_view member);

/// A member of a type's parameters.
struct parameter {
    std::string name;
    bool optional; ///< a missing field means no value
    bool text;     ///< may be the id of a record, in any stored form
};

/// The documents of entries.
struct entry_layout {
    tutorial_layout names = own_names();
    /// The type whose parameters are fields of the entry itself and whose entries need not name
    /// it. Other types' parameters are in a nested document.
    std::string type{};
    std::uint64_t definition = 0;
    std::vector<parameter> members{}; ///< of that type's parameters

    [[nodiscard]] bool is_tutorial() const noexcept { return !type.empty(); }

    [[nodiscard]] std::string_view field_of(std::string_view member) const;
    /// The name of an entry's own field.
    [[nodiscard]] std::string_view name_of(entry_field field) const;

    /// Appends an id in the form that this layout writes.
    void append_id(document& to, std::string_view name, transaction_id const& id) const;
    /// Adds every stored form of an id to an array that has `count` elements.
    void append_forms(document& to, transaction_id const& id, std::size_t& count) const;
    static void append_all_forms(document& to, transaction_id const& id, std::size_t& count);
    /// Whether append_forms covers a stored id.
    [[nodiscard]] bool finds(value_view const& stored) const;
    /// A condition for ids of the accepted kinds.
    [[nodiscard]] document readable_ids() const;

    /// The name of a state in the spelling that this layout writes.
    [[nodiscard]] std::string name_of(state value) const;

    /// Reads the name of a state in any program's spelling.
    /// Returns: false for any other text
    [[nodiscard]] static bool read_state(std::string_view text, state& into);

    /// Adds every spelling of a state to an array that has `count` elements.
    static void append_spellings(document& to, state value, std::size_t& count);

private:
    static tutorial_layout own_names();

    static constexpr std::array<spelling, 3> all_spellings{spelling::lower, spelling::upper,
                                                           spelling::capitalised};
    static constexpr std::array<std::pair<std::string_view, state>, 10> all_state_names{
        {{"initial", state::initial},
         {"pending", state::pending},
         {"applied", state::applied},
         {"committed", state::applied},
         {"done", state::done},
         {"canceling", state::canceling},
         {"cancelling", state::canceling},
         {"canceled", state::canceled},
         {"cancelled", state::canceled},
         {"deciding", state::deciding}}};

    static std::string spelled(std::string name, spelling how);
    static char to_upper(char letter) noexcept {
        return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
    /// Whether a text is the canonical form of a number, so that no two texts become one number.
    static bool is_number(std::string_view id) noexcept;
    static bool is_object_id(std::string_view id) noexcept;
};

/// The field of a record that holds its marks.
inline constexpr char const* marks_field = "pendingTransactions";

/// The documents of records.
struct record_layout {
    std::string key = "_id";
    bool bare_marks = false; ///< ids alone in pendingTransactions are bare marks
    bool any_keys = false;   ///< a text key may be stored as a number or an ObjectId
    std::vector<std::pair<std::string, std::string>> fields{}; ///< as in tutorial_layout

    [[nodiscard]] std::string_view field_of(std::string_view member) const;
    /// Whether the layout is settle's own.
    [[nodiscard]] bool is_own() const { return key == "_id" && !bare_marks && !any_keys; }
};

/// Restricts a query to the values after a value in the order of a field. Values of one kind keep
/// their order; texts follow numbers and precede ObjectIds.
/// Shape:   how - `$gt`, or `$gte` to include the value
void append_after(document& query, std::string const& field, value_view const& after,
                  char const* how = "$gt");

} // namespace detail
} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/records/layout.ipp>
#endif
