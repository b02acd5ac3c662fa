// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that key_order.hpp declares.
#pragma once

#include <settle/mongodb/key_order.hpp>

#include <utility>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION document locator_of(link& with, std::string_view collection,
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

} // namespace mongodb::detail

SETTLE_END
