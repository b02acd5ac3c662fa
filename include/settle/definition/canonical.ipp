// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that canonical.hpp declares.
#pragma once

#include <settle/definition/canonical.hpp>

#include <algorithm>
#include <utility>
#include <vector>

SETTLE_BEGIN

namespace detail {

/// Gives `a > b` and `b < a` the same text.
/// Shape:   left_at, right_at - where the sides begin in `out`; the right side ends `out`
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

SETTLE_FUNCTION void put_operation(std::string& out, std::vector<std::size_t>& begins,
                                   definition_item const& item, bool as_written) {
    std::size_t const last = begins.back();
    if (item.kind == item_kind::unary) {
        out.insert(last, std::string{symbol(item.operation)} + '(').append(")");
        return;
    }
    begins.pop_back();
    std::size_t const first = begins.back();
    if (!as_written) return put_in_operation(out, item.operation, first, last);
    // The sides stay as the user wrote them.
    std::string between{" "};
    out.insert(last, between.append(symbol(item.operation)).append(" "));
    out.insert(first, "(").append(")");
}

/// Sorts the effects of a moment: they take effect together, so their order has no meaning.
/// Shape:   offsets - where each effect begins in `out`, then where the last effect ends
SETTLE_FUNCTION void put_in_order(std::string& out, std::string_view when,
                                  std::vector<std::size_t> const& offsets) {
    std::vector<std::string> effects;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        effects.push_back(out.substr(offsets[i], offsets[i + 1] - offsets[i]));
    }
    out.resize(offsets.front());
    std::sort(effects.begin(), effects.end());
    for (std::string const& effect : effects) put(out, {" ", when, " ", effect, "\n"});
}

SETTLE_FUNCTION std::string text_of(definition_item const* items) {
    std::string out;
    std::vector<std::size_t> begins;
    std::vector<std::size_t> effects;
    for (; items->kind != item_kind::end; ++items) {
        if (items->begins) begins.push_back(out.size());
        switch (items->kind) {
        case item_kind::text:
        case item_kind::path: out += items->text; break;
        case item_kind::participant: put(out, {"participant ", items->text}); break;
        case item_kind::type: items->describe(out); break;
        case item_kind::custom: items->describe_custom(out, items->custom); break;
        case item_kind::number: out += std::to_string(items->number); break;
        case item_kind::quoted: describe_text(out, items->text); break;
        case item_kind::none: out += "none"; break;
        case item_kind::unary:
        case item_kind::binary: put_operation(out, begins, *items, false); break;
        case item_kind::effects: effects = {out.size()}; break;
        case item_kind::effect: effects.push_back(out.size()); break;
        case item_kind::moment: put_in_order(out, items->text, effects); break;
        default: break;
        }
    }
    return out;
}

} // namespace detail

SETTLE_END
