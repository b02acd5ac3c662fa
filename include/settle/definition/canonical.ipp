// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that canonical.hpp declares.
#pragma once

#include <settle/definition/canonical.hpp>

#include <algorithm>
#include <utility>
#include <vector>

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

SETTLE_FUNCTION void put_in_operation(std::string& out, operation_kind kind, std::size_t left_at,
                                      std::size_t right_at) {
    std::string left = out.substr(left_at, right_at - left_at);
    std::string right = out.substr(right_at);
    out.resize(left_at);
    bool const is_greater =
        kind == operation_kind::greater || kind == operation_kind::greater_equal;
    bool const is_symmetric = kind == operation_kind::equal || kind == operation_kind::unequal;
    if (is_greater || (is_symmetric && right < left)) std::swap(left, right);
    if (kind == operation_kind::greater) kind = operation_kind::less;
    if (kind == operation_kind::greater_equal) kind = operation_kind::less_equal;
    put(out, {"(", left, " ", symbol(kind), " ", right, ")"});
}

SETTLE_FUNCTION void put_as_written(std::string& out, operation_kind kind, std::size_t left_at,
                                    std::size_t right_at) {
    std::string between{" "};
    out.insert(right_at, between.append(symbol(kind)).append(" "));
    out.insert(left_at, "(").append(")");
}

SETTLE_FUNCTION void put_in_order(std::string& out, std::string_view when,
                                  std::span<std::size_t const> offsets) {
    std::vector<std::string> effects;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        effects.push_back(out.substr(offsets[i], offsets[i + 1] - offsets[i]));
    }
    out.resize(offsets.front());
    std::sort(effects.begin(), effects.end());
    for (std::string const& effect : effects) put(out, {" ", when, " ", effect, "\n"});
}

} // namespace detail

SETTLE_END
