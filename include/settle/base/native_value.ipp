// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that native_value.hpp declares.
#pragma once

#include <settle/base/native_value.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

SETTLE_BEGIN

namespace detail {

/// Bytes that JSON cannot express are an object of one member; no scalar looks like it.
SETTLE_FUNCTION void append_tagged_hex(std::string& out, std::string_view tag,
                                       unsigned char const* bytes, std::size_t size) {
    out.append("{\"").append(tag).append("\":\"");
    out.reserve(out.size() + 2 * size + 2);
    for (std::size_t at = 0; at < size; ++at) {
        out += hex_digit(static_cast<unsigned>(bytes[at]) >> 4U);
        out += hex_digit(bytes[at]);
    }
    out += "\"}";
}

SETTLE_FUNCTION void append_json_real(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += std::isnan(value) ? "{\"$real\":\"nan\"}"
               : value > 0       ? "{\"$real\":\"inf\"}"
                                 : "{\"$real\":\"-inf\"}";
        return;
    }
    // The shortest digits that read back as the same double: 17 at most.
    std::array<char, 32> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    std::string_view const number{digits.data(), static_cast<std::size_t>(end - digits.data())};
    out.append(number);
    if (number.find_first_of(".e") == std::string_view::npos) out += ".0";
}

[[nodiscard]] constexpr int hex_value(char digit) noexcept {
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/// Passes every byte to `take`; false if the digits are not pairs of hexadecimal digits.
template <typename Take>
bool read_hex(std::string_view digits, Take take) {
    if (digits.size() % 2 != 0) return false;
    for (std::size_t index = 0; index < digits.size(); index += 2) {
        auto const high = hex_value(digits[index]);
        auto const low = hex_value(digits[index + 1]);
        if (high < 0 || low < 0) return false;
        take(static_cast<unsigned char>(high * 16 + low));
    }
    return true;
}

SETTLE_FUNCTION bool read_tagged_content(json_reader& reader, char tag, native_value& value) {
    std::string content;
    if (!reader.read_text(content)) return false;
    auto good = true;
    if (tag == 'r') {
        auto const infinity = std::numeric_limits<double>::infinity();
        good = content == "inf" || content == "-inf" || content == "nan";
        value = content == "nan"   ? std::numeric_limits<double>::quiet_NaN()
                : content == "inf" ? infinity
                                   : -infinity;
    } else if (tag == 'b') {
        blob bytes;
        good = read_hex(content, [&](unsigned char byte) { bytes.push_back(std::byte{byte}); });
        value = std::move(bytes);
    } else {
        std::string bytes;
        good = read_hex(content, [&](unsigned char byte) { bytes += static_cast<char>(byte); });
        value = std::move(bytes);
    }
    if (good) return true;
    return reader.fail(tag == 'r' ? "expected inf, -inf or nan"
                                  : "expected pairs of hexadecimal digits");
}

SETTLE_FUNCTION bool read_tagged(json_reader& reader, native_value& value) {
    if (!reader.begin_object()) return false;
    auto const begun = reader.offset();
    std::string_view name;
    auto const has_member = reader.next_member(name);
    if (reader.failed()) return false;
    auto const tagged = has_member && (name == "$blob" || name == "$real" || name == "$text");
    if (!tagged) return reader.fail("expected a scalar, or $blob, $real or $text", begun);
    if (!read_tagged_content(reader, name[1], value)) return false;
    if (reader.next_member(name)) return reader.fail("expected the end of the object");
    return !reader.failed();
}

} // namespace detail

SETTLE_FUNCTION void append_native(std::string& out, native_value const& value) {
    auto const bytes = [](auto const& from) {
        return reinterpret_cast<unsigned char const*>(from.data());
    };
    if (auto const boolean = std::get_if<bool>(&value)) {
        out += *boolean ? "true" : "false";
    } else if (auto const whole = std::get_if<std::int64_t>(&value)) {
        append_json_integer(out, *whole);
    } else if (auto const real = std::get_if<double>(&value)) {
        detail::append_json_real(out, *real);
    } else if (auto const text = std::get_if<std::string>(&value)) {
        if (is_utf8(*text)) append_json_text(out, *text);
        else detail::append_tagged_hex(out, "$text", bytes(*text), text->size());
    } else if (auto const binary = std::get_if<blob>(&value)) {
        detail::append_tagged_hex(out, "$blob", bytes(*binary), binary->size());
    } else {
        out += "null";
    }
}

SETTLE_FUNCTION bool read_native(json_reader& reader, native_value& value) {
    switch (reader.peek()) {
    case json_kind::null: value = std::monostate{}; return reader.read_null();
    case json_kind::boolean: return reader.read_bool(value.emplace<bool>());
    case json_kind::whole: return reader.read_integer(value.emplace<std::int64_t>());
    case json_kind::real: return reader.read_real(value.emplace<double>());
    case json_kind::text: return reader.read_text(value.emplace<std::string>());
    case json_kind::object: return detail::read_tagged(reader, value);
    case json_kind::array:
        // begin_object() moves the reader to the members.
        return reader.begin_array() && reader.fail("expected a scalar, found an array");
    case json_kind::none: break;
    }
    return reader.skip_value();
}

SETTLE_END
