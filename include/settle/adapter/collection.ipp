// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that collection.hpp declares.
#pragma once

#include <settle/adapter/collection.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION std::string_view member_out_of_range(record_descriptor const& of, void* record,
                                                     std::span<std::int64_t const> deltas) {
    for (std::size_t at = 0; at < of.members.size(); ++at) {
        member_descriptor const& one = of.members[at];
        if (one.integer == member_descriptor::no_integer) continue;
        wide const sum = wide{one.access->integer(of.member(record, at))} + deltas[one.integer];
        if (sum < one.least || sum > one.most) return one.name;
    }
    return {};
}

} // namespace detail
SETTLE_END
