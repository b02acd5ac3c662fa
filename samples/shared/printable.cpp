// SPDX-License-Identifier: BSL-1.0
// Decides with ICU which characters are visible.
#include "printable.hpp"

#include <settle/base/utf8.hpp>

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace samples {

namespace {

/// The first character and its size; below 0 if there is none.
UChar32 next_character(std::string_view text, std::size_t& size) {
    constexpr std::size_t longest = 4;
    auto const limit = static_cast<std::int32_t>(std::min(text.size(), longest));
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(text.data());
    std::int32_t at = 0;
    UChar32 character = 0;
    U8_NEXT(bytes, at, limit, character);
    size = static_cast<std::size_t>(at);
    return character;
}

/// True for a character that terminals and readers do not show.
bool is_unseen(UChar32 character) {
    constexpr std::uint32_t categories = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CS_MASK | U_GC_CO_MASK |
                                         U_GC_CN_MASK | U_GC_ZL_MASK | U_GC_ZP_MASK;
    if ((U_GET_GC_MASK(character) & categories) != 0) return true;
    bool const odd_space = (U_GET_GC_MASK(character) & U_GC_ZS_MASK) != 0 && character != ' ';
    return odd_space || u_hasBinaryProperty(character, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0;
}

} // namespace

std::size_t unseen_prefix(std::string_view text) {
    if (text.empty() || static_cast<unsigned char>(text.front()) < 0x80U) return 0;
    std::size_t size = 0;
    UChar32 const character = next_character(text, size);
    return character >= 0 && is_unseen(character) ? size : 0;
}

std::string printable(std::string_view text) {
    auto const plain = [](char each) { return each >= ' ' && each <= '~' && each != '\\'; };
    if (std::all_of(text.begin(), text.end(), plain)) return std::string{text};
    std::string shown;
    auto const out = std::back_inserter(shown);
    while (!text.empty()) {
        std::size_t size = 0;
        UChar32 const character = next_character(text, size);
        if (character < 0) {
            size = 1;
            fmt::format_to(out, "\\x{:02x}", static_cast<unsigned char>(text.front()));
        } else if (character == '\n') shown += "\\n";
        else if (character == '\r') shown += "\\r";
        else if (character == '\t') shown += "\\t";
        else if (character == '\\') shown += "\\\\";
        else if (!is_unseen(character)) shown.append(text.substr(0, size));
        else if (character < 0x80) fmt::format_to(out, "\\x{:02x}", character);
        else fmt::format_to(out, "\\u{{{:x}}}", static_cast<std::uint32_t>(character));
        text.remove_prefix(size);
    }
    return shown;
}

} // namespace samples
