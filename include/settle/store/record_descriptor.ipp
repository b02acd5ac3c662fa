// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_descriptor.hpp declares.
#pragma once

#include <settle/store/record_descriptor.hpp>

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

} // namespace detail
SETTLE_END
