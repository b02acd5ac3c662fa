// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that explanation.hpp declares.
#pragma once

#include <settle/protocol/explanation.hpp>

#include <algorithm>
#include <chrono>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION void put_text(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string quoted;
    describe_text(quoted, text);
    for (char const c : quoted) {
        auto const code = static_cast<unsigned char>(c);
        if (code >= 0x20U && code != 0x7fU) out += c;
        else out.append("\\x").append({digits[code >> 4U], digits[code & 15U]});
    }
}

SETTLE_FUNCTION void put_time(std::string& out, std::int64_t count, std::intmax_t numerator,
                              std::intmax_t denominator) {
    using namespace std::chrono;
    constexpr auto first = sys_days{year{0} / January / 1};
    constexpr auto limit = sys_days{year{10000} / January / 1};
    constexpr wide day_seconds = 86400;
    wide const scaled = wide{count} * numerator; // seconds times the denominator
    bool const is_shown = scaled >= wide{seconds{first.time_since_epoch()}.count()} * denominator &&
                          scaled < wide{seconds{limit.time_since_epoch()}.count()} * denominator;
    if (!is_shown) {
        out += std::to_string(count);
        return;
    }
    wide const day_length = day_seconds * denominator;
    wide const number =
        scaled >= 0 ? scaled / day_length : -((day_length - 1 - scaled) / day_length);
    year_month_day const date{sys_days{days{static_cast<int>(number)}}};
    auto const put_part = [&](std::int64_t part, std::size_t width, char const* before) {
        auto const digits = std::to_string(part);
        out.append(before).append(width - std::min(width, digits.size()), '0').append(digits);
    };
    put_part(int{date.year()}, 4, "");
    put_part(unsigned{date.month()}, 2, "-");
    put_part(unsigned{date.day()}, 2, "-");
    if (numerator < day_seconds * denominator) {
        wide const rest = (scaled - number * day_length) * 1000 / denominator;
        hh_mm_ss const time{milliseconds{static_cast<std::int64_t>(rest)}};
        put_part(time.hours().count(), 2, "T");
        put_part(time.minutes().count(), 2, ":");
        put_part(time.seconds().count(), 2, ":");
        if (time.subseconds().count() != 0) put_part(time.subseconds().count(), 3, ".");
        out += 'Z';
    }
}

SETTLE_FUNCTION std::string locator_of(part_name const& where) {
    if (where.participant.empty()) return {};
    std::string text = "participant '" + std::string{where.participant} + "'";
    if (where.line) text += ", line " + std::to_string(*where.line + 1);
    return text + ": ";
}

} // namespace detail
SETTLE_END
