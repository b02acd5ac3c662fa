// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that collection.hpp declares.
#pragma once

#include <settle/adapter/collection.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION std::string_view member_out_of_range(record_descriptor const& descriptor,
                                                     void* record,
                                                     std::span<std::int64_t const> deltas) {
    for (std::size_t index = 0; index < descriptor.members.size(); ++index) {
        member_descriptor const& member_descriptor = descriptor.members[index];
        if (member_descriptor.integer == member_descriptor::no_integer) continue;
        wide const sum = wide{member_descriptor.access->integer(descriptor.member(record, index))} +
                         deltas[member_descriptor.integer];
        if (sum < member_descriptor.least || sum > member_descriptor.most)
            return member_descriptor.name;
    }
    return {};
}

} // namespace detail
SETTLE_END
