// SPDX-License-Identifier: BSL-1.0
// The typed visitor that writes parameters, records and marks as JSON text, and reads them back.
#pragma once

#include <settle/base/error.hpp>
#include <settle/base/json_reader.hpp>
#include <settle/base/json_writer.hpp>
#include <settle/base/utf8.hpp>
#include <settle/definition/nested_type.hpp>
#include <settle/version.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// How strictly the text must match the struct.
enum class json_form : std::uint8_t {
    exact, ///< every member once and no other, as encode_json writes it
    /// As a native row has it: columns that the struct does not name are ignored, an optional
    /// member may be absent, a bool may be 0 or 1, since some stores have no booleans, and a struct
    /// or list may be a text that contains its JSON.
    row,
    /// As a program in another language writes it: like a row, and a whole number may have a
    /// fraction of zeros or an exponent, or be a text of digits.
    foreign
};

/// The form of members for which `settle::secret` is true.
enum class secrets : std::uint8_t {
    written,
    hidden ///< `***` stands for them: for observers and logs
};

namespace detail {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// Functions on a value whose type is erased. With them a struct costs the compiler one table of
/// its members, and no code for each member.
struct value_codec {
    void (*write)(std::string& out, void const* value, secrets shown);
    /// False when the reader failed; the value is then unspecified.
    bool (*read)(json_reader& reader, void* value, json_form form);
    void (*clear)(void* value); ///< null if the value cannot be empty
    bool (*same)(void const* left, void const* right);
    /// The fault of a text that is not valid, or an empty text; null if the value holds no text.
    /// Shape:   path - gets the place of that text, built on the way back
    std::string_view (*bad_text)(void const* value, std::string& path);
};

template <typename T>
struct value_functions;

/// True if values of a type can contain a text.
template <typename T>
constexpr bool may_hold_text() {
    if constexpr (is_optional<T>) return may_hold_text<typename T::value_type>();
    else return std::is_same_v<T, std::string> || NestedType<T>;
}

template <typename T>
constexpr value_codec make_codec() {
    using functions = value_functions<T>;
    value_codec codec{functions::write, functions::read, nullptr, functions::same, nullptr};
    if constexpr (is_optional<T>) codec.clear = functions::clear;
    if constexpr (may_hold_text<T>()) codec.bad_text = functions::bad_text;
    return codec;
}
template <typename T>
inline constexpr value_codec codec_of = make_codec<T>();

/// One member of a described struct.
struct member_codec {
    std::string_view name{};
    value_codec const* codec = nullptr;
    bool is_secret = false;
};

template <Described T>
struct members_of {
    static constexpr std::size_t count = member_count<T>;

    /// Pointers to the members of a value, in the order of the description.
    template <typename Pointer, typename Value>
    static std::array<Pointer, count + 1> pointers(Value& value) {
        if constexpr (detail::PlainAggregate<T>) {
            return detail::aggregate_members<T>::template pointers<Pointer>(value);
        } else {
            return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
                return std::array<Pointer, count + 1>{
                    std::addressof(value.*member<T, Index>::pointer)..., nullptr};
            }(std::make_index_sequence<count>{});
        }
    }

    static constexpr auto all = table_of_members<T, member_codec>([](auto m) {
        return member_codec{m.name, &codec_of<typename decltype(m)::type>,
                            detail::is_secret<m.pointer>()};
    });
};

/// Shape:   members - the last one has no codec; pointers - to their values
void write_members(std::string& out, member_codec const* members, void const* const* pointers,
                   secrets shown);

bool same_members(member_codec const* members, void const* const* left, void const* const* right);

std::string_view find_bad_member(member_codec const* members, void const* const* pointers,
                                 std::string& path);

/// Puts the index of an element before the path of something inside of it.
void index_before(std::string& path, std::size_t index);

/// Shape:   seen - false for each member
bool read_members(json_reader& reader, member_codec const* members, void* const* pointers,
                  bool* seen, json_form form);

/// The error of a text that must hold exactly one value.
[[nodiscard]] error read_whole(value_codec const& codec, std::string_view text, json_form form,
                               void* value);

/// A struct or a list that a native row holds as the text of its JSON.
bool read_nested_text(json_reader& reader, value_codec const& codec, void* value);

template <typename T>
bool read_list(json_reader& reader, T& value, json_form form) {
    value.clear();
    if (!reader.begin_array()) return false;
    while (reader.next_element()) {
        typename T::value_type element{};
        if (!codec_of<typename T::value_type>.read(reader, &element, form)) return false;
        value.push_back(std::move(element));
    }
    return !reader.failed();
}

template <typename T>
bool read_integer_as(json_reader& reader, T& value, json_form form) {
    std::int64_t stored = 0;
    bool const read =
        form == json_form::foreign ? reader.read_whole(stored) : reader.read_integer(stored);
    if (!read) return false;
    return from_integer(stored, value) || reader.fail("the number is none of the type's values");
}

template <typename T>
struct value_functions {
    static void write(std::string& out, void const* object, [[maybe_unused]] secrets shown) {
        auto const& value = *static_cast<T const*>(object);
        if constexpr (Described<T>) {
            auto const pointers = members_of<T>::template pointers<void const*>(value);
            write_members(out, members_of<T>::all.data(), pointers.data(), shown);
        } else if constexpr (is_list<T>) {
            out += '[';
            auto separate = false;
            for (typename T::value_type const& element : value) {
                if (std::exchange(separate, true)) out += ',';
                codec_of<typename T::value_type>.write(out, &element, shown);
            }
            out += ']';
        } else if constexpr (is_optional<T>) {
            static_assert(!is_optional<typename T::value_type>,
                          "settle: an optional of an optional has two ways to be empty, and JSON "
                          "one. Use one std::optional. See definition#field-types");
            if (value) codec_of<typename T::value_type>.write(out, &*value, shown);
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

    static bool read(json_reader& reader, void* object, [[maybe_unused]] json_form form) {
        auto& value = *static_cast<T*>(object);
        if constexpr (NestedType<T>) {
            if (form != json_form::exact && reader.peek() == json_kind::text) {
                return read_nested_text(reader, codec_of<T>, object);
            }
        }
        if constexpr (Described<T>) {
            std::array<bool, members_of<T>::count + 1> seen{};
            auto const pointers = members_of<T>::template pointers<void*>(value);
            return read_members(reader, members_of<T>::all.data(), pointers.data(), seen.data(),
                                form);
        } else if constexpr (is_list<T>) {
            return read_list(reader, value, form);
        } else if constexpr (is_optional<T>) {
            value.reset();
            if (reader.peek() == json_kind::null) return reader.read_null();
            return codec_of<typename T::value_type>.read(reader, &value.emplace(), form);
        } else if constexpr (std::is_same_v<T, std::string>) {
            return reader.read_text(value);
        } else if constexpr (std::is_same_v<T, bool>) {
            auto const number = form != json_form::exact && reader.peek() == json_kind::whole;
            return number ? read_integer_as(reader, value, form) : reader.read_bool(value);
        } else {
            check_field_type<T>();
            if constexpr (FieldType<T>) return read_integer_as(reader, value, form);
            else return false;
        }
    }

    static void clear(void* value) { static_cast<T*>(value)->reset(); }

    static bool same(void const* left, void const* right) {
        auto const& value = *static_cast<T const*>(left);
        auto const& other = *static_cast<T const*>(right);
        if constexpr (Described<T>) {
            auto const pointers = members_of<T>::template pointers<void const*>(value);
            auto const others = members_of<T>::template pointers<void const*>(other);
            return same_members(members_of<T>::all.data(), pointers.data(), others.data());
        } else if constexpr (is_list<T>) {
            using element = typename T::value_type;
            return std::equal(
                value.begin(), value.end(), other.begin(), other.end(),
                [](element const& a, element const& b) { return codec_of<element>.same(&a, &b); });
        } else if constexpr (is_optional<T>) {
            if (!value || !other) return value.has_value() == other.has_value();
            return codec_of<typename T::value_type>.same(&*value, &*other);
        } else if constexpr (FieldType<T>) {
            return value == other;
        } else {
            return check_field_type<T>(), false;
        }
    }

    static std::string_view bad_text(void const* object, std::string& path) {
        auto const& value = *static_cast<T const*>(object);
        if constexpr (Described<T>) {
            auto const pointers = members_of<T>::template pointers<void const*>(value);
            return find_bad_member(members_of<T>::all.data(), pointers.data(), path);
        } else if constexpr (is_list<T>) {
            using element_type = typename T::value_type;
            if constexpr (may_hold_text<element_type>()) {
                std::size_t index = 0;
                for (element_type const& element : value) {
                    auto const found = codec_of<element_type>.bad_text(&element, path);
                    if (!found.empty()) return index_before(path, index), found;
                    ++index;
                }
            }
            return {};
        } else if constexpr (is_optional<T>) {
            return value ? codec_of<typename T::value_type>.bad_text(&*value, path)
                         : std::string_view{};
        } else {
            return fault_of_text(value);
        }
    }
};

/// Finds a text that is not valid, and its path.
[[nodiscard]] inline std::string_view find_bad_text(value_codec const& codec, void const* value,
                                                    std::string& path) {
    return codec.bad_text == nullptr ? std::string_view{} : codec.bad_text(value, path);
}

/// True if the value holds such a text.
template <typename T>
[[nodiscard]] bool has_bad_text(T const& value) {
    if constexpr (!may_hold_text<T>()) return false;
    std::string path;
    return !find_bad_text(codec_of<T>, &value, path).empty();
}

/// Checks that every text in the value can be stored.
[[nodiscard]] result<void> check_each_text(value_codec const& codec, void const* value);

/// Room for most values of a type, so that their JSON is not moved as it grows.
template <typename T>
[[nodiscard]] constexpr std::size_t usual_json_size() {
    constexpr std::size_t of_a_value = 16;
    std::size_t size = of_a_value;
    if constexpr (Described<T>) {
        for (auto const& one : members_of<T>::all) size += one.name.size() + of_a_value;
    }
    return size;
}

} // namespace detail

/// Checks that every text in the value can be stored.
/// Errors: errc::bad_text with the path of the first that is not UTF-8 or holds a NUL
template <typename T>
[[nodiscard]] result<void> check_texts(T const& value) {
    return detail::check_each_text(detail::codec_of<T>, &value);
}

/// Shape:   value - passes check_texts, and is nested no deeper than json_reader::max_depth; any
///          other value cannot be read back
template <typename T>
void append_json(std::string& out, T const& value, secrets shown = secrets::written) {
    detail::codec_of<T>.write(out, &value, shown);
}

template <typename T>
[[nodiscard]] std::string encode_json(T const& value, secrets shown = secrets::written) {
    std::string out;
    out.reserve(detail::usual_json_size<T>());
    append_json(out, value, shown);
    return out;
}

/// Reads the next value of the reader. False when the reader failed; `value` is then
/// unspecified.
template <typename T>
bool read_json(json_reader& reader, T& value, json_form form = json_form::exact) {
    return detail::codec_of<T>.read(reader, &value, form);
}

/// The value of a text that contains nothing else.
/// Errors: errc::damaged with the path and the byte, for any bytes
/// Cost:   as json_reader
template <typename T>
[[nodiscard]] result<T> decode_json(std::string_view text, json_form form = json_form::exact) {
    T value{};
    auto problem = detail::read_whole(detail::codec_of<T>, text, form, &value);
    if (!problem.empty()) return problem;
    return value;
}

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/definition/codec.ipp>
#endif
