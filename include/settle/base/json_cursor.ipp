// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that json_cursor.hpp declares.
#pragma once

#include <settle/base/json_cursor.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

SETTLE_BEGIN

namespace detail {

SETTLE_FUNCTION bool json_cursor::look_real() const noexcept {
    auto const end = text_.find_first_not_of("0123456789", position_ + 1);
    return end != std::string_view::npos &&
           (text_[end] == '.' || text_[end] == 'e' || text_[end] == 'E');
}

SETTLE_FUNCTION bool json_cursor::take(std::string_view signs) noexcept {
    if (text_.substr(position_, signs.size()) != signs) return false;
    position_ += signs.size();
    return true;
}

SETTLE_FUNCTION bool json_cursor::refuse(std::string_view reason, std::size_t offset) noexcept {
    reason_ = reason;
    refused_at_ = offset;
    return false;
}

SETTLE_FUNCTION bool json_cursor::take_digits() noexcept {
    if (!look_digit()) return refuse("expected a digit", position_);
    while (look_digit()) ++position_;
    return true;
}

SETTLE_FUNCTION bool json_cursor::take_number(std::string_view& number) noexcept {
    auto const begin = position_;
    take('-');
    auto const zero = look() == '0';
    auto const digits = position_;
    if (!take_digits()) return false;
    if (zero && position_ - digits > 1) return refuse("a number begins with a needless 0", digits);
    if (take('.') && !take_digits()) return false;
    if (take('e') || take('E')) {
        if (!take('+')) take('-');
        if (!take_digits()) return false;
    }
    number = text_.substr(begin, position_ - begin);
    return true;
}

SETTLE_FUNCTION bool json_cursor::take_text(std::string* meaning) {
    ++position_;
    for (;;) {
        auto const begin = position_;
        auto const ends = [](char each) {
            return each == '"' || each == '\\' || static_cast<unsigned char>(each) < 0x20;
        };
        position_ = static_cast<std::size_t>(
            std::find_if(text_.begin() + static_cast<std::ptrdiff_t>(begin), text_.end(), ends) -
            text_.begin());
        auto const run = text_.substr(begin, position_ - begin);
        auto const good = utf8_prefix(run);
        if (good != run.size()) return refuse("a text is not UTF-8", begin + good);
        if (meaning != nullptr) meaning->append(run);
        if (at_end()) return refuse("a text has no end", position_);
        if (take('"')) return true;
        if (look() != '\\') return refuse("a control character is not escaped", position_);
        if (!take_escape(meaning)) return false;
    }
}

SETTLE_FUNCTION bool json_cursor::take_escape(std::string* meaning) {
    constexpr std::string_view signs = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    auto const begin = position_++;
    if (auto const found = signs.find(look()); found != std::string_view::npos) {
        if (meaning != nullptr) *meaning += meanings[found];
        ++position_;
        return true;
    }
    if (look() != 'u') return refuse("a text has an unknown escape", begin);
    std::uint32_t code = 0;
    if (!take_code_unit(code)) return false;
    auto const is_half = [](std::uint32_t unit, std::uint32_t kind) {
        return (unit & 0xFC00U) == kind;
    };
    if (is_half(code, 0xDC00)) return refuse("half a surrogate pair", begin);
    if (is_half(code, 0xD800)) {
        std::uint32_t low = 0;
        if (!take('\\') || look() != 'u') return refuse("half a surrogate pair", begin);
        if (!take_code_unit(low)) return false;
        if (!is_half(low, 0xDC00)) return refuse("half a surrogate pair", begin);
        code = 0x10000U + ((code & 0x3FFU) << 10U) + (low & 0x3FFU);
    }
    if (code == 0) return refuse("a text holds a NUL", begin);
    if (meaning != nullptr) append_utf8(*meaning, code);
    return true;
}

/// Goes over a `u` and its four hexadecimal digits.
SETTLE_FUNCTION bool json_cursor::take_code_unit(std::uint32_t& unit) noexcept {
    auto const digits = text_.substr(position_ + 1, 4);
    auto const end = digits.data() + digits.size();
    auto const read = std::from_chars(digits.data(), end, unit, 16);
    if (digits.size() != 4 || read.ec != std::errc{} || read.ptr != end) {
        return refuse("expected four hexadecimal digits after \\u", position_ + 1);
    }
    position_ += 5;
    return true;
}

} // namespace detail

SETTLE_END
