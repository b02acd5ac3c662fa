// SPDX-License-Identifier: BSL-1.0
// The typed visitor that writes parameters, records and marks as JSON text, and reads them back.
#pragma once

#include <settle/definition/nested_type.hpp>
#include <settle/store/error.hpp>
#include <settle/store/json_reader.hpp>
#include <settle/store/json_writer.hpp>
#include <settle/store/utf8.hpp>
#include <settle/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

SETTLE_BEGIN

// A described struct is an object of its members in the order of the description; std::vector an
// array; std::optional null or its value; bool true or false; an integer, an enum and a time point
// (the count of its own unit) an integer; std::string a text.

/// How closely the text must follow the struct.
enum class json_form : std::uint8_t {
    exact, ///< every member once and no other, as encode_json writes it
    /// As a native row has it: columns that the struct does not name are passed over, an optional
    /// one may be absent, a bool may be 0 or 1, since not every store knows booleans, and a struct
    /// or list may be a text that holds its JSON.
    row
};

/// What becomes of members for which `settle::secret` is true.
enum class secrets : std::uint8_t {
    written,
    hidden ///< `***` stands for them: for observers and logs
};

namespace detail {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <typename T>
void write_json(std::string& out, T const& value, secrets shown);

template <Described T, typename Member>
void write_member(std::string& out, T const& value, secrets shown, Member) {
    if (Member::index > 0) out += ',';
    append_json_text(out, Member::name);
    out += ':';
    // Not even whether it is empty is shown.
    if (secret<Member::pointer> && shown == secrets::hidden) out += "\"***\"";
    else write_json(out, value.*Member::pointer, shown);
}

template <typename T>
void write_json(std::string& out, T const& value, secrets shown) {
    if constexpr (Described<T>) {
        out += '{';
        for_each_member<T>([&](auto member) { write_member(out, value, shown, member); });
        out += '}';
    } else if constexpr (is_list<T>) {
        out += '[';
        auto separate = false;
        for (typename T::value_type const& element : value) {
            if (std::exchange(separate, true)) out += ',';
            write_json(out, element, shown);
        }
        out += ']';
    } else if constexpr (is_optional<T>) {
        static_assert(!is_optional<typename T::value_type>,
                      "settle: an optional of an optional has two ways to be empty, and JSON one. "
                      "Use one std::optional. README#field-types");
        if (value) write_json(out, *value, shown);
        else out += "null";
    } else if constexpr (std::is_same_v<T, std::string>) {
        append_json_text(out, value);
    } else if constexpr (std::is_same_v<T, bool>) {
        out += value ? "true" : "false";
    } else {
        check_field_type<T>();
        if constexpr (FieldType<T>) append_json_integer(out, to_integer(value));
    }
}

/// Looks for a text that is none; its path is built on the way back, only when there is one.
template <typename T>
[[nodiscard]] bool find_bad_text(T const& value, std::string& path) {
    auto found = false;
    if constexpr (Described<T>) {
        for_each_member<T>([&](auto member) {
            if (found || !find_bad_text(value.*decltype(member)::pointer, path)) return;
            found = true;
            auto const separator = path.empty() || path.front() == '[' ? "" : ".";
            path = std::string{member.name} + separator + path;
        });
    } else if constexpr (is_list<T>) {
        std::int64_t index = 0;
        for (typename T::value_type const& element : value) {
            found = find_bad_text(element, path);
            if (found) break;
            ++index;
        }
        if (!found) return false;
        auto const separator = path.empty() || path.front() == '[' ? "" : ".";
        std::string place{"["};
        append_json_integer(place, index);
        path = place + "]" + separator + path;
    } else if constexpr (is_optional<T>) {
        found = value.has_value() && find_bad_text(*value, path);
    } else if constexpr (std::is_same_v<T, std::string>) {
        found = !is_utf8(value);
    }
    return found;
}

} // namespace detail

/// Whether every text in the value may be stored.
/// Errors: errc::bad_text with the path of the first that is not UTF-8 or holds a NUL
template <typename T>
[[nodiscard]] result<void> check_texts(T const& value) {
    std::string path;
    if (!detail::find_bad_text(value, path)) return {};
    if (!path.empty()) path += ": ";
    return {errc::bad_text, path + "the text is not UTF-8, or holds a NUL"};
}

/// Shape:   value - passes check_texts, and is nested no deeper than json_reader::max_depth; what
///          does not cannot be read back
template <typename T>
void append_json(std::string& out, T const& value, secrets shown = secrets::written) {
    detail::write_json(out, value, shown);
}

template <typename T>
[[nodiscard]] std::string encode_json(T const& value, secrets shown = secrets::written) {
    std::string out;
    append_json(out, value, shown);
    return out;
}

/// Reads the value at which the reader stands. False when the reader failed; `value` is then
/// unspecified.
template <typename T>
bool read_json(json_reader& reader, T& value, json_form form = json_form::exact);

namespace detail {

template <typename T, std::size_t... Index>
bool read_member(json_reader& reader, [[maybe_unused]] T& value,
                 [[maybe_unused]] std::string_view name, json_form form,
                 [[maybe_unused]] bool* seen, std::index_sequence<Index...>) {
    auto good = true;
    auto const read = [&](auto member) {
        seen[member.index] = true;
        good = read_json(reader, value.*decltype(member)::pointer, form);
        return true;
    };
    auto const known =
        ((name == member<T, Index>::name && read(member<T, Index>{})) || ...);
    static_cast<void>(read);
    if (known) return good;
    return form == json_form::row ? reader.skip_value()
                                  : reader.fail("the struct has no such member");
}

template <Described T>
bool read_struct(json_reader& reader, T& value, json_form form) {
    if (!reader.begin_object()) return false;
    auto const begun = reader.offset();
    std::array<bool, member_count<T> + 1> seen{};
    for (std::string_view name; reader.next_member(name);) {
        if (!read_member(reader, value, name, form, seen.data(),
                         std::make_index_sequence<member_count<T>>{})) {
            return false;
        }
    }
    for_each_member<T>([&](auto member) {
        if (seen[member.index]) return;
        using type = typename decltype(member)::type;
        if constexpr (is_optional<type>) {
            value.*decltype(member)::pointer = type{};
            if (form == json_form::row) return;
        }
        reader.fail("the member " + std::string{member.name} + " is missing", begun);
    });
    return !reader.failed();
}

template <typename T>
bool read_vector(json_reader& reader, T& value, json_form form) {
    value.clear();
    if (!reader.begin_array()) return false;
    while (reader.next_element()) {
        typename T::value_type element{};
        if (!read_json(reader, element, form)) return false;
        value.push_back(std::move(element));
    }
    return !reader.failed();
}

template <typename T>
bool read_integer_as(json_reader& reader, T& value) {
    std::int64_t stored = 0;
    if (!reader.read_integer(stored)) return false;
    return from_integer(stored, value) || reader.fail("the number is none of the type's values");
}

template <NestedType T>
bool read_nested_text(json_reader& reader, T& value) {
    std::string text;
    if (!reader.read_text(text)) return false;
    json_reader inside{text};
    if (read_json(inside, value) && inside.finish()) return true;
    return reader.fail("the text is no JSON of the type");
}

} // namespace detail

template <typename T>
bool read_json(json_reader& reader, T& value, json_form form) {
    if constexpr (NestedType<T>) {
        if (form == json_form::row && reader.peek() == json_kind::text) {
            return detail::read_nested_text(reader, value);
        }
    }
    if constexpr (Described<T>) {
        return detail::read_struct(reader, value, form);
    } else if constexpr (detail::is_list<T>) {
        return detail::read_vector(reader, value, form);
    } else if constexpr (detail::is_optional<T>) {
        value.reset();
        if (reader.peek() == json_kind::null) return reader.read_null();
        return read_json(reader, value.emplace(), form);
    } else if constexpr (std::is_same_v<T, std::string>) {
        return reader.read_text(value);
    } else if constexpr (std::is_same_v<T, bool>) {
        auto const number = form == json_form::row && reader.peek() == json_kind::whole;
        return number ? detail::read_integer_as(reader, value) : reader.read_bool(value);
    } else {
        check_field_type<T>();
        if constexpr (FieldType<T>) return detail::read_integer_as(reader, value);
        else return false;
    }
}

/// The value that a text says, and nothing before or after it.
/// Errors: errc::damaged with the path and the byte, whatever the bytes are
/// Cost:   as json_reader
template <typename T>
[[nodiscard]] result<T> decode_json(std::string_view text, json_form form = json_form::exact) {
    json_reader reader{text};
    T value{};
    if (!read_json(reader, value, form) || !reader.finish()) return reader.problem();
    return value;
}

SETTLE_END
