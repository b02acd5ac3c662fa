// SPDX-License-Identifier: BSL-1.0
// The C++ types that a field may have; every store keeps their values exactly.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/version.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

SETTLE_BEGIN

enum class field_kind : std::uint8_t { none, boolean, integer, text, enumeration, time };

namespace detail {

template <typename T>
inline constexpr bool is_character =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> ||
    std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;

/// Refused: a store that has signed integers only would make 2^63 and above negative or inexact.
template <typename T>
inline constexpr bool is_unsigned_64 =
    std::is_integral_v<T> && std::is_unsigned_v<T> && sizeof(T) == 8;

template <typename T>
inline constexpr bool is_kept_integer = std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                        !is_character<T> && !is_unsigned_64<T> && sizeof(T) <= 8;

template <typename T>
struct time_parts {
    static constexpr bool value = false;
};

template <typename Duration>
struct time_parts<std::chrono::time_point<std::chrono::system_clock, Duration>> {
    static constexpr bool value = is_kept_integer<typename Duration::rep>;
    using duration = Duration;
};

template <typename T>
constexpr field_kind kind_of() {
    if constexpr (!std::is_same_v<T, std::remove_cv_t<T>>) {
        return field_kind::none;
    } else if constexpr (std::is_same_v<T, bool>) {
        return field_kind::boolean;
    } else if constexpr (is_kept_integer<T>) {
        return field_kind::integer;
    } else if constexpr (std::is_enum_v<T>) {
        return is_kept_integer<std::underlying_type_t<T>> ? field_kind::enumeration
                                                          : field_kind::none;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return field_kind::text;
    } else if constexpr (time_parts<T>::value) {
        return field_kind::time;
    } else {
        return field_kind::none;
    }
}

} // namespace detail

/// The kind of a field's type, and whether the field may be empty.
template <typename T>
struct field_traits {
    using plain_type = T;
    static constexpr bool optional = false;
    static constexpr field_kind kind = detail::kind_of<T>();
};

template <typename T>
struct field_traits<std::optional<T>> {
    using plain_type = T;
    static constexpr bool optional = true;
    static constexpr field_kind kind = detail::kind_of<T>();
};

/// A type that every store can keep exactly.
template <typename T>
concept FieldType = field_traits<T>::kind != field_kind::none;

/// An integer that can be added to: not optional.
template <typename T>
concept IntegerField = field_traits<T>::kind == field_kind::integer && !field_traits<T>::optional;

/// Why a store cannot keep a type. The fault is found first and reported afterwards, so that the
/// compiler's message about a nested member does not list every template on the path to it.
enum class type_fault {
    none,
    reported,
    constant,
    volatile_type,
    array,
    pointer,
    view,
    unsigned_64,
    floating_point,
    character,
    unsupported,
    undescribed,
    optional_struct,
    no_default,
    no_copy,
    endless
};

template <typename T>
constexpr type_fault fault_of_field() {
    using plain = typename field_traits<T>::plain_type;
    if constexpr (FieldType<T>) return type_fault::none;
    else if constexpr (std::is_const_v<T> || std::is_const_v<plain>) return type_fault::constant;
    else if constexpr (std::is_volatile_v<T> || std::is_volatile_v<plain>)
        return type_fault::volatile_type;
    else if constexpr (std::is_array_v<plain>) return type_fault::array;
    else if constexpr (std::is_pointer_v<plain>) return type_fault::pointer;
    else if constexpr (std::is_same_v<plain, std::string_view>) return type_fault::view;
    else if constexpr (detail::is_unsigned_64<plain>) return type_fault::unsigned_64;
    else if constexpr (std::is_floating_point_v<plain>) return type_fault::floating_point;
    else if constexpr (detail::is_character<plain>) return type_fault::character;
    else return type_fault::unsupported;
}

/// Reports the fault of a type, with the same sentence for fields, parameters and lines.
/// Shape:   Where - the member with the fault, which the compiler shows beside the sentence
template <type_fault Fault, auto... Where>
constexpr void explain_type_fault() {
    static_assert(Fault != type_fault::constant,
                  "settle: a const member cannot be read from a store. Remove the const. "
                  "See definition#field-types");
    static_assert(Fault != type_fault::volatile_type,
                  "settle: a volatile member cannot be kept in a store. Remove the volatile. "
                  "See definition#field-types");
    static_assert(Fault != type_fault::array,
                  "settle: an array cannot be a field. Use a std::string or a std::vector. "
                  "See definition#field-types");
    static_assert(Fault != type_fault::pointer,
                  "settle: a pointer cannot be a field, since a store keeps values. Use the value "
                  "itself, or a std::optional of it. See definition#field-types");
    static_assert(Fault != type_fault::view,
                  "settle: a std::string_view cannot be a field, since it does not own its text. "
                  "Use std::string. See definition#field-types");
    static_assert(Fault != type_fault::unsigned_64,
                  "settle: an unsigned 64-bit field cannot be kept exactly by every store. "
                  "Use std::int64_t. See definition#field-types");
    static_assert(Fault != type_fault::floating_point,
                  "settle: a floating-point field cannot be added to and taken back exactly. "
                  "Use std::int64_t of minor units. See definition#field-types");
    static_assert(Fault != type_fault::character,
                  "settle: a character type cannot be a field. Use std::string or an integer. "
                  "See definition#field-types");
    static_assert(Fault != type_fault::unsupported,
                  "settle: this type cannot be a field. Use a string, bool, signed integer, enum, "
                  "system_clock time point, std::optional of one, a described struct or a "
                  "std::vector. See definition#field-types");
    static_assert(
        Fault != type_fault::undescribed,
        "settle: a member is of a class that is no aggregate. Use another type, or list its "
        "members with SETTLE_STRUCT(type, members...) after it. "
        "See definition#field-types");
    static_assert(Fault != type_fault::optional_struct,
                  "settle: a std::optional holds one field, and no struct or list. Use a "
                  "std::vector, which may be empty. See definition#field-types");
    static_assert(Fault != type_fault::no_default,
                  "settle: a struct has no public default constructor, so it cannot be read from a "
                  "store. Add one, and give every member a value. See definition#records");
    static_assert(Fault != type_fault::no_copy,
                  "settle: a struct cannot be copied. Give it a copy constructor. "
                  "See definition#records");
    static_assert(Fault != type_fault::endless,
                  "settle: a struct holds itself. Give it a vector of another struct. "
                  "See definition#field-types");
}

template <typename T>
constexpr void check_field_type() {
    explain_type_fault<fault_of_field<T>()>();
}

/// Converts a field to the integer that a store keeps, also for booleans, enums and times.
template <typename T>
[[nodiscard]] constexpr std::int64_t to_integer(T const& value) {
    if constexpr (std::is_enum_v<T>) {
        return static_cast<std::int64_t>(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (detail::time_parts<T>::value) {
        return static_cast<std::int64_t>(value.time_since_epoch().count());
    } else {
        return static_cast<std::int64_t>(value);
    }
}

/// Returns false when the stored integer is not a value of T.
template <typename T>
[[nodiscard]] constexpr bool from_integer(std::int64_t stored, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        if (stored != 0 && stored != 1) return false;
        value = stored == 1;
    } else if constexpr (std::is_enum_v<T>) {
        std::underlying_type_t<T> number{};
        if (!from_integer(stored, number)) return false;
        value = static_cast<T>(number);
    } else if constexpr (detail::time_parts<T>::value) {
        using duration = typename detail::time_parts<T>::duration;
        typename duration::rep count{};
        if (!from_integer(stored, count)) return false;
        value = T{duration{count}};
    } else {
        if (stored < static_cast<std::int64_t>(std::numeric_limits<T>::min()) ||
            stored > static_cast<std::int64_t>(std::numeric_limits<T>::max())) {
            return false;
        }
        value = static_cast<T>(stored);
    }
    return true;
}

SETTLE_END
