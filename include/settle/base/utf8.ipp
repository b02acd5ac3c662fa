// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that utf8.hpp declares.
#pragma once

#include <settle/base/utf8.hpp>

SETTLE_BEGIN

namespace detail {

SETTLE_FUNCTION void append_utf8(std::string& out, std::uint32_t code_point) {
    auto const put = [&out](std::uint32_t byte) {
        out += static_cast<char>(static_cast<unsigned char>(byte));
    };
    auto const put_tail = [&put, code_point](unsigned shift) {
        put(0x80U | ((code_point >> shift) & 0x3FU));
    };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0U | (code_point >> 6));
        put_tail(0);
    } else if (code_point < 0x10000) {
        put(0xE0U | (code_point >> 12));
        put_tail(6);
        put_tail(0);
    } else {
        put(0xF0U | (code_point >> 18));
        put_tail(12);
        put_tail(6);
        put_tail(0);
    }
}

} // namespace detail

SETTLE_END
