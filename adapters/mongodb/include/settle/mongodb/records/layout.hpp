// SPDX-License-Identifier: BSL-1.0
// The layout of records in documents. By default it is settle's own.
#pragma once

#include <settle/adapter/collection.hpp>
#include <settle/mongodb/connection/bson.hpp>

#include <utility>
#include <vector>

SETTLE_BEGIN
namespace mongodb::detail {

using settle::detail::collection_descriptor;

struct record_state;

/// The field of a record that holds its marks.
inline constexpr char const* marks_field = "pendingTransactions";

/// Knows the effects of bare marks, ids alone that another program left in a record. The store
/// itself only keeps them where they are, and keeps new effects away from them.
class bare_mark_rule {
public:
    virtual ~bare_mark_rule() = default;
    /// Turns the bare mark of a request's transaction, if there is one, into a mark of settle.
    /// Errors:  throws errc::damaged where the mark cannot be ended
    virtual void adopt(record_state& state, collection_descriptor const& collection,
                       part_request const& request) const = 0;
};

struct record_layout {
    std::string key = "_id"; ///< the field that identifies a record
    /// Null where ids alone in pendingTransactions are damaged marks.
    bare_mark_rule const* bare_marks = nullptr;
    bool any_keys = false; ///< a text key may be stored as a number or an ObjectId
    /// The members whose field has another name, and that name.
    std::vector<std::pair<std::string, std::string>> fields{};

    [[nodiscard]] std::string_view field_of(std::string_view member) const;
    /// Whether the layout is settle's own.
    [[nodiscard]] bool is_own() const { return key == "_id" && bare_marks == nullptr && !any_keys; }
};

/// The field name of a member, from the list of differing names.
[[nodiscard]] std::string_view
field_among(std::vector<std::pair<std::string, std::string>> const& fields,
            std::string_view member);

/// Whether a text is the canonical form of a number, so that no two texts become one number.
[[nodiscard]] bool is_number(std::string_view id) noexcept;
[[nodiscard]] bool is_object_id(std::string_view id) noexcept;
/// Adds every stored form of an id to an array that has `count` elements.
void append_all_forms(document& to, std::string const& id, std::size_t& count);

/// Restricts a query to the values after a value in the order of a field. Values of one kind keep
/// their order; texts follow numbers and precede ObjectIds.
/// Shape:   comparison - `$gt`, or `$gte` to include the value
void append_after(document& query, std::string const& field, value_view const& after,
                  char const* comparison = "$gt");

/// The name of a record in an error.
[[nodiscard]] inline std::string name_of_record(collection_descriptor const& descriptor,
                                                key_value const& key) {
    auto const* const text = std::get_if<std::string>(&key);
    std::string const shown = text != nullptr ? *text : std::to_string(std::get<0>(key));
    return "the record '" + shown + "' of '" + std::string{descriptor.name} + "'";
}

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/records/layout.ipp>
#endif
