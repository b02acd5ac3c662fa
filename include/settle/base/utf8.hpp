// SPDX-License-Identifier: BSL-1.0
// Checks that bytes are a text: strict UTF-8 without a NUL.
#pragma once

#include <settle/version.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

SETTLE_BEGIN

namespace detail {

/// The length of the well-formed sequence of several bytes at the front, or 0.
/// Source: The Unicode Standard, table 3-7 (well-formed UTF-8 byte sequences)
[[nodiscard]] constexpr std::size_t utf8_sequence_length(std::string_view text) noexcept {
    auto const byte = [text](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    auto const lead = byte(0);
    std::size_t const length = lead < 0xC2   ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || text.size() < length) return 0;
    // The second byte alone shows overlong forms, surrogates and values beyond U+10FFFF.
    unsigned const lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned const highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < lowest || byte(1) > highest) return 0;
    for (std::size_t at = 2; at < length; ++at) {
        if ((byte(at) & 0xC0) != 0x80) return 0;
    }
    return length;
}

/// The number of bytes at the front that are plain: neither a NUL nor of a sequence of several
/// bytes. It compares several bytes at a time, and may stop early.
[[nodiscard]] constexpr std::size_t plain_prefix(std::string_view text) noexcept {
    std::size_t index = 0;
    if (std::is_constant_evaluated()) return index;
    auto const plain = [text]<typename Number>(std::size_t from, Number low_bits) {
        Number several = 0;
        std::memcpy(&several, text.data() + from, sizeof several);
        // A NUL alone borrows from the bit that no plain byte has.
        return (((several - low_bits) | several) & (low_bits << 7U)) == 0;
    };
    constexpr std::uint64_t eight = 0x0101010101010101U;
    constexpr std::uint32_t four = 0x01010101U;
    for (; text.size() - index >= 8; index += 8) {
        if (!plain(index, eight)) return index;
    }
    // The last bytes are checked together with bytes that were already checked.
    std::size_t const size = text.size();
    if (size >= 8) return plain(size - 8, eight) ? size : index;
    return size >= 4 && plain(0, four) && plain(size - 4, four) ? size : index;
}

/// The number of bytes at the front that are a text.
[[nodiscard]] constexpr std::size_t utf8_prefix(std::string_view text) noexcept {
    std::size_t index = plain_prefix(text);
    while (index < text.size()) {
        auto const lead = static_cast<unsigned char>(text[index]);
        if (lead == 0) break;
        auto const length = lead < 0x80 ? 1 : utf8_sequence_length(text.substr(index));
        if (length == 0) break;
        index += length;
    }
    return index;
}

/// Appends one code point that is neither a surrogate nor beyond U+10FFFF.
void append_utf8(std::string& out, std::uint32_t code_point);

} // namespace detail

/// True for well-formed UTF-8 without overlong forms, surrogates or values beyond U+10FFFF. A NUL
/// is refused as well: SQLite's functions end a text there, a std::string does not, so two readers
/// would see two texts.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    return detail::utf8_prefix(text) == text.size();
}

/// The error of a text, as the end of a clause; empty if it is UTF-8 without a NUL.
[[nodiscard]] constexpr std::string_view fault_of_text(std::string_view text) noexcept {
    std::size_t const good = detail::utf8_prefix(text);
    if (good == text.size()) return {};
    return text[good] == '\0' ? "holds a NUL" : "is not UTF-8";
}

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/base/utf8.ipp>
#endif
