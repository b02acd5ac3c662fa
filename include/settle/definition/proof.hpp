// SPDX-License-Identifier: BSL-1.0
// Linear forms of expressions as types, with which the compiler proves that an effect undoes
// another.
#pragma once

#include <settle/definition/effect.hpp>

#include <cstdint>
#include <type_traits>

SETTLE_BEGIN
namespace detail {

template <std::int64_t Factor, typename Atom>
struct term {
    static constexpr std::int64_t factor = Factor;
    using atom = Atom;
};

/// `Constant + Σ factor · atom`; an atom is a sub-expression that `linear_form` does not split.
template <std::int64_t Constant, typename... Terms>
struct linear {
    static constexpr std::int64_t constant = Constant;
};

template <typename Sum, typename Term>
struct with_term;

template <std::int64_t Constant, typename Term>
struct with_term<linear<Constant>, Term> {
    using type = std::conditional_t<Term::factor == 0, linear<Constant>, linear<Constant, Term>>;
};

template <typename Head, typename Sum>
struct prepend;
template <typename Head, std::int64_t Constant, typename... Terms>
struct prepend<Head, linear<Constant, Terms...>> {
    using type = linear<Constant, Head, Terms...>;
};

template <std::int64_t Constant, typename First, typename... Rest, typename Term>
struct with_term<linear<Constant, First, Rest...>, Term> {
    static constexpr bool same = std::is_same_v<typename First::atom, typename Term::atom>;
    template <bool Same, typename Dummy = void>
    struct pick {
        using type =
            typename prepend<First,
                             typename with_term<linear<Constant, Rest...>, Term>::type>::type;
    };
    template <typename Dummy>
    struct pick<true, Dummy> {
        static constexpr std::int64_t factor = First::factor + Term::factor;
        using type =
            std::conditional_t<factor == 0, linear<Constant, Rest...>,
                               linear<Constant, term<factor, typename First::atom>, Rest...>>;
    };
    using type = typename pick<same>::type;
};

/// Left + Factor · Right
template <typename Left, std::int64_t Factor, typename Right>
struct combined;
template <std::int64_t A, typename... Left, std::int64_t Factor, std::int64_t B>
struct combined<linear<A, Left...>, Factor, linear<B>> {
    using type = linear<A + Factor * B, Left...>;
};
template <std::int64_t A, typename... Left, std::int64_t Factor, std::int64_t B, typename First,
          typename... Rest>
struct combined<linear<A, Left...>, Factor, linear<B, First, Rest...>> {
    using grown = typename with_term<linear<A, Left...>,
                                     term<Factor * First::factor, typename First::atom>>::type;
    using type = typename combined<grown, Factor, linear<B, Rest...>>::type;
};
template <typename Left, std::int64_t Factor, typename Right>
using combined_t = typename combined<Left, Factor, Right>::type;

template <typename E>
struct linear_form {
    using type = linear<0, term<1, E>>;
};
template <literal_value Value>
struct linear_form<literal_expression<Value>> {
    template <typename Declared, typename Dummy = void>
    struct pick {
        using type = linear<0, term<1, literal_expression<Value>>>;
    };
    template <typename Declared>
    struct pick<Declared, std::enable_if_t<IntegerField<Declared>>> {
        using type = linear<static_cast<std::int64_t>(Value.value)>;
    };
    using type = typename pick<typename literal_expression<Value>::declared>::type;
};
template <typename L, typename R>
struct linear_form<binary_expression<operation_kind::add, L, R>> {
    using type = combined_t<typename linear_form<L>::type, 1, typename linear_form<R>::type>;
};
template <typename L, typename R>
struct linear_form<binary_expression<operation_kind::subtract, L, R>> {
    using type = combined_t<typename linear_form<L>::type, -1, typename linear_form<R>::type>;
};
template <typename E>
struct linear_form<unary_expression<operation_kind::negate, E>> {
    using type = combined_t<linear<0>, -1, typename linear_form<E>::type>;
};

template <typename E>
using linear_t = typename linear_form<E>::type;

template <typename Sum>
struct is_zero : std::false_type {};
template <>
struct is_zero<linear<0>> : std::true_type {};

/// True when a sum is proven to be at least 0.
/// Shape:   Known - atoms that are at least 0
template <typename Sum, typename... Known>
struct is_at_least_zero;
template <std::int64_t Constant, typename... Terms, typename... Known>
struct is_at_least_zero<linear<Constant, Terms...>, Known...> {
    template <typename Term>
    static constexpr bool shown = Term::factor > 0 &&
                                  (std::is_same_v<typename Term::atom, Known> || ...);
    static constexpr bool value = Constant >= 0 && (shown<Terms> && ...);
};

} // namespace detail
SETTLE_END
