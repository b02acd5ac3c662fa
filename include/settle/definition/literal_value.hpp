// SPDX-License-Identifier: BSL-1.0
// The value of a literal as a template argument.
#pragma once

#include <settle/definition/fixed_string.hpp>

#include <cstddef>
#include <string>

SETTLE_BEGIN
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

/// No template takes a std::string as an argument. The literal is refused, and stands for a text.
template <>
struct literal_value<std::string> {
    fixed_string<1> value{""};
    constexpr literal_value(std::string const&) {}
};

template <typename T>
inline constexpr bool is_fixed_string = false;
template <std::size_t Size>
inline constexpr bool is_fixed_string<fixed_string<Size>> = true;

} // namespace detail
SETTLE_END
