// SPDX-License-Identifier: BSL-1.0
// Tells whether bytes are text: the stores take UTF-8 only, so the reader refuses the rest early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace samples {

namespace detail {

/// What the first byte of a character says of the others.
struct utf8_lead {
    std::size_t more;        // how many bytes follow
    std::uint32_t bits;      // what the first byte contributes
    std::uint32_t smallest;  // anything below could have been written with fewer bytes
};

constexpr utf8_lead read_lead(std::uint8_t byte) {
    if ((byte & 0xE0U) == 0xC0U) return {1, byte & 0x1FU, 0x80};
    if ((byte & 0xF0U) == 0xE0U) return {2, byte & 0x0FU, 0x800};
    if ((byte & 0xF8U) == 0xF0U) return {3, byte & 0x07U, 0x10000};
    return {0, 0, 0};
}

}  // namespace detail

/// Whether every byte belongs to a character of UTF-8, in its shortest form and no surrogate.
/// Source:  RFC 3629, section 4
constexpr bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        auto const first = static_cast<std::uint8_t>(text[at++]);
        if (first < 0x80) continue;
        auto const lead = detail::read_lead(first);
        if (lead.more == 0 || text.size() - at < lead.more) return false;
        std::uint32_t code = lead.bits;
        for (std::size_t left = lead.more; left > 0; --left) {
            auto const byte = static_cast<std::uint8_t>(text[at++]);
            if ((byte & 0xC0U) != 0x80U) return false;
            code = code << 6U | (byte & 0x3FU);
        }
        bool const surrogate = code >= 0xD800 && code <= 0xDFFF;
        if (code < lead.smallest || code > 0x10FFFF || surrogate) return false;
    }
    return true;
}

}  // namespace samples
