// SPDX-License-Identifier: BSL-1.0
// The order of records by their keys, for listings that continue behind a key.
#pragma once

#include <settle/mongodb/client.hpp>
#include <settle/mongodb/record_codec.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// A key in its stored form, alone under the layout's name for it.
/// Errors:  throws command_failure
[[nodiscard]] inline document locator_of(link& with, std::string_view collection,
                                       record_layout const& layout, std::string const& key) {
    document locator;
    document forms;
    std::size_t count = 0;
    append_key_forms(forms, layout, key, count);
    if (count > 1) {
        auto const filter = only(layout.key, document{}.array("$in", forms));
        with.find(collection, filter, {}, "read a key", [&](document const& one) {
            locator = std::move(document{}.copy(layout.key, *one.find(layout.key)));
        });
    }
    if (locator.empty()) locator.text(layout.key, key);
    return locator;
}
[[nodiscard]] inline document locator_of(link&, std::string_view, record_layout const& layout,
                                       std::int64_t key) {
    return std::move(document{}.integer(layout.key, key));
}

/// Restricts a query to the keys behind a key.
/// Shape:   Key - of the records; how - `$gt`, or `$gte` to include the key
template <typename Key>
void append_behind_key(document& query, record_layout const& layout, value_view const& key,
                       char const* how) {
    bool const any = std::is_same_v<Key, std::string> && layout.any_keys;
    if (any) append_behind(query, layout.key, key, how);
    else query.object(layout.key, document{}.copy(how, key));
}

} // namespace mongodb::detail
SETTLE_END
