// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that answer.hpp declares.
#pragma once

#include <settle/http/answer.hpp>

#include <settle/http/wire.hpp>
#include <settle/store/json_reader.hpp>
#include <settle/store/utf8.hpp>

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
    for (auto const& [name, value] : settings.headers) {
        if (value.empty()) continue;
        secrets_.push_back(value);
        // A text may show the token of "Bearer TOKEN" alone.
        if (auto const space = value.rfind(' '); space != std::string::npos) {
            if (space + 1 < value.size()) secrets_.push_back(value.substr(space + 1));
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
    std::string_view const whole{text};
    auto kept = whole.substr(0, settle::detail::utf8_prefix(whole.substr(0, longest)));
    std::string line{kept};
    for (char& each : line) {
        if (static_cast<unsigned char>(each) < 0x20U || each == 0x7F) each = ' ';
    }
    while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
    return kept.size() < whole.size() ? line.append(" …") : line;
}

SETTLE_FUNCTION std::string answer_reader::reason_of(http_answer const& answer) const {
    auto const type = media_type(answer.content_type);
    if (type == "text/plain" && is_utf8(answer.body)) return shown(std::string{answer.body});
    if (!is_json_type(type)) return {};
    // The members of RFC 9457 are the last two.
    constexpr std::array<std::string_view, 3> names{"reason", "detail", "title"};
    std::array<std::string, names.size()> found;
    std::string reason;
    json_reader reader{answer.body};
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

SETTLE_FUNCTION std::string_view answer_reader::fault_of_result(service_call const& call,
                                                                http_answer const& answer) {
    if (answer.body.empty()) {
        bool const has_result =
            call.operation == call_operation::apply || call.operation == call_operation::query;
        bool const needed = has_result && answer.status != 204;
        return needed ? "an empty body, where 204 says that there is no result" : "";
    }
    if (!is_json_type(media_type(answer.content_type)))
        return "a body that is not JSON by its type";
    json_reader reader{answer.body};
    reader.skip_value();
    return reader.finish() ? "" : "a body that is not one JSON value in UTF-8";
}

SETTLE_FUNCTION service_answer answer_reader::read(service_call const& call,
                                                   http_answer const& answer) const {
    if (answer.key && *answer.key != idempotency_key(call)) {
        // No statement of such an answer is about this call.
        auto text = subject(call);
        text.append(" got the answer to another call. Check the proxies and caches before the "
                    "service. See http#wire-form");
        return service_answer::unknown(std::move(text));
    }
    auto const meaning = settings_.statuses.meaning(call.operation, answer.status);
    auto const got_status = [&] {
        return subject(call).append(" got status ").append(std::to_string(answer.status));
    };
    if (meaning == call_status::ok) {
        auto const fault = fault_of_result(call, answer);
        if (fault.empty()) return service_answer::ok(std::string{answer.body});
        auto text = got_status().append(" with ").append(fault);
        text.append(". Let the service answer this call again, with JSON. See http#wire-form");
        return service_answer::unknown(std::move(text));
    }
    auto reason = reason_of(answer);
    if (meaning == call_status::refused) {
        return service_answer::refused(reason.empty() ? "status " + std::to_string(answer.status)
                                                      : std::move(reason));
    }
    auto text = got_status();
    if (!reason.empty()) text.append(": ").append(reason);
    service_answer made{meaning, text.append(". See http#status-codes")};
    if (answer.retry_after) {
        made.retry_after =
            std::min<std::chrono::milliseconds>(*answer.retry_after, settings_.longest_retry_after);
    }
    return made;
}

SETTLE_FUNCTION service_answer answer_reader::missing(service_call const& call, bool sent,
                                                      std::string_view problem) const {
    auto text = subject(call);
    text.append(sent ? " got no whole answer" : " was not sent");
    text.append(": ").append(shown(std::string{problem})).append(". See http#no-answer");
    return sent ? service_answer::unknown(std::move(text))
                : service_answer::unavailable(std::move(text));
}

} // namespace http::detail
SETTLE_END
