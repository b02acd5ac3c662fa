// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that collection.hpp declares.
#pragma once

#include <settle/adapter/collection.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION void begin_member(std::string& out, std::string_view name) {
    out += out.empty() ? '{' : ',';
    append_json_text(out, name);
    out += ':';
}

SETTLE_FUNCTION void append_fields(std::string& out, record_descriptor const& of,
                                   void const* record, std::uint64_t fields) {
    for (std::size_t at = 0; at < of.members.size(); ++at) {
        if ((fields >> at & 1U) == 0) continue;
        begin_member(out, of.members[at].name);
        of.members[at].access->json->write(out, of.member(const_cast<void*>(record), at),
                                           secrets::written);
    }
    if (!out.empty()) out += '}';
}

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
