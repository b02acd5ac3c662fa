// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that wire.hpp declares.
#pragma once

#include <settle/http/wire.hpp>

#include <settle/base/json_reader.hpp>
#include <settle/http/digest.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <system_error>

SETTLE_BEGIN
namespace http::detail {

[[nodiscard]] constexpr bool is_plain_in_header(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') ||
           std::string_view{"-._~:/@"}.find(character) != std::string_view::npos;
}

SETTLE_FUNCTION void append_header_value(std::string& to, std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (char const character : text) {
        if (is_plain_in_header(character)) {
            to += character;
            continue;
        }
        auto const byte = static_cast<unsigned char>(character);
        to += '%';
        to += digits[byte >> 4U];
        to += digits[byte & 15U];
    }
}

SETTLE_FUNCTION std::string header_value(std::string_view text) {
    std::string value;
    value.reserve(text.size());
    append_header_value(value, text);
    return value;
}

SETTLE_FUNCTION std::string utc_text(timestamp moment) {
    using namespace std::chrono;
    constexpr auto first = sys_days{year{0} / January / 1};
    constexpr auto limit = sys_days{year{10000} / January / 1};
    moment = std::clamp(moment, timestamp{first}, timestamp{limit} - milliseconds{1});
    auto const day = floor<days>(moment);
    year_month_day const date{day};
    hh_mm_ss const time{moment - day};
    std::string text{"0000-00-00T00:00:00.000Z"};
    auto const write = [&text](std::int64_t number, std::size_t end) {
        for (; number != 0; number /= 10) text[--end] = static_cast<char>('0' + number % 10);
    };
    write(static_cast<int>(date.year()), 4);
    write(static_cast<unsigned>(date.month()), 7);
    write(static_cast<unsigned>(date.day()), 10);
    write(time.hours().count(), 13);
    write(time.minutes().count(), 16);
    write(time.seconds().count(), 19);
    write(time.subseconds().count(), 23);
    return text;
}

SETTLE_FUNCTION std::optional<timestamp> moment_of_utc_text(std::string_view text) {
    using namespace std::chrono;
    constexpr std::string_view form = "0000-00-00T00:00:00";
    auto const is_digit = [](char character) { return character >= '0' && character <= '9'; };
    if (text.size() <= form.size() || text.back() != 'Z') return std::nullopt;
    for (std::size_t at = 0; at < form.size(); ++at) {
        if (form[at] == '0' ? !is_digit(text[at]) : text[at] != form[at]) return std::nullopt;
    }
    auto fraction = text.substr(form.size(), text.size() - form.size() - 1);
    if (!fraction.empty()) {
        if (fraction.front() != '.' || fraction.size() < 2 || fraction.size() > 10 ||
            !std::all_of(fraction.begin() + 1, fraction.end(), is_digit)) {
            return std::nullopt;
        }
        fraction.remove_prefix(1);
    }
    auto const number = [](std::string_view digits) {
        int value = 0;
        for (char const digit : digits) value = 10 * value + (digit - '0');
        return value;
    };
    auto const part = [&](std::size_t index, std::size_t width) {
        return number(text.substr(index, width));
    };
    year_month_day const date{year{part(0, 4)}, month{static_cast<unsigned>(part(5, 2))},
                              day{static_cast<unsigned>(part(8, 2))}};
    // A leap second counts as the first of the next minute.
    if (!date.ok() || part(11, 2) > 23 || part(14, 2) > 59 || part(17, 2) > 60) return std::nullopt;
    std::string thousandths{fraction.substr(0, 3)};
    thousandths.append(3 - thousandths.size(), '0');
    return timestamp{sys_days{date}} + hours{part(11, 2)} + minutes{part(14, 2)} +
           seconds{part(17, 2)} + milliseconds{number(thousandths)};
}

SETTLE_FUNCTION std::string text_of_header(std::string_view value) {
    auto const digit = [](char character) {
        if (character >= '0' && character <= '9') return character - '0';
        if (character >= 'A' && character <= 'F') return character - 'A' + 10;
        if (character >= 'a' && character <= 'f') return character - 'a' + 10;
        return -1;
    };
    std::string text;
    text.reserve(value.size());
    for (std::size_t index = 0; index < value.size(); ++index) {
        // A quote stands around the whole value alone; within a text it is encoded.
        if (is_plain_in_header(value[index]) || value[index] == '"') {
            text += value[index];
            continue;
        }
        int const high = index + 2 < value.size() ? digit(value[index + 1]) : -1;
        int const low = index + 2 < value.size() ? digit(value[index + 2]) : -1;
        if (value[index] != '%' || high < 0 || low < 0) return std::string{value};
        text += static_cast<char>(high * 16 + low);
        index += 2;
    }
    return text;
}

SETTLE_FUNCTION std::string idempotency_key(service_call const& call, key_form form) {
    auto key = header_value(call.key).append("/").append(name_of(call.operation));
    return form == key_form::digest ? digest_of(key) : key;
}

SETTLE_FUNCTION std::string_view without_quotes(std::string_view value) {
    bool const quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
}

SETTLE_FUNCTION void for_each_header(
    service_call const& call,
    settle::detail::function_view<void(std::string_view name, std::string_view value)> take,
    options const& settings) {
    std::string value;
    auto const give = [&](std::string_view name, std::string_view text) {
        value.clear();
        append_header_value(value, text);
        take(name, value);
    };
    give("Settle-Key", call.key);
    auto const key = idempotency_key(call, settings.key);
    take(key_and_operation, settings.quoted_key ? '"' + key + '"' : key);
    give("Settle-Service", call.service);
    give("Settle-Transaction", call.transaction);
    give("Settle-Participant", call.participant);
    take("Settle-Has-Apply", call.has_apply ? "true" : "false");
    take("Settle-Epoch", std::to_string(call.epoch_number));
    take("Settle-Last-Moment", utc_text(call.last_moment));
    if (call.line) take("Settle-Line", std::to_string(*call.line));
    if (auto const trace = traceparent_of(call); !trace.empty()) take("traceparent", trace);
}

SETTLE_FUNCTION void append_with_large_texts(std::string& to, std::string_view json) {
    constexpr std::string_view largest = "9007199254740992"; // 2^53
    constexpr auto none = std::string_view::npos;
    for (std::size_t index = 0; index < json.size();) {
        std::size_t end = index + 1;
        bool is_large = false;
        if (json[index] == '"') {
            while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2U : 1U;
            end = std::min(end + 1, json.size());
        } else if (json[index] == '-' || (json[index] >= '0' && json[index] <= '9')) {
            end = std::min(json.find_first_not_of("0123456789+-.eE", index), json.size());
            auto number = json.substr(index, end - index);
            if (number.starts_with('-')) number.remove_prefix(1);
            is_large = number.find_first_of(".eE") == none &&
                       (number.size() > largest.size() ||
                        (number.size() == largest.size() && number > largest));
        }
        if (is_large) to += '"';
        to.append(json.substr(index, end - index));
        if (is_large) to += '"';
        index = end;
    }
}

SETTLE_FUNCTION void write_body(std::string& to, service_call const& call,
                                options const& settings) {
    auto const append = [&](std::string_view json) {
        if (settings.large_numbers_as_text) append_with_large_texts(to, json);
        else to.append(json);
    };
    to.assign("{\"request\":");
    append(call.request.empty() ? std::string_view{"null"} : call.request);
    if (!call.result.empty()) {
        to.append(",\"result\":");
        append(call.result);
    }
    to += '}';
}

[[noreturn]] SETTLE_FUNCTION void refuse_call(std::string text) {
    throw failure({make_error_code(errc::damaged), std::move(text)});
}

SETTLE_FUNCTION
received_call::received_call(settle::detail::function_view<header(std::string_view)> text_of,
                             std::string_view operation, std::string_view body) {
    auto const refuse = [](std::string_view name) {
        refuse_call("settle: the call has no header " + std::string{name} +
                    ", or the header is damaged. See http#wire-form");
    };
    auto const text = [&](std::string_view name) {
        auto found = text_of(name);
        if (!found) refuse(name);
        return std::move(*found);
    };
    auto const number = [&]<typename Number>(std::string_view name, std::string_view value,
                                             Number& into) {
        auto const end = value.data() + value.size();
        auto const read = std::from_chars(value.data(), end, into);
        if (read.ec != std::errc{} || read.ptr != end) refuse(name);
    };
    constexpr std::array operations{call_operation::apply, call_operation::confirm,
                                    call_operation::compensate, call_operation::query};
    auto const named = std::find_if(operations.begin(), operations.end(),
                                    [&](auto each) { return name_of(each) == operation; });
    if (named == operations.end()) {
        refuse_call("settle: the path ends in no operation: apply, confirm, compensate or query. "
                    "See http#wire-form");
    }
    operation_ = *named;
    service_ = text("Settle-Service");
    key_ = text("Settle-Key");
    transaction_ = text("Settle-Transaction");
    participant_ = text("Settle-Participant");
    number("Settle-Epoch", text("Settle-Epoch"), epoch_);
    if (auto const line = text_of("Settle-Line")) number("Settle-Line", *line, line_.emplace());
    // Anybody on the way may have changed it, and the call is good without it.
    traceparent_ = text_of("traceparent").value_or(std::string{});
    if (!is_traceparent(traceparent_)) traceparent_.clear();
    auto const has_apply = text("Settle-Has-Apply");
    if (has_apply != "true" && has_apply != "false") refuse("Settle-Has-Apply");
    has_apply_ = has_apply == "true";
    auto const moment = moment_of_utc_text(text("Settle-Last-Moment"));
    if (!moment) refuse("Settle-Last-Moment");
    last_moment_ = *moment;
    // A client sends it in one of its forms; text_of() has decoded its value.
    auto const whole = key_ + "/" + std::string{operation};
    idempotency_key_ = text(key_and_operation);
    auto const plain = without_quotes(idempotency_key_);
    bool const is_digest = plain == digest_of(header_value(key_).append("/").append(operation));
    if (plain != whole && !is_digest) refuse(key_and_operation);
    read_body(body);
}

SETTLE_FUNCTION std::string received_call::idempotency_key() const {
    auto const plain = without_quotes(idempotency_key_);
    auto const value = header_value(plain);
    return plain.size() == idempotency_key_.size() ? value : '"' + value + '"';
}

SETTLE_FUNCTION void received_call::read_body(std::string_view body) {
    json_reader reader{body};
    if (reader.begin_object()) {
        for (std::string_view name; reader.next_member(name);) {
            if (name == "request") reader.skip_value(request_);
            else if (name == "result") reader.skip_value(result_);
            else reader.skip_value();
        }
    }
    if (!reader.finish() || request_.empty()) {
        refuse_call("settle: the body of the call is no JSON object with the member 'request'. "
                    "See http#wire-form");
    }
}

SETTLE_FUNCTION service_call received_call::call() const {
    service_call decoded_call{service_, operation_,   key_,     transaction_, participant_, line_,
                              epoch_,   last_moment_, request_, result_,      has_apply_};
    decoded_call.traceparent = traceparent_;
    return decoded_call;
}

} // namespace http::detail
SETTLE_END
