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

SETTLE_FUNCTION void append_fields(std::string& out, record_descriptor const& descriptor,
                                   void const* record, std::uint64_t fields) {
    for (std::size_t index = 0; index < descriptor.members.size(); ++index) {
        if ((fields >> index & 1U) == 0) continue;
        begin_member(out, descriptor.members[index].name);
        descriptor.members[index].access->json->write(
            out, descriptor.member(const_cast<void*>(record), index), secrets::written);
    }
    if (!out.empty()) out += '}';
}

} // namespace detail
SETTLE_END
