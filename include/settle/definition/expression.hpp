// SPDX-License-Identifier: BSL-1.0
// Typed expressions over the fields of a record and the parameters of a transaction.
#pragma once

#include <settle/definition/field_type.hpp>
#include <settle/definition/fixed_string.hpp>
#include <settle/definition/reflection.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

SETTLE_BEGIN

enum class operation_kind : std::uint8_t {
    add, subtract, multiply, negate,
    equal, unequal, less, less_equal, greater, greater_equal,
    both, either, negation
};

/// Every node of an expression derives from this, so that the operators find it.
struct expression_node {};

template <typename T>
concept Expression = std::derived_from<std::remove_cvref_t<T>, expression_node>;

/// The value that a node gives: integers of all widths are computed as 64-bit.
template <typename T>
using computed_t = std::conditional_t<IntegerField<T>, std::int64_t, T>;

template <auto Member>
struct field_expression;

/// A value in the parameters, reached through one or more members.
template <auto First, auto... Rest>
struct param_expression : expression_node {
    using parameters = class_of<First>;
    using declared = value_of<[] {
        if constexpr (sizeof...(Rest) == 0) return First;
        else return (Rest, ...);
    }()>;
    using type = computed_t<declared>;
};

/// A value in one line of a range: a member of the element of a vector.
template <auto First, auto... Rest>
struct line_expression : expression_node {
    using element = class_of<First>;
    using declared = typename param_expression<First, Rest...>::declared;
    using type = computed_t<declared>;
};

namespace detail {

template <typename T>
struct literal_value {
    T value;
    constexpr literal_value(T given) : value(given) {}
};

template <std::size_t Size>
struct literal_value<fixed_string<Size>> {
    fixed_string<Size> value;
    consteval literal_value(char const (&given)[Size]) : value(given) {}
};

template <std::size_t Size>
literal_value(char const (&)[Size]) -> literal_value<fixed_string<Size>>;

template <typename T>
inline constexpr bool is_fixed_string = false;
template <std::size_t Size>
inline constexpr bool is_fixed_string<fixed_string<Size>> = true;

} // namespace detail

/// A literal that is part of the type, so that a compile-time proof can look at it.
template <detail::literal_value Value>
struct literal_expression : expression_node {
    using declared = std::remove_cv_t<decltype(Value.value)>;
    using type = std::conditional_t<detail::is_fixed_string<declared>, std::string,
                                    computed_t<declared>>;

    [[nodiscard]] static constexpr auto get() {
        if constexpr (detail::is_fixed_string<declared>) return Value.value.view();
        else return static_cast<type>(Value.value);
    }
};

/// A constant written as it is; no proof can look at its value.
template <typename T>
struct constant_expression : expression_node {
    using declared = T;
    using type = std::conditional_t<std::is_same_v<T, std::string_view>, std::string,
                                    computed_t<T>>;
    std::conditional_t<std::is_same_v<T, std::string_view>, T, type> value;
};

/// The value of an optional field that holds nothing: written as std::nullopt.
struct none_expression : expression_node {
    using declared = std::nullopt_t;
    using type = std::nullopt_t;
};

template <operation_kind Operation, typename Left, typename Right>
struct binary_expression : expression_node {
    using left_type = Left;
    using right_type = Right;
    using type = std::conditional_t<(Operation <= operation_kind::multiply), std::int64_t, bool>;
    using declared = type;
    static constexpr operation_kind operation = Operation;
    Left left;
    Right right;
};

template <operation_kind Operation, typename Operand>
struct unary_expression : expression_node {
    using operand_type = Operand;
    using type = std::conditional_t<Operation == operation_kind::negate, std::int64_t, bool>;
    using declared = type;
    static constexpr operation_kind operation = Operation;
    Operand operand;
};

template <auto... Path>
inline constexpr param_expression<Path...> param{};

template <auto... Path>
inline constexpr line_expression<Path...> line{};

template <detail::literal_value Value>
inline constexpr literal_expression<Value> lit{};

namespace detail {

template <typename T>
inline constexpr bool is_text_like = std::is_convertible_v<T const&, std::string_view>;

/// An operand as an expression: what is one already stays, a plain value becomes a constant.
template <typename T>
constexpr auto as_expression(T const& value) {
    if constexpr (Expression<T>) {
        return value;
    } else if constexpr (std::is_same_v<T, std::nullopt_t>) {
        return none_expression{};
    } else if constexpr (is_text_like<T>) {
        return constant_expression<std::string_view>{{}, std::string_view(value)};
    } else {
        using constant = constant_expression<T>;
        static_assert(!std::is_floating_point_v<T>,
                      "settle: a floating-point constant would lose information here. Use integers "
                      "of minor units. README#field-types");
        static_assert(FieldType<T> || std::is_floating_point_v<T>,
                      "settle: this constant is of no type that a field can have. "
                      "README#field-types");
        if constexpr (FieldType<T>) return constant{{}, static_cast<typename constant::type>(value)};
        else return constant_expression<int>{{}, 0};
    }
}

template <typename T>
using expression_of = decltype(as_expression(std::declval<T const&>()));

template <typename T>
inline constexpr bool is_integer_value = std::is_same_v<T, std::int64_t>;

/// Two types whose values can be compared without losing anything.
template <typename Left, typename Right>
constexpr bool comparable() {
    using left = typename field_traits<Left>::plain_type;
    using right = typename field_traits<Right>::plain_type;
    if constexpr (std::is_same_v<Left, std::nullopt_t>) return field_traits<Right>::optional;
    else if constexpr (std::is_same_v<Right, std::nullopt_t>) return field_traits<Left>::optional;
    else if constexpr (IntegerField<left> && IntegerField<right>) return true;
    else return std::is_same_v<left, right> && FieldType<left>;
}

template <typename Left, typename Right>
constexpr bool ordered() {
    constexpr auto kind = field_traits<Left>::kind;
    return !field_traits<Left>::optional && !field_traits<Right>::optional &&
           kind != field_kind::boolean && kind != field_kind::enumeration &&
           !std::is_same_v<Right, std::nullopt_t> && !std::is_same_v<Left, std::nullopt_t>;
}

template <operation_kind Operation, typename Left, typename Right>
constexpr auto compare(Left const& left, Right const& right) {
    using left_expression = expression_of<Left>;
    using right_expression = expression_of<Right>;
    using left_type = typename left_expression::type;
    using right_type = typename right_expression::type;
    constexpr bool fits = comparable<left_type, right_type>();
    static_assert(fits, "settle: a comparison between types that lose information. Compare text "
                        "with text, integers with integers, times of one unit, values of one enum. "
                        "README#expressions");
    if constexpr (fits && Operation != operation_kind::equal &&
                  Operation != operation_kind::unequal) {
        static_assert(ordered<left_type, right_type>(),
                      "settle: booleans, enums and optional values have no order here. Compare them "
                      "with == or !=. README#expressions");
    }
    return binary_expression<Operation, left_expression, right_expression>{
        {}, as_expression(left), as_expression(right)};
}

template <operation_kind Operation, typename Left, typename Right>
constexpr auto arithmetic(Left const& left, Right const& right) {
    using left_expression = expression_of<Left>;
    using right_expression = expression_of<Right>;
    static_assert(is_integer_value<typename left_expression::type> &&
                      is_integer_value<typename right_expression::type>,
                  "settle: + - * take integers. README#expressions");
    return binary_expression<Operation, left_expression, right_expression>{
        {}, as_expression(left), as_expression(right)};
}

template <operation_kind Operation, typename Left, typename Right>
constexpr auto logic(Left const& left, Right const& right) {
    using left_expression = expression_of<Left>;
    using right_expression = expression_of<Right>;
    static_assert(std::is_same_v<typename left_expression::type, bool> &&
                      std::is_same_v<typename right_expression::type, bool>,
                  "settle: and, or, not take conditions. README#expressions");
    return binary_expression<Operation, left_expression, right_expression>{
        {}, as_expression(left), as_expression(right)};
}

template <typename Left, typename Right>
concept OneExpression = Expression<Left> || Expression<Right>;

} // namespace detail

// The operators take anything beside an expression and refuse inside, because a constrained
// overload makes the compiler explain every candidate instead of the mistake.

template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator+(L const& left, R const& right) {
    return detail::arithmetic<operation_kind::add>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator-(L const& left, R const& right) {
    return detail::arithmetic<operation_kind::subtract>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator*(L const& left, R const& right) {
    return detail::arithmetic<operation_kind::multiply>(left, right);
}
template <Expression E>
constexpr auto operator-(E const& operand) {
    static_assert(detail::is_integer_value<typename E::type>,
                  "settle: + - * take integers. README#expressions");
    return unary_expression<operation_kind::negate, E>{{}, operand};
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator==(L const& left, R const& right) {
    return detail::compare<operation_kind::equal>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator!=(L const& left, R const& right) {
    return detail::compare<operation_kind::unequal>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator<(L const& left, R const& right) {
    return detail::compare<operation_kind::less>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator<=(L const& left, R const& right) {
    return detail::compare<operation_kind::less_equal>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator>(L const& left, R const& right) {
    return detail::compare<operation_kind::greater>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator>=(L const& left, R const& right) {
    return detail::compare<operation_kind::greater_equal>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator&&(L const& left, R const& right) {
    return detail::logic<operation_kind::both>(left, right);
}
template <typename L, typename R> requires detail::OneExpression<L, R>
constexpr auto operator||(L const& left, R const& right) {
    return detail::logic<operation_kind::either>(left, right);
}
template <Expression E>
constexpr auto operator!(E const& operand) {
    static_assert(std::is_same_v<typename E::type, bool>,
                  "settle: and, or, not take conditions. README#expressions");
    return unary_expression<operation_kind::negation, E>{{}, operand};
}

SETTLE_END
