// SPDX-License-Identifier: BSL-1.0
#include "request.hpp"

#include <settle/base/utf8.hpp>

#include <algorithm>
#include <charconv>

SETTLE_BEGIN
namespace detail {

namespace {

[[nodiscard]] int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

[[nodiscard]] bool is_plain(char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           (each >= '0' && each <= '9') || each == '-' || each == '.' || each == '_' || each == '~';
}

} // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool is_form) {
    std::string decoded;
    for (std::size_t index = 0; index < text.size(); ++index) {
        char each = text[index];
        if (each == '+' && is_form) each = ' ';
        if (text[index] == '%') {
            if (index + 2 >= text.size()) return std::nullopt;
            int const high = hex_value(text[index + 1]);
            int const low = hex_value(text[index + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            each = static_cast<char>(high * 16 + low);
            index += 2;
        }
        decoded.push_back(each);
    }
    if (utf8_prefix(decoded) != decoded.size()) return std::nullopt;
    return decoded;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (char const each : text) {
        auto const byte = static_cast<unsigned char>(each);
        if (is_plain(each)) encoded.push_back(each);
        else encoded.append({'%', digits[byte >> 4U], digits[byte & 15U]});
    }
    return encoded;
}

bool read_fields(std::string_view text, console_fields& fields) {
    while (!text.empty()) {
        auto const field = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(field.size() + 1, text.size()));
        if (field.empty()) continue;
        auto const equals = std::min(field.find('='), field.size());
        auto name = percent_decoded(field.substr(0, equals), true);
        auto value = percent_decoded(field.substr(std::min(equals + 1, field.size())), true);
        if (!name || !value || !fields.emplace(*std::move(name), *std::move(value)).second)
            return false;
    }
    return true;
}

console_form accepted_form(std::string_view accept) {
    // A browser names HTML first, and a program names JSON alone.
    if (accept.find("text/html") != accept.npos) return console_form::page;
    if (accept.find("application/json") != accept.npos) return console_form::json;
    return console_form::text;
}

bool is_token(std::string_view presented, std::string_view token) {
    if (token.empty() || presented.size() != token.size()) return false;
    unsigned difference = 0;
    for (std::size_t index = 0; index < token.size(); ++index) {
        difference |= static_cast<unsigned char>(presented[index]) ^
                      static_cast<unsigned>(static_cast<unsigned char>(token[index]));
    }
    return difference == 0;
}

std::optional<std::chrono::milliseconds> span_from(std::string_view text) {
    constexpr std::int64_t ten_years = std::int64_t{86400} * 3653;
    std::int64_t number = 0;
    auto const* const end = text.data() + text.size();
    auto const read = std::from_chars(text.data(), end, number);
    bool const is_long = read.ec == std::errc::result_out_of_range;
    if (text.starts_with('-') || (read.ec != std::errc{} && !is_long)) return std::nullopt;
    std::string_view const unit{read.ptr, static_cast<std::size_t>(end - read.ptr)};
    std::int64_t const seconds = unit == "s"   ? 1
                                 : unit == "m" ? 60
                                 : unit == "h" ? 3600
                                 : unit == "d" ? 86400
                                               : 0;
    if (seconds == 0) return std::nullopt;
    bool const is_capped = is_long || number > ten_years / seconds;
    return std::chrono::seconds{is_capped ? ten_years : number * seconds};
}

std::string span_text(std::chrono::milliseconds span) {
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(span).count();
    auto const both = [](std::int64_t large, char const* one, std::int64_t small,
                         char const* other) {
        return std::to_string(large) + ' ' + one + ' ' + std::to_string(small) + ' ' + other;
    };
    if (seconds < 60) return std::to_string(seconds) + " s";
    if (seconds < 3600) return both(seconds / 60, "min", seconds % 60, "s");
    if (seconds < 86400) return both(seconds / 3600, "h", seconds / 60 % 60, "min");
    return both(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

} // namespace detail
SETTLE_END
