// SPDX-License-Identifier: BSL-1.0
// Plain evaluation of a definition: 128-bit numbers, no plan, no marks.
//
// The laws compare the library with it, so it shares no code with evaluate.hpp or the record rule.
#pragma once

#include <settle/protocol/mark.hpp>
#include <settle/testing/laws/value_source.hpp>

SETTLE_BEGIN
namespace testing {

using settle::detail::wide;

namespace laws {

/// The values that an expression reads, and the overflow and the reads of its evaluation.
template <typename Record, typename Parameters, typename Line>
struct plain_scope {
    Record const* record;
    Parameters const* parameters;
    Line const* line;
    bool overflow = false;
    std::uint64_t read = 0; ///< a bit for each field that was read
};

[[nodiscard]] constexpr bool fits_64(wide value) {
    return value >= std::numeric_limits<std::int64_t>::min() &&
           value <= std::numeric_limits<std::int64_t>::max();
}

template <typename T>
[[nodiscard]] constexpr bool fits_in(wide value) {
    return value >= wide{std::numeric_limits<T>::min()} &&
           value <= wide{std::numeric_limits<T>::max()};
}

template <typename T>
auto widened(T const& value) {
    using plain = typename field_traits<T>::plain_type;
    if constexpr (IntegerField<T>) return wide{value};
    else if constexpr (!IntegerField<plain>) return value;
    else return value ? std::optional<wide>{*value} : std::nullopt;
}

template <typename T>
auto constant_value(T const& value) {
    if constexpr (std::is_same_v<T, std::string_view>) return std::string{value};
    else return widened(value);
}

template <operation_kind Operation, typename L, typename R>
bool compare(L const& left, R const& right) {
    if constexpr (Operation == operation_kind::equal) return left == right;
    else if constexpr (Operation == operation_kind::unequal) return left != right;
    else if constexpr (Operation == operation_kind::less) return left < right;
    else if constexpr (Operation == operation_kind::less_equal) return left <= right;
    else if constexpr (Operation == operation_kind::greater) return left > right;
    else return left >= right;
}

/// Returns the value if it fits 64 bits; otherwise sets `overflow` and returns 0.
template <typename S>
wide check_range(wide value, S& state) {
    if (fits_64(value)) return value;
    state.overflow = true;
    return 0;
}

template <auto Member, typename S>
auto plain_value(field_expression<Member> const&, S& state) {
    using record = std::remove_cvref_t<decltype(*state.record)>;
    state.read |= std::uint64_t{1} << member_index<record, Member>;
    return widened((*state.record).*Member);
}
template <auto... Path, typename S>
auto plain_value(param_expression<Path...> const&, S& state) {
    return widened(settle::detail::follow<Path...>(*state.parameters));
}
template <auto... Path, typename S>
auto plain_value(line_expression<Path...> const&, S& state) {
    return widened(settle::detail::follow<Path...>(*state.line));
}
template <settle::detail::literal_value Value, typename S>
auto plain_value(literal_expression<Value> const&, S&) {
    return constant_value(literal_expression<Value>::get());
}
template <typename T, typename S>
auto plain_value(constant_expression<T> const& constant, S&) {
    return constant_value(constant.value);
}
template <typename S>
auto plain_value(none_expression const&, S&) {
    return std::nullopt;
}
template <operation_kind Operation, typename E, typename S>
auto plain_value(unary_expression<Operation, E> const& node, S& state) {
    if constexpr (Operation == operation_kind::negate)
        return check_range(-plain_value(node.operand, state), state);
    else return !plain_value(node.operand, state);
}
template <operation_kind Operation, typename L, typename R, typename S>
auto plain_value(binary_expression<Operation, L, R> const& node, S& state) {
    auto const left = plain_value(node.left, state);
    auto const right = plain_value(node.right, state);
    if constexpr (Operation == operation_kind::add) return check_range(left + right, state);
    else if constexpr (Operation == operation_kind::subtract)
        return check_range(left - right, state);
    else if constexpr (Operation == operation_kind::multiply)
        return check_range(left * right, state);
    else if constexpr (Operation == operation_kind::both) return left && right;
    else if constexpr (Operation == operation_kind::either) return left || right;
    else return compare<Operation>(left, right);
}

/// Assigns a value to a member; an integer that does not fit sets `overflow`.
template <typename T, typename Value>
void assign(T& member, Value const& value, bool& overflow) {
    using plain_type = typename field_traits<T>::plain_type;
    if constexpr (std::is_same_v<Value, wide>) {
        if (fits_in<plain_type>(value)) member = static_cast<plain_type>(value);
        else overflow = true;
    } else if constexpr (std::is_same_v<Value, std::optional<wide>>) {
        if (value) assign(member, *value, overflow);
        else member = std::nullopt;
    } else {
        member = value;
    }
}

/// Sums the numbers that a commuting moment adds to each integer member.
template <typename Moment, typename S, std::size_t Count>
void sum_deltas(Moment const& moment, S& state, std::array<wide, Count>& sums) {
    if constexpr (settle::detail::is_moment<Moment>) {
        using record = std::remove_cvref_t<decltype(*state.record)>;
        for_each_element(moment.effects, [&](auto const& effect) {
            using effect_type = std::remove_cvref_t<decltype(effect)>;
            if constexpr (effect_type::kind != effect_kind::assign) {
                constexpr auto index = member_index<record, effect_type::member>;
                wide& sum = sums[integer_position<record, index>];
                wide const operand = plain_value(effect.operand, state);
                sum += effect_type::kind == effect_kind::add ? operand : -operand;
                sum = check_range(sum, state);
            }
        });
    }
}

/// Applies the effects of one moment to a record; each effect reads the record before the moment.
/// Returns false if an amount is negative and its effect does not permit that.
template <typename Moment, typename S>
bool change_record(Moment const& moment, S state, bool& overflow,
                   std::remove_cvref_t<decltype(*state.record)>& record) {
    bool holds = true;
    if constexpr (settle::detail::is_moment<Moment>) {
        auto const before = record;
        state.record = &before;
        for_each_element(moment.effects, [&](auto const& effect) {
            using effect_type = std::remove_cvref_t<decltype(effect)>;
            auto& member = settle::detail::member_in<effect_type::member>(record);
            auto const value = plain_value(effect.operand, state);
            if constexpr (effect_type::kind == effect_kind::assign) {
                assign(member, value, overflow);
            } else {
                holds = holds && (effect_type::is_signed || value >= 0);
                wide const old{member};
                assign(member, effect_type::kind == effect_kind::add ? old + value : old - value,
                       overflow);
            }
        });
        overflow = overflow || state.overflow;
    }
    return holds;
}

} // namespace laws
} // namespace testing
SETTLE_END
