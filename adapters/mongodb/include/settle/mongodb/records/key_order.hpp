// SPDX-License-Identifier: BSL-1.0
// The order of records by their keys, for listings that continue after a key.
#pragma once

#include <settle/mongodb/connection/client.hpp>
#include <settle/mongodb/records/record_codec.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// A key in its stored form, alone under the layout's name for it.
/// Errors:  throws command_failure
[[nodiscard]] inline document locator_of(link& client, record_codec const& codec,
                                         part_key const& key) {
    auto const& layout = codec.layout();
    document locator;
    document forms;
    std::size_t count = 0;
    append_key_forms(forms, layout, key, count);
    if (count > 1) {
        auto const filter = only(layout.key, document{}.array("$in", forms));
        client.find(codec.collection(), filter, {}, "read a key", [&](document const& one) {
            locator = std::move(document{}.copy(layout.key, *one.find(layout.key)));
        });
    }
    if (locator.empty()) append_key(locator, layout.key, key);
    return locator;
}

/// Restricts a query to the keys after a key.
/// Shape:   how - `$gt`, or `$gte` to include the key
inline void append_after_key(document& query, record_codec const& codec, value_view const& key,
                             char const* how) {
    auto const& field = codec.layout().key;
    if (codec.takes_any_key()) append_after(query, field, key, how);
    else query.object(field, document{}.copy(how, key));
}

} // namespace mongodb::detail
SETTLE_END
