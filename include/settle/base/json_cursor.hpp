// SPDX-License-Identifier: BSL-1.0
// Scans JSON text character by character: white space, numbers and texts by their grammar.
#pragma once

#include <settle/base/utf8.hpp>
#include <settle/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

SETTLE_BEGIN

namespace detail {

/// A position in a JSON text. `reason` and `refused_at` describe a refused text.
/// Source: RFC 8259
class json_cursor {
public:
    explicit json_cursor(std::string_view text) noexcept : text_(text) {}

    [[nodiscard]] std::size_t position() const noexcept { return position_; }
    [[nodiscard]] bool at_end() const noexcept { return position_ == text_.size(); }
    /// The text from a position before this one up to it.
    [[nodiscard]] std::string_view text_since(std::size_t begin) const noexcept {
        return text_.substr(begin, position_ - begin);
    }
    [[nodiscard]] std::string_view reason() const noexcept { return reason_; }
    [[nodiscard]] std::size_t refused_at() const noexcept { return refused_at_; }

    [[nodiscard]] char look() const noexcept {
        // A NUL is never a part of JSON's structure, so it can stand for the end.
        return at_end() ? '\0' : text_[position_];
    }
    [[nodiscard]] bool look_digit() const noexcept { return look() >= '0' && look() <= '9'; }
    /// True if the number continues with a fraction or an exponent.
    [[nodiscard]] bool look_real() const noexcept;
    void skip_space() noexcept {
        while (look() == ' ' || look() == '\n' || look() == '\r' || look() == '\t') ++position_;
    }
    bool take(char sign) noexcept {
        if (look() != sign) return false;
        ++position_;
        return true;
    }
    bool take(std::string_view signs) noexcept;

    /// Reads a number.
    bool take_number(std::string_view& number) noexcept;
    /// Reads a text from its opening to its closing quote; appends its value unless `meaning` is
    /// null.
    bool take_text(std::string* meaning);

private:
    bool refuse(std::string_view reason, std::size_t offset) noexcept;
    bool take_digits() noexcept;
    bool take_escape(std::string* meaning);
    bool take_code_unit(std::uint32_t& unit) noexcept;

    std::string_view text_;
    std::size_t position_ = 0;
    std::string_view reason_;
    std::size_t refused_at_ = 0;
};

} // namespace detail

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/base/json_cursor.ipp>
#endif
