// SPDX-License-Identifier: BSL-1.0
// The members of a described struct and the elements of a tuple. Only this header uses how
// Boost.Hana represents them.
#pragma once

#include <settle/definition/aggregate.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/tuple.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

SETTLE_BEGIN

/// A struct whose members are known: a plain aggregate, or a struct whose members are listed with
/// SETTLE_STRUCT or with the macros of Boost.Hana.
template <typename T>
concept Described =
    (std::is_class_v<T> && boost::hana::Struct<T>::value) || detail::PlainAggregate<T>;

namespace detail {

template <typename Accessor>
struct accessor_pointer;

template <typename Pointer, Pointer Value>
struct accessor_pointer<boost::hana::struct_detail::member_ptr<Pointer, Value>> {
    static constexpr Pointer value = Value;
};

template <typename T, std::size_t Index>
struct accessor_pointer<aggregate_member<T, Index>> {
    static constexpr aggregate_member<T, Index> value{};
};

/// Of a member that was read, its own types.
template <typename Pointer>
struct member_pointer_parts : Pointer {};

template <typename Class, typename Value>
struct member_pointer_parts<Value Class::*> {
    using class_type = Class;
    using value_type = Value;
};

template <typename T>
constexpr auto members_of_struct() {
    if constexpr (PlainAggregate<T>) return accessors_of(list_members<T>());
    else return boost::hana::accessors<T>();
}

} // namespace detail

template <auto Member>
using class_of =
    typename detail::member_pointer_parts<std::remove_cv_t<decltype(Member)>>::class_type;

template <auto Member>
using value_of =
    typename detail::member_pointer_parts<std::remove_cv_t<decltype(Member)>>::value_type;

template <Described T>
inline constexpr std::size_t member_count =
    decltype(boost::hana::length(detail::members_of_struct<T>()))::value;

namespace detail {

/// Shape:   Member - a pointer to a member, or the read member that stands for one
template <auto Member, typename Value>
constexpr auto& member_in(Value& value) {
    if constexpr (std::is_member_object_pointer_v<decltype(Member)>) return value.*Member;
    else return Member.in(value);
}

} // namespace detail

/// The member at one position of a described struct: its type, its pointer and its name.
template <Described T, std::size_t Index>
struct member {
private:
    using pair =
        std::remove_cvref_t<decltype(boost::hana::at_c<Index>(detail::members_of_struct<T>()))>;
    using name_type = std::remove_cvref_t<decltype(boost::hana::first(std::declval<pair>()))>;
    using accessor = std::remove_cvref_t<decltype(boost::hana::second(std::declval<pair>()))>;

public:
    static constexpr std::size_t index = Index;
    static constexpr auto pointer = detail::accessor_pointer<accessor>::value;
    static constexpr std::string_view name{name_type::c_str()};
    using type = value_of<pointer>;

    /// The member in a value of the struct.
    template <typename Value>
    static constexpr auto& in(Value& value) {
        if constexpr (std::is_member_object_pointer_v<decltype(pointer)>) return value.*pointer;
        else return pointer.in(value);
    }
};

/// Calls `function(member<T, I>{})` for every member, in the order of the description.
template <Described T, typename Function>
constexpr void for_each_member(Function&& function) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        (function(member<T, Index>{}), ...);
    }(std::make_index_sequence<member_count<T>>{});
}

/// An array of `make(member<T, I>{})` for every member, then an empty row, so that code which reads
/// the array does not depend on the struct.
template <Described T, typename Row, typename Make>
consteval auto table_of_members(Make make) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        return std::array<Row, sizeof...(Index) + 1>{make(member<T, Index>{})..., Row{}};
    }(std::make_index_sequence<member_count<T>>{});
}

/// Calls `function(element)` for every element of a tuple, in order.
template <typename... Elements, typename Function>
[[gnu::always_inline]] constexpr void for_each_element(boost::hana::tuple<Elements...> const& tuple,
                                                       Function&& function) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) __attribute__((always_inline)) {
        (function(boost::hana::at_c<Index>(tuple)), ...);
    }(std::index_sequence_for<Elements...>{});
}

namespace detail {

template <auto Member, typename T, std::size_t Index>
constexpr bool is_member_at() {
    using member_type = member<T, Index>;
    if constexpr (!std::is_same_v<value_of<Member>, typename member_type::type>) {
        return false;
    } else if constexpr (std::is_member_object_pointer_v<decltype(member_type::pointer)>) {
        // `&derived::inherited` points into the base: both pointers are converted to members of T.
        constexpr value_of<Member> T::* left = Member;
        constexpr typename member_type::type T::* right = member_type::pointer;
        return left == right;
    } else if constexpr (std::is_member_object_pointer_v<decltype(Member)>) {
        return member_type::pointer.template is<Member>;
    } else {
        return std::is_same_v<std::remove_cv_t<decltype(Member)>,
                              std::remove_cv_t<decltype(member_type::pointer)>>;
    }
}

template <auto Member, typename T, std::size_t... Index>
constexpr std::size_t index_of_member(std::index_sequence<Index...>) {
    std::size_t position = sizeof...(Index);
    ((is_member_at<Member, T, Index>() ? void(position = Index) : void()), ...);
    return position;
}

} // namespace detail

/// The position of a member in the description of T, or `member_count<T>` when it is not listed.
template <Described T, auto Member>
inline constexpr std::size_t member_index =
    detail::index_of_member<Member, T>(std::make_index_sequence<member_count<T>>{});

namespace detail {

/// True for a member of a listed struct. The library reads the members of a plain aggregate without
/// their pointers, and would not see a specialisation for one of them.
template <auto Member>
inline constexpr bool can_be_marked = !PlainAggregate<class_of<Member>>;

template <auto Member>
consteval bool check_marked() {
    if constexpr (std::is_member_object_pointer_v<decltype(Member)>) {
        static_assert(can_be_marked<Member>,
                      "settle: a struct with a settle::secret or settle::decimal_places needs its "
                      "members listed before it. Add SETTLE_STRUCT(type, members...) after the "
                      "struct. See definition#records");
    }
    return true;
}

} // namespace detail

/// Specialise this to true for a member whose value observers and logs must never see. The struct
/// is listed with SETTLE_STRUCT.
template <auto Member>
    requires(detail::check_marked<Member>())
inline constexpr bool secret = false;

namespace detail {

template <auto Member>
consteval bool is_secret() {
    if constexpr (can_be_marked<Member>) return secret<Member>;
    else return false;
}

} // namespace detail
SETTLE_END
