// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver.hpp declares.
#pragma once

#include <settle/receiver.hpp>

#include <settle/base/json_reader.hpp>
#include <settle/base/utf8.hpp>
#include <settle/definition/canonical.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION service_answer answer_of(receiver_decision const& decided, service_call const& call,
                                         std::string_view kept) {
    std::string_view text = decided.text;
    if (text.empty() && call.operation == call_operation::apply) text = kept;
    return {decided.reply, std::string{text}};
}

/// True for a call whose request its row is made for.
[[nodiscard]] inline bool makes_row(service_call const& call) {
    return call.operation == call_operation::apply ||
           (call.operation == call_operation::confirm && !call.has_apply);
}

/// True for a text that a sender may also write as a number: see http#numbers.
[[nodiscard]] SETTLE_FUNCTION bool is_long_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    constexpr std::size_t fewest = 16; // 2^53 has as many digits
    return text.size() >= fewest && text.find_first_not_of("0123456789") == text.npos;
}

/// A fingerprint of a request; the same for JSON with other white space, and for a large number
/// that is written as a text. Empty without a request.
[[nodiscard]] SETTLE_FUNCTION std::string fingerprint_of_request(std::string_view request) {
    if (request.empty()) return {};
    std::string plain;
    plain.reserve(request.size());
    for (std::size_t index = 0; index < request.size(); ++index) {
        char const each = request[index];
        if (each == ' ' || each == '\t' || each == '\r' || each == '\n') continue;
        auto end = index;
        if (each == '"') {
            for (bool is_escape = true; is_escape && end < request.size();) {
                end = request.find_first_of("\"\\", end + 1);
                is_escape = end < request.size() && request[end] == '\\';
                if (is_escape) ++end;
            }
            end = std::min(end, request.size() - 1);
        }
        auto const token = request.substr(index, end + 1 - index);
        bool const is_text = token.size() >= 2;
        auto const inside = is_text ? token.substr(1, token.size() - 2) : token;
        plain.append(is_text && is_long_number(inside) ? inside : token);
        index = end;
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(16, '0');
    auto number = fingerprint(plain);
    for (auto at = text.rbegin(); at != text.rend(); ++at, number >>= 4U) {
        *at = digits[number & 15U];
    }
    return text;
}

SETTLE_FUNCTION std::optional<service_answer>
answer_of_another_request(receiver_row& row, service_call const& call, bool& changed) {
    std::string_view const noted = row.request;
    auto const first = noted.substr(0, noted.find(' '));
    auto const others = noted.substr(first.size());
    if (first.empty() || call.operation == call_operation::query) return std::nullopt;
    auto const request = fingerprint_of_request(call.request);
    bool const is_other = !request.empty() && request != first;
    std::string const text = "settle: the key '" + std::string{call.key} +
                             "' came with two requests, and this call takes no effect. Look "
                             "whether two logs have one name. See receivers#another-request";
    if (makes_row(call)) {
        if (!is_other) return std::nullopt;
        constexpr std::size_t most = 8;
        changed = others.find(request) == std::string_view::npos && others.size() < most * 17;
        if (changed) row.request.append(" ").append(request);
        // A confirm cannot be refused.
        return call.operation == call_operation::apply ? service_answer::refused(text)
                                                       : service_answer::unavailable(text);
    }
    // The sender whose apply was refused compensates it, and must not undo the other's effect.
    if (call.operation != call_operation::compensate || others.empty() || !is_other) {
        return std::nullopt;
    }
    return others.find(request) != std::string_view::npos ? service_answer::ok()
                                                          : service_answer::unavailable(text);
}

SETTLE_FUNCTION receiver_row new_row(service_call const& call, timestamp now) {
    receiver_row row;
    row.key = call.key;
    row.standing = {receiver_status::closed, call.has_apply, call.last_moment};
    if (makes_row(call)) row.request = fingerprint_of_request(call.request);
    row.service = call.service;
    row.transaction = call.transaction;
    row.participant = call.participant;
    row.line = call.line;
    row.created = now;
    row.modified = now;
    return row;
}

SETTLE_FUNCTION std::string fault_of_key(std::string_view key) {
    constexpr std::size_t longest = 1024;
    std::string_view fault;
    if (key.empty()) fault = "is empty";
    else if (key.size() > longest) fault = "has more than 1024 bytes";
    else fault = fault_of_text(key);
    if (fault.empty()) return {};
    return "settle: the key of the call " + std::string{fault} +
           ". Send the call's idempotency key unchanged. See receivers#what-a-call-does";
}

SETTLE_FUNCTION service_answer answer_of_missing(service_call const& call) {
    return service_answer::unavailable(
        "settle: the handler of '" + std::string{call.service} + "' has no '" +
        std::string{name_of(call.operation)} +
        "'. Add it, or correct the definition of the sender. See receivers#handlers");
}

SETTLE_FUNCTION service_answer answer_of_uncommitted(commit_result const& ended) {
    if (ended.status == commit_status::unknown) {
        return service_answer::unknown(ended.problem.message());
    }
    return service_answer::unavailable(ended.problem.message());
}

SETTLE_FUNCTION void take_back(std::span<service_answer> answers) {
    for (service_answer& one : answers) one = {};
}

SETTLE_FUNCTION error problem_of_uncommitted(commit_result const& ended) {
    bool const unknown = ended.status == commit_status::unknown;
    if (!unknown || ended.problem.code == condition::unknown) return ended.problem;
    return {make_error_code(errc::call_unknown), ended.problem.message()};
}

SETTLE_FUNCTION service_answer answer_of_undone_work(service_call const& call) {
    return service_answer::unavailable(
        "settle: the database has undone the work of the handler of '" + std::string{call.service} +
        "', which answered ok. Send the call again. See receivers#another-database");
}

/// The error of a handler's text, or an empty text.
SETTLE_FUNCTION std::string fault_of_answer(service_answer const& answer, service_call const& call,
                                            receiver_options const& options) {
    auto const say = [&](std::string fault) {
        return "settle: the handler of '" + std::string{call.service} + "' answered a " +
               (answer.status == call_status::ok ? "result" : "reason") + " that " +
               std::move(fault) + ". See receivers#handlers";
    };
    if (answer.text.size() > options.largest_result) {
        return say("has " + std::to_string(answer.text.size()) + " bytes, more than the " +
                   std::to_string(options.largest_result) +
                   " of receiver_options::largest_result. Answer less");
    }
    if (auto const fault = fault_of_text(answer.text); !fault.empty()) {
        return say(std::string{fault} + ". Answer UTF-8");
    }
    if (answer.status != call_status::ok || answer.text.empty()) return {};
    json_reader reader{answer.text};
    reader.skip_value();
    return reader.finish() ? std::string{} : say("is no JSON. Answer one JSON value");
}

SETTLE_FUNCTION service_answer checked_answer(service_answer answer, service_call const& call,
                                              receiver_options const& options) {
    bool const ends =
        call.operation == call_operation::confirm || call.operation == call_operation::compensate;
    if (answer.status == call_status::refused && ends) {
        return service_answer::unavailable("settle: the handler of '" + std::string{call.service} +
                                           "' refused a " + std::string{name_of(call.operation)} +
                                           ", which must succeed in the end: " + answer.text +
                                           ". See receivers#handlers");
    }
    if (answer.status != call_status::ok && answer.status != call_status::refused) return answer;
    // Only an apply and a query have a result.
    if (ends) return service_answer::ok();
    // The rows of PostgreSQL hold no NUL. A reason is readable without it.
    if (answer.status == call_status::refused) {
        std::replace(answer.text.begin(), answer.text.end(), '\0', ' ');
    }
    auto fault = fault_of_answer(answer, call, options);
    // Every other try would have the same answer.
    if (!fault.empty()) return service_answer::refused(std::move(fault));
    return {answer.status, std::move(answer.text)};
}

SETTLE_FUNCTION void check_options(receiver_options const& options) {
    if (options.clocks.count() >= 0) return;
    throw failure({make_error_code(errc::bad_option),
                   "settle: receiver_options::clocks is " + std::to_string(options.clocks.count()) +
                       " ms. Give it 0 or more. See receivers#purge"});
}

} // namespace detail
SETTLE_END
