// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that trace_context.hpp declares.
#pragma once

#include <settle/base/trace_context.hpp>

#include <settle/base/json_writer.hpp>
#include <settle/base/utf8.hpp>

#include <algorithm>
#include <cstdint>

SETTLE_BEGIN

SETTLE_FUNCTION bool is_traceparent(std::string_view text) noexcept {
    constexpr std::string_view form = "00-tttttttttttttttttttttttttttttttt-ssssssssssssssss-ff";
    if (text.size() != form.size()) return false;
    for (std::size_t index = 0; index < form.size(); ++index) {
        char const present = text[index];
        bool const is_digit =
            (present >= '0' && present <= '9') || (present >= 'a' && present <= 'f');
        bool const is_fixed = form[index] == '0' || form[index] == '-';
        if (is_fixed ? present != form[index] : !is_digit) return false;
    }
    constexpr auto none = std::string_view::npos;
    return trace_of(text).find_first_not_of('0') != none &&
           span_of(text).find_first_not_of('0') != none;
}

SETTLE_FUNCTION std::string child_of(std::string_view traceparent, std::string_view name) {
    // FNV-1a over both, and then the last step of SplitMix64, which spreads the last bytes.
    std::uint64_t span = 0xcbf29ce484222325U;
    for (auto const text : {traceparent, name}) {
        for (char const each : text) {
            span = (span ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
        }
    }
    span = (span ^ (span >> 30U)) * 0xbf58476d1ce4e5b9U;
    span = (span ^ (span >> 27U)) * 0x94d049bb133111ebU;
    span ^= span >> 31U;
    // No span has the number 0.
    span = std::max<std::uint64_t>(span, 1);
    std::string child{traceparent};
    for (std::size_t index = 52; index-- > 36; span >>= 4U) {
        child[index] = detail::hex_digit(static_cast<unsigned>(span & 0xfU));
    }
    return child;
}

namespace detail {

SETTLE_FUNCTION error wrong_traceparent(std::string_view text) {
    std::string shown;
    append_json_text(shown, text.substr(0, std::min<std::size_t>(utf8_prefix(text), 60)));
    return {make_error_code(errc::bad_option),
            "settle: the traceparent " + shown +
                " is not of the form 00-TRACE-SPAN-FLAGS with 32, 16 and 2 lower-case hexadecimal "
                "digits, or has a TRACE or SPAN of zeros alone. Pass the header of your caller "
                "only if settle::is_traceparent() holds. See traces#pass-a-trace"};
}

} // namespace detail
SETTLE_END
