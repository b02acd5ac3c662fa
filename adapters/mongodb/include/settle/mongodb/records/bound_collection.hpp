// SPDX-License-Identifier: BSL-1.0
// A collection that a session is bound to: its description, and the forms of its members.
#pragma once

#include <settle/adapter/any_slot.hpp>
#include <settle/mongodb/connection/decimal.hpp>
#include <settle/mongodb/records/layout.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

using settle::detail::any_slot;
using settle::detail::collection_descriptor;
using settle::detail::mark_data;
using settle::detail::mark_view;
using settle::detail::record_changes;
using settle::detail::record_descriptor;

struct bound_collection {
    collection_descriptor const* of;
    member_form const* forms; ///< one for each member

    [[nodiscard]] record_descriptor const& record() const noexcept { return *of->record; }
};

template <Described Record>
inline constexpr auto forms_of = table_of_members<Record, member_form>(
    [](auto m) { return form_of_member<decltype(m)::pointer, typename decltype(m)::type>(); });

template <typename Collection>
[[nodiscard]] constexpr bound_collection bound_to() {
    static_assert(decimal_places<Collection::key_member> < 0,
                  "settle: a key is no decimal. See mongodb#decimals");
    return {&settle::detail::descriptor_of_collection<Collection>,
            forms_of<typename Collection::record_type>.data()};
}

/// The name of a record in an error.
[[nodiscard]] inline std::string name_of_record(collection_descriptor const& descriptor,
                                                key_value const& key) {
    auto const* const text = std::get_if<std::string>(&key);
    std::string const shown = text != nullptr ? *text : std::to_string(std::get<0>(key));
    return "the record '" + shown + "' of '" + std::string{descriptor.name} + "'";
}

} // namespace mongodb::detail
SETTLE_END
