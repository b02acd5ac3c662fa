// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that definition_items.hpp declares.
#pragma once

#include <settle/definition/definition_items.hpp>

SETTLE_BEGIN
namespace detail {

[[gnu::noinline]] SETTLE_FUNCTION void put(std::string& out, std::string_view text) { out += text; }

SETTLE_FUNCTION void put(std::string& out, std::initializer_list<std::string_view> texts) {
    for (auto const text : texts) out += text;
}

SETTLE_FUNCTION void describe_members(std::string& out, described_member const* members) {
    out += '{';
    for (; members->describe != nullptr; ++members) {
        put(out, {members->name, ":"});
        members->describe(out);
        out += ',';
    }
    out += '}';
}

SETTLE_FUNCTION void describe_text(std::string& out, std::string_view text) {
    out += '"';
    for (char const c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    out += '"';
}

} // namespace detail
SETTLE_END
