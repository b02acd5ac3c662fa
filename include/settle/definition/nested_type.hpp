// SPDX-License-Identifier: BSL-1.0
// Structs and lists inside parameters and records. A store keeps and changes each as a whole.
#pragma once

#include <settle/definition/field_type.hpp>
#include <settle/definition/reflection.hpp>

#include <algorithm>
#include <vector>

SETTLE_BEGIN
namespace detail {

template <typename T>
struct vector_element {
    using type = void;
};
template <typename T>
struct vector_element<std::vector<T>> {
    using type = T;
};

template <typename T>
inline constexpr bool is_list = !std::is_void_v<typename vector_element<T>::type>;

} // namespace detail

/// A described struct or a std::vector.
template <typename T>
concept NestedType = Described<T> || detail::is_list<T>;

namespace detail {

/// Why a store cannot keep a value or a member inside it.
template <typename T, typename... Around>
constexpr type_fault fault_of_value() {
    if constexpr ((std::is_same_v<T, Around> || ...)) {
        return type_fault::endless;
    } else if constexpr (std::is_const_v<T> || std::is_volatile_v<T>) {
        return fault_of_field<T>();
    } else if constexpr (Described<T>) {
        type_fault fault = refused_description<T> ? type_fault::reported : type_fault::none;
        for_each_member<T>([&](auto m) {
            using type = typename decltype(m)::type;
            if (fault == type_fault::none) fault = fault_of_value<type, T, Around...>();
        });
        if (fault != type_fault::none) return fault;
        // A decoder fills a default-constructed struct; an image is a copy.
        if (!std::is_default_constructible_v<T>) return type_fault::no_default;
        return std::is_copy_constructible_v<T> ? type_fault::none : type_fault::no_copy;
    } else if constexpr (is_list<T>) {
        return fault_of_value<typename vector_element<T>::type, Around...>();
    } else if constexpr (fault_of_field<T>() != type_fault::unsupported) {
        return fault_of_field<T>();
    } else if constexpr (NestedType<typename field_traits<T>::plain_type>) {
        return type_fault::optional_struct;
    } else if constexpr (std::is_class_v<typename field_traits<T>::plain_type>) {
        return type_fault::undescribed;
    } else {
        return type_fault::unsupported;
    }
}

/// True when two values are equal, member by member and element by element.
template <typename T>
[[nodiscard]] bool same_value(T const& left, T const& right) {
    if constexpr (Described<T>) {
        bool same = true;
        for_each_member<T>([&](auto m) { same = same && same_value(m.in(left), m.in(right)); });
        return same;
    } else if constexpr (is_list<T>) {
        using element = typename vector_element<T>::type;
        return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                          [](element const& a, element const& b) { return same_value(a, b); });
    } else {
        return left == right;
    }
}

} // namespace detail
SETTLE_END
