// SPDX-License-Identifier: BSL-1.0
// The members of a described struct and the elements of a tuple. Only this header uses how
// Boost.Hana represents them.
#pragma once

#include <settle/definition/structure.hpp>

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

/// A struct whose members are listed with SETTLE_STRUCT, or with the macros of Boost.Hana.
template <typename T>
concept Described = std::is_class_v<T> && boost::hana::Struct<T>::value;

namespace detail {

template <typename Accessor>
struct accessor_pointer;

template <typename Pointer, Pointer Value>
struct accessor_pointer<boost::hana::struct_detail::member_ptr<Pointer, Value>> {
    static constexpr Pointer value = Value;
};

template <typename Pointer>
struct member_pointer_parts;

template <typename Class, typename Value>
struct member_pointer_parts<Value Class::*> {
    using class_type = Class;
    using value_type = Value;
};

} // namespace detail

template <auto Member>
using class_of =
    typename detail::member_pointer_parts<std::remove_cv_t<decltype(Member)>>::class_type;

template <auto Member>
using value_of =
    typename detail::member_pointer_parts<std::remove_cv_t<decltype(Member)>>::value_type;

template <Described T>
inline constexpr std::size_t member_count =
    decltype(boost::hana::length(boost::hana::accessors<T>()))::value;

/// The member at one position of a described struct: its type, its pointer and its name.
template <Described T, std::size_t Index>
struct member {
private:
    using pair =
        std::remove_cvref_t<decltype(boost::hana::at_c<Index>(boost::hana::accessors<T>()))>;
    using name_type = std::remove_cvref_t<decltype(boost::hana::first(std::declval<pair>()))>;
    using accessor = std::remove_cvref_t<decltype(boost::hana::second(std::declval<pair>()))>;

public:
    static constexpr std::size_t index = Index;
    static constexpr auto pointer = detail::accessor_pointer<accessor>::value;
    static constexpr std::string_view name{name_type::c_str()};
    using type = value_of<pointer>;
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
    using found = member<T, Index>;
    if constexpr (!std::is_same_v<value_of<Member>, typename found::type>) {
        return false;
    } else {
        // `&derived::inherited` points into the base: both pointers are converted to members of T.
        constexpr value_of<Member> T::* left = Member;
        constexpr typename found::type T::* right = found::pointer;
        return left == right;
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

SETTLE_END
