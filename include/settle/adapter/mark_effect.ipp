// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mark_effect.hpp declares.
#pragma once

#include <settle/adapter/mark_effect.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION std::string_view effect_of(mark_view const& from) {
    auto const& held = from.exclusive;
    if (!from.is_exclusive) return effect_names[0];
    if (held.created) return effect_names[held.erases ? 4 : 2];
    return effect_names[held.erases ? 3 : 1];
}

SETTLE_FUNCTION std::string_view member_out_of_range(record_descriptor const& descriptor,
                                                     void* record, mark_data const& added) {
    if (added.exclusive) return {};
    auto const found = member_out_of_range(descriptor, record, added.confirm);
    return found.empty() ? member_out_of_range(descriptor, record, added.undo) : found;
}

} // namespace detail
SETTLE_END
