// SPDX-License-Identifier: BSL-1.0
// The effects of a participant on its record: add, subtract, assign, create, replace, erase.
#pragma once

#include <settle/definition/nested_type.hpp>
#include <settle/definition/wrong_operators.hpp>

#include <boost/hana/tuple.hpp>

SETTLE_BEGIN

enum class effect_kind : std::uint8_t { add, subtract, assign };

/// One effect on one field.
template <effect_kind Kind, auto Member, typename Operand, bool Signed = false,
          bool MayPassZero = false>
struct effect {
    static constexpr effect_kind kind = Kind;
    static constexpr auto member = Member;
    static constexpr bool is_signed = Signed;
    static constexpr bool may_pass_zero = MayPassZero;
    using operand_type = Operand;
    using record = class_of<Member>;
    Operand operand;
};

template <typename... Assignments>
struct create_effect {
    boost::hana::tuple<Assignments...> assignments;
};

template <typename... Assignments>
struct replace_effect {
    boost::hana::tuple<Assignments...> assignments;
};

template <auto... Path>
struct replace_by_value {};

template <auto... Path>
struct create_by_value {};

struct erase_effect {};
struct inverse_tag {};

/// Erases the record when the transaction commits. Write it alone: `.confirm(settle::erase)`.
inline constexpr erase_effect erase{};

/// Asks the library to derive the compensation that undoes the apply exactly.
inline constexpr inverse_tag inverse{};

namespace detail {

template <typename T>
inline constexpr bool is_effect = false;
template <effect_kind Kind, auto Member, typename Operand, bool Signed, bool MayPassZero>
inline constexpr bool is_effect<effect<Kind, Member, Operand, Signed, MayPassZero>> = true;

template <typename T>
inline constexpr bool is_create = false;
template <typename... Assignments>
inline constexpr bool is_create<create_effect<Assignments...>> = true;
template <auto... Path>
inline constexpr bool is_create<create_by_value<Path...>> = true;

template <typename Field, typename Value>
constexpr bool assignable() {
    if constexpr (std::is_same_v<Value, std::nullopt_t>) {
        return field_traits<Field>::optional;
    } else {
        using field_plain = typename field_traits<Field>::plain_type;
        using value_plain = typename field_traits<Value>::plain_type;
        constexpr bool keeps_empty =
            field_traits<Field>::optional || !field_traits<Value>::optional;
        return keeps_empty && std::is_same_v<field_plain, value_plain>;
    }
}

/// An integer literal fits by its value; any other operand fits by the range of its type.
template <typename Field, typename E>
constexpr bool integer_assignable() {
    using field_plain = typename field_traits<Field>::plain_type;
    if constexpr (requires { E::get(); }) {
        field_plain value{};
        return from_integer(E::get(), value);
    } else {
        using declared = typename E::declared;
        using target = std::numeric_limits<field_plain>;
        using source = std::numeric_limits<declared>;
        return static_cast<std::int64_t>(source::min()) >=
                   static_cast<std::int64_t>(target::min()) &&
               static_cast<std::int64_t>(source::max()) <= static_cast<std::int64_t>(target::max());
    }
}

template <typename Field, typename Operand>
inline constexpr bool both_integers =
    IntegerField<typename field_traits<Field>::plain_type> && IntegerField<typename Operand::type>;

/// True if every value of the operand is a value of the field. Also true for an operand that an
/// earlier message refused.
template <typename Field, typename Operand>
constexpr bool operand_fits() {
    if constexpr (any_refused<Operand>) return true;
    else if constexpr (both_integers<Field, Operand>) return integer_assignable<Field, Operand>();
    else return assignable<Field, typename Operand::type>();
}

template <auto Member, typename Value>
constexpr auto make_assignment(Value const& value) {
    using field_type = value_of<Member>;
    using operand = expression_of<Value>;
    constexpr bool fits = operand_fits<field_type, operand>();
    constexpr bool integers = both_integers<field_type, operand>;
    constexpr bool literal = integers && requires { operand::get(); };
    static_assert(fits || !literal,
                  "settle: a settle::lit does not fit into the type of the field that it is "
                  "assigned to. Write a smaller number, or give the field a wider type. "
                  "See definition#expressions");
    static_assert(fits || !integers || literal,
                  "settle: an assignment of an integer to a field of a narrower type. Give both "
                  "the same type, or write a constant as settle::lit<...>. "
                  "See definition#expressions");
    static_assert(fits || integers,
                  "settle: an assignment between types that lose information. Give the field and "
                  "the value the same type. See definition#expressions");
    return effect<effect_kind::assign, Member, operand>{as_expression(value)};
}

template <effect_kind Kind, auto Member, typename Value>
constexpr auto make_delta(Value const& value) {
    using operand = expression_of<Value>;
    constexpr bool integers =
        IntegerField<value_of<Member>> && is_integer_value<typename operand::type>;
    static_assert(integers || any_refused<operand>,
                  "settle: += and -= take an integer field and an integer operand. "
                  "See definition#expressions");
    if constexpr (requires { operand::get(); } && integers) {
        static_assert(operand::get() >= 0,
                      "settle: the operand of += and -= is never negative. Use the other operator. "
                      "See definition#amounts");
    }
    if constexpr (integers) return effect<Kind, Member, operand>{as_expression(value)};
    else return effect<Kind, Member, literal_expression<0>>{};
}

} // namespace detail

/// A field of the record. `+=`, `-=` and `=` make effects.
template <auto Member>
struct field_expression : expression_node {
    using record = class_of<Member>;
    using declared = value_of<Member>;
    using type = computed_t<declared>;
    static constexpr auto member = Member;

    template <typename Value>
    constexpr auto operator=(Value const& value) const {
        return detail::make_assignment<Member>(value);
    }
    template <typename Value>
    constexpr auto operator+=(Value const& value) const {
        return detail::make_delta<effect_kind::add, Member>(value);
    }
    template <typename Value>
    constexpr auto operator-=(Value const& value) const {
        return detail::make_delta<effect_kind::subtract, Member>(value);
    }
};

namespace detail {

template <auto Member>
constexpr auto checked_field() {
    constexpr bool fits = std::is_member_object_pointer_v<decltype(Member)>;
    static_assert(fits, "settle: settle::field takes a pointer to a data member. Write "
                        "settle::field<&record::member>. See definition#expressions");
    if constexpr (!fits) {
        return refused_expression{};
    } else if constexpr (fault_of_value<value_of<Member>>() == type_fault::none) {
        return field_expression<Member>{};
    } else {
        // The collection reports the fault of a member that its record lists.
        if constexpr (!path_is_listed<class_of<Member>, Member>()) {
            explain_type_fault<fault_of_value<value_of<Member>>(), Member>();
        }
        return refused_expression{};
    }
}

} // namespace detail

template <auto Member>
inline constexpr auto field = detail::checked_field<Member>();

/// Permits a negative operand in this `+=` or `-=`.
template <effect_kind Kind, auto Member, typename Operand, bool Signed, bool MayPassZero>
constexpr auto signed_operand(effect<Kind, Member, Operand, Signed, MayPassZero> const& given) {
    return effect<Kind, Member, Operand, true, MayPassZero>{given.operand};
}
template <typename Other>
constexpr Other signed_operand(Other const& other) {
    static_assert(detail::is_effect<Other>, "settle: settle::signed_operand takes an effect: field "
                                            "+= x or field -= x. See definition#amounts");
    return other;
}

/// Permits this effect to leave the field below zero.
template <effect_kind Kind, auto Member, typename Operand, bool Signed, bool MayPassZero>
constexpr auto may_pass_zero(effect<Kind, Member, Operand, Signed, MayPassZero> const& given) {
    return effect<Kind, Member, Operand, Signed, true>{given.operand};
}
template <typename Other>
constexpr Other may_pass_zero(Other const& other) {
    static_assert(detail::is_effect<Other>, "settle: settle::may_pass_zero takes an effect: field "
                                            "+= x or field -= x. See definition#amounts");
    return other;
}

/// Creates the record under the participant's key and assigns every other field.
template <typename... Assignments>
constexpr create_effect<Assignments...> create(Assignments const&... assignments) {
    return {boost::hana::tuple<Assignments...>{assignments...}};
}

/// Creates the record from a value in the parameters, under the participant's key.
template <auto... Path>
constexpr create_by_value<Path...> create(param_expression<Path...>) {
    return {};
}

/// Assigns every field but the key.
template <typename... Assignments>
constexpr replace_effect<Assignments...> replace(Assignments const&... assignments) {
    return {boost::hana::tuple<Assignments...>{assignments...}};
}

/// Assigns every field but the key from a value in the parameters.
template <auto... Path>
constexpr replace_by_value<Path...> replace(param_expression<Path...>) {
    return {};
}

SETTLE_END
