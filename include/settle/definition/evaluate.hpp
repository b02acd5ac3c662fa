// SPDX-License-Identifier: BSL-1.0
// Evaluates expressions with arithmetic that detects every overflow.
#pragma once

#include <settle/definition/effect.hpp>

#include <optional>

SETTLE_BEGIN

/// The type that stands for a missing record or line of an expression, and for the result of a
/// service without a result.
struct nothing {};

/// The input of an expression. An operation whose result needs more than 64 bits sets `overflow`,
/// also in an operand of `&&` or `||` that does not decide the condition. So the result does not
/// depend on the order in which a store evaluates.
template <typename Record, typename Parameters, typename Line>
struct scope {
    Record const* record;
    Parameters const* parameters;
    Line const* line;
    bool* overflow;
};

namespace detail {

template <auto First, auto... Rest, typename T>
constexpr auto const& follow(T const& object) {
    if constexpr (sizeof...(Rest) == 0) return member_in<First>(object);
    else return follow<Rest...>(member_in<First>(object));
}

/// Returns a view of a text, a 64-bit integer for any integer, and a copy of any other value.
template <typename T>
constexpr auto computed(T const& value) {
    if constexpr (std::is_same_v<T, std::string>) {
        return std::string_view{value};
    } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
        return value ? std::optional<std::string_view>{*value} : std::nullopt;
    } else if constexpr (IntegerField<T>) {
        return static_cast<std::int64_t>(value);
    } else if constexpr (field_traits<T>::kind == field_kind::integer) {
        return value ? std::optional<std::int64_t>{*value} : std::nullopt;
    } else {
        return value;
    }
}

template <operation_kind Operation>
constexpr std::int64_t checked(std::int64_t left, std::int64_t right, bool& overflow) {
    std::int64_t value{};
    bool failed{};
    if constexpr (Operation == operation_kind::add) {
        failed = __builtin_add_overflow(left, right, &value);
    } else if constexpr (Operation == operation_kind::subtract) {
        failed = __builtin_sub_overflow(left, right, &value);
    } else {
        failed = __builtin_mul_overflow(left, right, &value);
    }
    overflow = overflow || failed;
    return failed ? 0 : value;
}

template <operation_kind Operation, typename Left, typename Right>
constexpr bool compared(Left const& left, Right const& right) {
    if constexpr (Operation == operation_kind::equal) return left == right;
    else if constexpr (Operation == operation_kind::unequal) return !(left == right);
    else if constexpr (Operation == operation_kind::less) return left < right;
    else if constexpr (Operation == operation_kind::less_equal) return !(right < left);
    else if constexpr (Operation == operation_kind::greater) return right < left;
    else return !(left < right);
}

} // namespace detail

template <auto Member, typename S>
constexpr auto evaluate(field_expression<Member> const&, S const& state) {
    return detail::computed((*state.record).*Member);
}

template <auto... Path, typename S>
constexpr auto evaluate(param_expression<Path...> const&, S const& state) {
    return detail::computed(detail::follow<Path...>(*state.parameters));
}

template <auto... Path, typename S>
constexpr auto evaluate(line_expression<Path...> const&, S const& state) {
    return detail::computed(detail::follow<Path...>(*state.line));
}

/// Shape:   S - the scope of a call, which has the results of earlier calls
template <fixed_string Participant, auto... Path, typename S>
constexpr auto evaluate(result_expression<Participant, Path...> const&, S const& state) {
    return detail::computed(detail::follow<Path...>(state.template result<Participant>()));
}

template <detail::literal_value Value, typename S>
constexpr auto evaluate(literal_expression<Value> const&, S const&) {
    return literal_expression<Value>::get();
}

template <typename T, typename S>
constexpr auto evaluate(constant_expression<T> const& constant, S const&) {
    return constant.value;
}

template <typename S>
constexpr auto evaluate(none_expression const&, S const&) {
    return std::nullopt;
}

template <operation_kind Operation, typename L, typename R, typename S>
constexpr auto evaluate(binary_expression<Operation, L, R> const& node, S const& state) {
    auto const left = evaluate(node.left, state);
    auto const right = evaluate(node.right, state);
    if constexpr (Operation <= operation_kind::multiply) {
        return detail::checked<Operation>(left, right, *state.overflow);
    } else if constexpr (Operation == operation_kind::both) {
        return left && right;
    } else if constexpr (Operation == operation_kind::either) {
        return left || right;
    } else {
        return detail::compared<Operation>(left, right);
    }
}

template <operation_kind Operation, typename E, typename S>
constexpr auto evaluate(unary_expression<Operation, E> const& node, S const& state) {
    if constexpr (Operation == operation_kind::negate) {
        return detail::checked<operation_kind::subtract>(
            std::int64_t{0}, evaluate(node.operand, state), *state.overflow);
    } else {
        return !evaluate(node.operand, state);
    }
}

/// Writes a computed value into a member. An integer that does not fit sets `overflow`.
template <typename T, typename Value>
constexpr void store_value(T& member, Value const& value, bool& overflow) {
    using plain = typename field_traits<T>::plain_type;
    if constexpr (std::is_same_v<Value, std::nullopt_t>) {
        member = std::nullopt;
    } else if constexpr (std::is_same_v<Value, std::int64_t> && IntegerField<plain>) {
        plain narrow{};
        if (from_integer(value, narrow)) member = narrow;
        else overflow = true;
    } else if constexpr (std::is_same_v<Value, std::optional<std::int64_t>>) {
        if (value) store_value(member, *value, overflow);
        else member = std::nullopt;
    } else if constexpr (std::is_same_v<Value, std::string_view>) {
        member = std::string{value};
    } else if constexpr (std::is_same_v<Value, std::optional<std::string_view>>) {
        if (value) member = std::string{*value};
        else member = std::nullopt;
    } else {
        member = value;
    }
}

// ---------------------------------------------------------------------- what an expression reads

namespace detail {

/// The fields that an expression reads, as a bit for each position in Record.
template <typename Record, typename E>
struct fields_in {
    static constexpr std::uint64_t value = 0;
};

template <typename Record, auto Member>
struct fields_in<Record, field_expression<Member>> {
    static constexpr std::uint64_t value = std::uint64_t{1} << member_index<Record, Member>;
};

template <typename Record, operation_kind Operation, typename L, typename R>
struct fields_in<Record, binary_expression<Operation, L, R>> {
    static constexpr std::uint64_t value =
        fields_in<Record, L>::value | fields_in<Record, R>::value;
};

template <typename Record, operation_kind Operation, typename E>
struct fields_in<Record, unary_expression<Operation, E>> {
    static constexpr std::uint64_t value = fields_in<Record, E>::value;
};

/// True when every leaf of an expression passes `Test<Leaf>`.
template <template <typename> typename Test, typename E>
struct every_leaf : Test<E> {};

template <template <typename> typename Test, operation_kind Operation, typename L, typename R>
struct every_leaf<Test, binary_expression<Operation, L, R>>
    : std::bool_constant<every_leaf<Test, L>::value && every_leaf<Test, R>::value> {};

template <template <typename> typename Test, operation_kind Operation, typename E>
struct every_leaf<Test, unary_expression<Operation, E>> : every_leaf<Test, E> {};

template <typename E>
struct is_not_field : std::true_type {};
template <auto Member>
struct is_not_field<field_expression<Member>> : std::false_type {};

template <typename E>
struct is_not_line : std::true_type {};
template <auto... Path>
struct is_not_line<line_expression<Path...>> : std::false_type {};

template <typename E>
struct is_not_result : std::true_type {};
template <fixed_string Participant, auto... Path>
struct is_not_result<result_expression<Participant, Path...>> : std::false_type {};

template <typename E>
inline constexpr bool without_fields = every_leaf<is_not_field, E>::value;

template <typename E>
inline constexpr bool without_lines = every_leaf<is_not_line, E>::value;

template <typename E>
inline constexpr bool without_results = every_leaf<is_not_result, E>::value;

} // namespace detail

SETTLE_END
