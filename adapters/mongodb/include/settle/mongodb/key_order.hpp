// SPDX-License-Identifier: BSL-1.0
// The order of records by their keys, for listings that continue behind a key.
#pragma once

#include <settle/mongodb/client.hpp>
#include <settle/mongodb/record_codec.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// A key in its stored form, alone under the layout's name for it.
/// Errors:  throws command_failure
[[nodiscard]] document locator_of(link& with, std::string_view collection,
                                  record_layout const& layout, std::string const& key);
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

#ifndef SETTLE_COMPILED
#include <settle/mongodb/key_order.ipp>
#endif
