// SPDX-License-Identifier: BSL-1.0
// Operators that no expression has: one error sentence instead of a candidate list.
#pragma once

#include <settle/definition/expression.hpp>

SETTLE_BEGIN
namespace detail {

template <typename Left, typename Right>
constexpr refused_expression refuse_division() {
    static_assert(any_refused<expression_of<Left>, expression_of<Right>>,
                  "settle: an expression has + - * and no division, whose rest would be lost. "
                  "Divide before the call, and pass the result as a parameter. "
                  "See definition#expressions");
    return {};
}

} // namespace detail

template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator/(L const&, R const&) {
    return detail::refuse_division<L, R>();
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator%(L const&, R const&) {
    return detail::refuse_division<L, R>();
}

SETTLE_END
