// SPDX-License-Identifier: BSL-1.0
// Structs and lists inside of parameters and of records: each is kept, compared and changed as a
// whole.
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

/// Why a value cannot be kept, itself or something inside of it.
template <typename T, typename... Around>
constexpr type_fault fault_of_value() {
    if constexpr ((std::is_same_v<T, Around> || ...)) {
        return type_fault::endless;
    } else if constexpr (Described<T>) {
        type_fault found = type_fault::none;
        for_each_member<T>([&](auto one) {
            using type = typename decltype(one)::type;
            if (found == type_fault::none) found = fault_of_value<type, T, Around...>();
        });
        return found;
    } else if constexpr (is_list<T>) {
        return fault_of_value<typename vector_element<T>::type, Around...>();
    } else if constexpr (std::is_class_v<T> && fault_of_field<T>() == type_fault::unsupported) {
        return type_fault::undescribed;
    } else {
        return fault_of_field<T>();
    }
}

/// Whether two values are the same, member by member and element by element.
template <typename T>
[[nodiscard]] bool same_value(T const& left, T const& right) {
    if constexpr (Described<T>) {
        bool same = true;
        for_each_member<T>([&](auto m) {
            same = same && same_value(left.*m.pointer, right.*m.pointer);
        });
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
