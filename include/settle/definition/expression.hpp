// SPDX-License-Identifier: BSL-1.0
// Typed expressions over the fields of a record and the parameters of a transaction.
#pragma once

#include <settle/definition/field_type.hpp>
#include <settle/definition/fixed_string.hpp>
#include <settle/definition/literal_value.hpp>
#include <settle/definition/nested_type.hpp>
#include <settle/definition/reflection.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

SETTLE_BEGIN

enum class operation_kind : std::uint8_t {
    add,
    subtract,
    multiply,
    negate,
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal,
    both,
    either,
    negation
};

struct refused_expression;

/// The base of every node of an expression; the operators take the types that derive from it.
struct expression_node {
    template <typename Value>
    constexpr auto operator=(Value const&) const {
        return refuse_change<Value>();
    }
    template <typename Value>
    constexpr auto operator+=(Value const&) const {
        return refuse_change<Value>();
    }
    template <typename Value>
    constexpr auto operator-=(Value const&) const {
        return refuse_change<Value>();
    }

private:
    template <typename Value, typename Refused = refused_expression>
    static constexpr Refused refuse_change() {
        static_assert(sizeof(Value) == 0,
                      "settle: only a field is assigned to, added to or taken from. Write == to "
                      "compare; an effect begins with settle::field<...>. "
                      "See definition#expressions");
        return {};
    }
};

template <typename T>
concept Expression = std::derived_from<std::remove_cvref_t<T>, expression_node>;

/// The type in which a value is computed: 64 bits for an integer of any width.
template <typename T>
using computed_t = std::conditional_t<IntegerField<T>, std::int64_t, T>;

template <auto Member>
struct field_expression;

/// A value in the parameters, reached through one or more members.
template <auto First, auto... Rest>
struct param_expression : expression_node {
    using expression_node::operator=;
    using parameters = class_of<First>;
    using declared = value_of<[] {
        if constexpr (sizeof...(Rest) == 0) return First;
        else return (Rest, ...);
    }()>;
    using type = computed_t<declared>;
};

/// A value in one line of a range, reached through one or more members of the vector's element.
template <auto First, auto... Rest>
struct line_expression : expression_node {
    using expression_node::operator=;
    using element = class_of<First>;
    using declared = typename param_expression<First, Rest...>::declared;
    using type = computed_t<declared>;
};

/// A value in the result of a call, reached through one or more members of the result.
template <fixed_string Participant, auto First, auto... Rest>
struct result_expression : expression_node {
    using expression_node::operator=;
    static constexpr std::string_view participant = Participant.view();
    using result = class_of<First>;
    using declared = typename param_expression<First, Rest...>::declared;
    using type = computed_t<declared>;
};

/// A literal that is part of the type, so that a compile-time proof can use its value.
template <detail::literal_value Value>
struct literal_expression : expression_node {
    static_assert(!std::is_same_v<decltype(Value), detail::literal_value<std::string> const>,
                  "settle: a settle::lit cannot be a std::string. Write the text itself, as "
                  "settle::lit<\"open\">. See definition#expressions");
    using declared = std::remove_cv_t<decltype(Value.value)>;
    using type =
        std::conditional_t<detail::is_fixed_string<declared>, std::string, computed_t<declared>>;

    [[nodiscard]] static constexpr auto get() {
        if constexpr (detail::is_fixed_string<declared>) return Value.value.view();
        else return static_cast<type>(Value.value);
    }
};

/// A constant that is not part of the type: no compile-time proof can use its value.
template <typename T>
struct constant_expression : expression_node {
    using declared = T;
    using type =
        std::conditional_t<std::is_same_v<T, std::string_view>, std::string, computed_t<T>>;
    std::conditional_t<std::is_same_v<T, std::string_view>, T, type> value;
};

/// The value of an empty optional field; the user writes std::nullopt.
struct none_expression : expression_node {
    using declared = std::nullopt_t;
    using type = std::nullopt_t;
};

/// Replaces an operand that the compiler has refused; an expression on top of it reports no error.
struct refused_expression : expression_node {
    using declared = refused_expression;
    using type = refused_expression;
    constexpr refused_expression operator=(auto const&) const { return *this; }
    constexpr refused_expression operator+=(auto const&) const { return *this; }
    constexpr refused_expression operator-=(auto const&) const { return *this; }
};

template <operation_kind Operation, typename Left, typename Right>
struct binary_expression : expression_node {
    using expression_node::operator=;
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
    using expression_node::operator=;
    using operand_type = Operand;
    using type = std::conditional_t<Operation == operation_kind::negate, std::int64_t, bool>;
    using declared = type;
    static constexpr operation_kind operation = Operation;
    Operand operand;
};

namespace detail {

/// True when each member pointer of a path points into the value that the previous pointer names.
template <auto First>
constexpr bool path_leads_on() {
    return std::is_member_object_pointer_v<decltype(First)>;
}
template <auto First, auto Next, auto... Rest>
constexpr bool path_leads_on() {
    if constexpr (path_leads_on<First>() && path_leads_on<Next>()) {
        return std::is_base_of_v<class_of<Next>, value_of<First>> && path_leads_on<Next, Rest...>();
    } else {
        return false;
    }
}

/// Shape:   Node - has the type of the expression with a path, `of<Path...>`
template <typename Node, auto... Path>
constexpr auto checked_path() {
    constexpr bool fits = [] {
        if constexpr (sizeof...(Path) == 0) return false;
        else return path_leads_on<Path...>();
    }();
    static_assert(fits, "settle: settle::param, settle::line and settle::result_from take pointers "
                        "to data members, each of the struct before it. Write "
                        "settle::param<&parameters::member>. See definition#expressions");
    if constexpr (!fits) {
        return refused_expression{};
    } else {
        using node = typename Node::template of<Path...>;
        constexpr type_fault fault = fault_of_value<typename node::declared>();
        explain_type_fault<fault, Path...>();
        if constexpr (fault == type_fault::none) return node{};
        else return refused_expression{};
    }
}

struct param_node {
    template <auto... Path>
    using of = param_expression<Path...>;
};
struct line_node {
    template <auto... Path>
    using of = line_expression<Path...>;
};
template <fixed_string Participant>
struct result_node {
    template <auto... Path>
    using of = result_expression<Participant, Path...>;
};

/// True when every member of a path is listed in the description of its struct. Also true for an
/// undescribed struct or a member of another struct, which other checks report.
template <typename Owner, auto First, auto... Rest>
constexpr bool path_is_listed() {
    if constexpr (!Described<Owner>) {
        return true;
    } else if constexpr (!std::is_base_of_v<class_of<First>, Owner>) {
        return true;
    } else if constexpr (member_index<Owner, First> == member_count<Owner>) {
        return false;
    } else if constexpr (sizeof...(Rest) > 0) {
        return path_is_listed<value_of<First>, Rest...>();
    } else {
        return true;
    }
}

} // namespace detail

template <auto... Path>
inline constexpr auto param = detail::checked_path<detail::param_node, Path...>();

template <auto... Path>
inline constexpr auto line = detail::checked_path<detail::line_node, Path...>();

/// A member of the result of an earlier call: `result_from<"flight", &ticket::price>`. Only the
/// arguments of later calls use it.
template <fixed_string Participant, auto... Path>
inline constexpr auto result_from =
    detail::checked_path<detail::result_node<Participant>, Path...>();

template <detail::literal_value Value>
inline constexpr literal_expression<Value> lit{};

namespace detail {

template <typename T>
inline constexpr bool is_text_like = std::is_convertible_v<T const&, std::string_view>;

/// True for the plain values that an expression takes. A std::string is refused, because the
/// expression keeps only a view, which would outlive the string.
template <typename T>
inline constexpr bool is_constant =
    !std::is_same_v<T, std::string> &&
    ((FieldType<T> && !field_traits<T>::optional) || is_text_like<T>);

/// Turns an operand into an expression: an expression stays the same, a value becomes a constant.
template <typename T>
constexpr auto as_expression(T const& value) {
    if constexpr (Expression<T>) {
        return value;
    } else if constexpr (std::is_same_v<T, std::nullopt_t>) {
        return none_expression{};
    } else if constexpr (is_constant<T> && is_text_like<T>) {
        return constant_expression<std::string_view>{{}, std::string_view(value)};
    } else if constexpr (is_constant<T>) {
        using constant = constant_expression<T>;
        return constant{{}, static_cast<typename constant::type>(value)};
    } else {
        constexpr bool is_pointer = std::is_member_pointer_v<T>;
        constexpr bool is_string = std::is_same_v<T, std::string>;
        constexpr bool is_optional = field_traits<T>::optional;
        constexpr bool is_fraction = std::is_floating_point_v<T>;
        constexpr bool is_other = !is_pointer && !is_string && !is_optional && !is_fraction;
        static_assert(!is_pointer,
                      "settle: a pointer to a member has no value here. Write settle::param<&...>, "
                      "settle::field<&...> or settle::line<&...>. See definition#expressions");
        static_assert(!is_string, "settle: a std::string constant does not live as long as the "
                                  "definition. Write a literal, or make it a parameter. "
                                  "See definition#expressions");
        static_assert(!is_optional, "settle: a constant is never a std::optional. Write the value "
                                    "itself, or std::nullopt. See definition#expressions");
        static_assert(!is_fraction, "settle: a floating-point constant would lose information "
                                    "here. Use integers of minor units. "
                                    "See definition#field-types");
        static_assert(!is_other, "settle: this constant is of no type that a field can have. Use "
                                 "an integer, a bool, an enumerator, a text or a time. "
                                 "See definition#field-types");
        return refused_expression{};
    }
}

template <typename T>
using expression_of = decltype(as_expression(std::declval<T const&>()));

template <typename... E>
inline constexpr bool any_refused = (std::is_same_v<typename E::type, refused_expression> || ...);

template <typename T>
inline constexpr bool is_integer_value = std::is_same_v<T, std::int64_t>;

/// True for two types whose values can be compared without a loss of information.
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
    if constexpr (any_refused<left_expression, right_expression>) {
        return refused_expression{};
    } else {
        constexpr bool fits = comparable<left_type, right_type>();
        constexpr bool nested = NestedType<left_type> || NestedType<right_type>;
        static_assert(!nested, "settle: a struct or a list is not compared. Compare a member that "
                               "is one value. See definition#expressions");
        static_assert(fits || nested,
                      "settle: a comparison between types that lose information. Compare text "
                      "with text, integers with integers, times of one unit, values of one enum. "
                      "See definition#expressions");
        constexpr bool has_order = Operation == operation_kind::equal ||
                                   Operation == operation_kind::unequal || !fits ||
                                   ordered<left_type, right_type>();
        static_assert(has_order, "settle: booleans, enums and optional values have no order here. "
                                 "Compare them with == or !=. See definition#expressions");
        if constexpr (fits && has_order) {
            return binary_expression<Operation, left_expression, right_expression>{
                {}, as_expression(left), as_expression(right)};
        } else {
            return refused_expression{};
        }
    }
}

template <operation_kind Operation, typename Left, typename Right>
constexpr auto arithmetic(Left const& left, Right const& right) {
    using left_expression = expression_of<Left>;
    using right_expression = expression_of<Right>;
    if constexpr (any_refused<left_expression, right_expression>) {
        return refused_expression{};
    } else {
        constexpr bool integers = is_integer_value<typename left_expression::type> &&
                                  is_integer_value<typename right_expression::type>;
        static_assert(integers, "settle: + - * take integers. See definition#expressions");
        if constexpr (integers) {
            return binary_expression<Operation, left_expression, right_expression>{
                {}, as_expression(left), as_expression(right)};
        } else {
            return refused_expression{};
        }
    }
}

template <operation_kind Operation, typename Left, typename Right>
constexpr auto logic(Left const& left, Right const& right) {
    using left_expression = expression_of<Left>;
    using right_expression = expression_of<Right>;
    if constexpr (any_refused<left_expression, right_expression>) {
        return refused_expression{};
    } else {
        constexpr bool conditions = std::is_same_v<typename left_expression::type, bool> &&
                                    std::is_same_v<typename right_expression::type, bool>;
        static_assert(conditions, "settle: and, or, not take conditions. "
                                  "See definition#expressions");
        if constexpr (conditions) {
            return binary_expression<Operation, left_expression, right_expression>{
                {}, as_expression(left), as_expression(right)};
        } else {
            return refused_expression{};
        }
    }
}

template <typename Left, typename Right>
concept OneExpression = Expression<Left> || Expression<Right>;

} // namespace detail

// An operator takes an operand of any type beside an expression and refuses a wrong type in its
// body: with constrained overloads the compiler explains every candidate instead of the mistake.

template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator+(L const& left, R const& right) {
    return detail::arithmetic<operation_kind::add>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator-(L const& left, R const& right) {
    return detail::arithmetic<operation_kind::subtract>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator*(L const& left, R const& right) {
    return detail::arithmetic<operation_kind::multiply>(left, right);
}
template <Expression E>
constexpr auto operator-(E const& operand) {
    constexpr bool integer = detail::is_integer_value<typename E::type>;
    static_assert(integer || detail::any_refused<E>,
                  "settle: + - * take integers. See definition#expressions");
    if constexpr (integer) return unary_expression<operation_kind::negate, E>{{}, operand};
    else return refused_expression{};
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator==(L const& left, R const& right) {
    return detail::compare<operation_kind::equal>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator!=(L const& left, R const& right) {
    return detail::compare<operation_kind::unequal>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator<(L const& left, R const& right) {
    return detail::compare<operation_kind::less>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator<=(L const& left, R const& right) {
    return detail::compare<operation_kind::less_equal>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator>(L const& left, R const& right) {
    return detail::compare<operation_kind::greater>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator>=(L const& left, R const& right) {
    return detail::compare<operation_kind::greater_equal>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator&&(L const& left, R const& right) {
    return detail::logic<operation_kind::both>(left, right);
}
template <typename L, typename R>
    requires detail::OneExpression<L, R>
constexpr auto operator||(L const& left, R const& right) {
    return detail::logic<operation_kind::either>(left, right);
}
template <Expression E>
constexpr auto operator!(E const& operand) {
    constexpr bool is_condition = std::is_same_v<typename E::type, bool>;
    static_assert(is_condition || detail::any_refused<E>,
                  "settle: and, or, not take conditions. See definition#expressions");
    if constexpr (is_condition) return unary_expression<operation_kind::negation, E>{{}, operand};
    else return refused_expression{};
}

SETTLE_END
