// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that answer.hpp declares.
#pragma once

#include <settle/http/answer.hpp>

#include <settle/base/json_reader.hpp>
#include <settle/base/utf8.hpp>
#include <settle/http/wire.hpp>

#include <algorithm>
#include <array>
#include <utility>

SETTLE_BEGIN
namespace http::detail {

/// The type of a body without its parameters, in small letters: application/json.
[[nodiscard]] SETTLE_FUNCTION std::string media_type(std::string_view content_type) {
    std::string type{content_type.substr(0, content_type.find(';'))};
    while (type.ends_with(' ') || type.ends_with('\t')) type.pop_back();
    for (char& each : type) {
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    }
    return type;
}

[[nodiscard]] SETTLE_FUNCTION bool is_json_type(std::string const& type) {
    return type.empty() || type == "application/json" || type.ends_with("+json");
}

SETTLE_FUNCTION answer_reader::answer_reader(std::string address, options const& settings)
    : address_(std::move(address)), settings_(settings) {
    hide({});
}

SETTLE_FUNCTION void answer_reader::hide(header_values const& more) {
    secrets_.clear();
    for (auto const* headers : {&settings_.headers, &more}) {
        for (auto const& [name, value] : *headers) {
            if (value.empty()) continue;
            secrets_.push_back(value);
            // A text may show the token of "Bearer TOKEN" alone.
            if (auto const space = value.rfind(' '); space != std::string::npos) {
                if (space + 1 < value.size()) secrets_.push_back(value.substr(space + 1));
            }
        }
    }
    std::sort(secrets_.begin(), secrets_.end(),
              [](auto& left, auto& right) { return left.size() > right.size(); });
}

SETTLE_FUNCTION std::string answer_reader::shown(std::string text) const {
    for (auto const& secret : secrets_) {
        for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
            text.replace(at, secret.size(), "***");
            at += 3;
        }
    }
    constexpr std::size_t longest = 300;
    std::string line = text.substr(0, longest);
    for (char& each : line) {
        if (static_cast<unsigned char>(each) < 0x20U || each == 0x7F) each = ' ';
    }
    line.resize(settle::detail::utf8_prefix(line));
    bool const is_cut = line.size() < text.size();
    while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
    return is_cut ? line.append(" …") : line;
}

/// JSON with a space for each escape of a NUL, which no text of this library holds.
[[nodiscard]] SETTLE_FUNCTION std::string without_nul(std::string json) {
    constexpr std::string_view nul = "\\u0000";
    constexpr std::string_view space = "\\u0020";
    for (auto at = json.find('\\'); at != json.npos; at = json.find('\\', at + 2)) {
        if (json.compare(at, nul.size(), nul) == 0) json.replace(at, nul.size(), space);
    }
    return json;
}

SETTLE_FUNCTION std::string answer_reader::reason_of(http_answer const& answer) const {
    auto const type = media_type(answer.content_type);
    if (type == "text/plain") {
        std::string text{answer.body};
        // In another encoding, the plain characters are readable.
        if (!is_utf8(text)) {
            std::replace_if(
                text.begin(), text.end(), [](char each) { return (each & 0x80) != 0; }, '?');
        }
        return shown(std::move(text));
    }
    if (!is_json_type(type)) return {};
    // The members of RFC 9457 are the last two.
    constexpr std::array<std::string_view, 3> names{"reason", "detail", "title"};
    std::array<std::string, names.size()> found;
    std::string reason;
    std::string const json = without_nul(std::string{answer.body});
    json_reader reader{json};
    if (reader.peek() == json_kind::text) {
        reader.read_text(reason);
    } else if (reader.begin_object()) {
        for (std::string_view name; reader.next_member(name);) {
            auto const which = std::find(names.begin(), names.end(), name);
            if (which == names.end() || reader.peek() != json_kind::text) {
                reader.skip_value();
            } else {
                reader.read_text(found[static_cast<std::size_t>(which - names.begin())]);
            }
        }
    }
    if (!reader.finish()) return {};
    for (auto const& each : found) {
        if (reason.empty()) reason = each;
    }
    return shown(std::move(reason));
}

SETTLE_FUNCTION std::string answer_reader::subject(service_call const& call) const {
    std::string text{"settle: the call '"};
    return text.append(name_of(call.operation)).append("' at ").append(address_);
}

/// True for a body that is one JSON value.
[[nodiscard]] SETTLE_FUNCTION bool is_json(std::string_view body) {
    json_reader reader{body};
    reader.skip_value();
    return reader.finish();
}

SETTLE_FUNCTION std::string_view answer_reader::fault_of_result(service_call const& call,
                                                                http_answer const& answer) const {
    bool const has_result = call.gives_result && (call.operation == call_operation::apply ||
                                                  call.operation == call_operation::query);
    if (answer.body.empty()) {
        bool const needed = has_result && answer.status != 204;
        return needed ? "an empty body, where 204 says that there is no result" : "";
    }
    auto const type = media_type(answer.content_type);
    if (!has_result) {
        // A proxy answers with a page: an OK of the service is anything else.
        if (settings_.any_success || is_json(answer.body)) return "";
        bool const is_page = type == "text/html" || answer.body.front() == '<';
        return is_page ? "a page as its body" : "";
    }
    if (!is_json_type(type)) return "a body that is not JSON by its type";
    return is_json(answer.body) ? "" : "a body that is not one JSON value in UTF-8";
}

SETTLE_FUNCTION std::string_view answer_reader::advice_about(int status) {
    switch (status) {
    case 202:
        return ". If it says that the call is done, give it that meaning in options::statuses";
    case 401:
    case 403:
        return ". Check the credentials in options::headers, or give options::headers_of_wave";
    default: return {};
    }
}

SETTLE_FUNCTION bool answer_reader::may_be_under_way(service_call const& call,
                                                     http_answer const& answer) const {
    constexpr int conflict = 409;
    if (answer.status != conflict) return false;
    bool const repeated = call.may_be_under_way || answer.sent_twice;
    return answer.asks_again ||
           (repeated && !settings_.statuses.always_refuses(call.operation, answer.status));
}

SETTLE_FUNCTION service_answer answer_reader::read(service_call const& call,
                                                   http_answer const& received) const {
    http_answer answer = received;
    // RFC 8259, section 8.1: a reader may pass over a byte order mark.
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (answer.body.starts_with(mark)) answer.body.remove_prefix(mark.size());
    bool const is_of_call =
        !answer.key || without_quotes(*answer.key) == idempotency_key(call, settings_.key);
    if (!is_of_call) {
        // No statement of such an answer is about this call.
        auto text = subject(call);
        text.append(" got the answer to another call. Check the proxies and caches before the "
                    "service. See http#wire-form");
        return service_answer::unknown(std::move(text));
    }
    auto meaning = settings_.statuses.meaning(call.operation, answer.status);
    bool const ends =
        call.operation == call_operation::confirm || call.operation == call_operation::compensate;
    if (settings_.any_success && answer.status / 100 == 2 && (ends || !call.gives_result)) {
        meaning = call_status::ok;
    }
    auto const got_status = [&] {
        return subject(call).append(" got status ").append(std::to_string(answer.status));
    };
    if (meaning == call_status::ok) {
        auto const fault = fault_of_result(call, answer);
        if (fault.empty()) {
            return service_answer::ok(is_json(answer.body) ? std::string{answer.body}
                                                           : std::string{});
        }
        auto text = got_status().append(" with ").append(fault);
        text.append(ends || !call.gives_result
                        ? ". Let the service answer this call again, or set options::any_success"
                        : ". Let the service answer this call again, with JSON");
        text.append(". See http#wire-form");
        return service_answer::unknown(std::move(text));
    }
    auto reason = reason_of(answer);
    bool const under_way = meaning == call_status::refused && may_be_under_way(call, answer);
    if (meaning == call_status::refused && !under_way) {
        return service_answer::refused(reason.empty() ? "status " + std::to_string(answer.status)
                                                      : std::move(reason));
    }
    auto text = got_status();
    if (!reason.empty()) text.append(": ").append(reason);
    if (under_way) {
        text.append(". An earlier request may be under way; let the service refuse with 422, or "
                    "give 409 that meaning");
    }
    if (meaning != call_status::refused) text.append(advice_about(answer.status));
    service_answer converted{under_way ? call_status::unknown : meaning,
                             text.append(". See http#status-codes")};
    // The form of the request, or its credentials.
    converted.for_person = converted.status != call_status::unknown &&
                           (answer.status == 400 || answer.status == 401 || answer.status == 403);
    if (answer.retry_after) {
        converted.retry_after =
            std::min<std::chrono::milliseconds>(*answer.retry_after, settings_.longest_retry_after);
    }
    return converted;
}

SETTLE_FUNCTION service_answer answer_reader::missing(service_call const& call, bool sent,
                                                      std::string_view problem) const {
    auto text = subject(call);
    text.append(sent ? " got no whole answer" : " was not sent");
    text.append(": ").append(shown(std::string{problem})).append(". See http#no-answer");
    return sent ? service_answer::unknown(std::move(text))
                : service_answer::unavailable(std::move(text));
}

SETTLE_FUNCTION service_answer answer_reader::unsent(service_call const& call,
                                                     std::string_view limit) const {
    return service_answer::unsent(missing(call, false, limit).text);
}

} // namespace http::detail
SETTLE_END
