// SPDX-License-Identifier: BSL-1.0
// Calls of services as a client gets them, and their answers. The author of a client reads this
// file first.
//
// A client is an object that outlives its engines. It has
//
//   send(calls, answers)   Makes the calls and sets the answer of each. The calls may be of several
//       transactions and operations; the client may make them at the same time. An answer that is
//       not set is `unknown`, and so is every call without an answer when send() throws. send()
//       returns within a time that the client bounds by itself, for example by a time-out.
//   send(calls, answers, limits)   Optional. As above, and returns soon after the limits are over.
//       A call under way is then `unknown`, and a call that has not begun is `unavailable`. Without
//       it, a call of an engine can end much later than its deadline or a stop request.
//   start(calls)           Optional: begins calls, and returns at once. The engine then uses it in
//       place of send(), and each transaction goes on when its own answer is there. Each call is a
//       std::shared_ptr<call_under_way>: the client says begin() before the service may get it, and
//       answer() once, from any thread. A call of which the client keeps no pointer is `unknown`.
//       The client bounds the time of each call, as send() does.
//
// Every call may be repeated, by any process and at any later time, with the same key. Only the
// receiver makes a repetition harmless: see receiver_grade.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/trace_context.hpp>
#include <settle/protocol/call.hpp>
#include <settle/protocol/entry.hpp>
#include <settle/store/caller_wait.hpp>

#include <array>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

SETTLE_BEGIN

/// One call of a service.
/// Shape:   texts outlive the client's send()
struct service_call {
    std::string_view service; ///< the name of the service in the definition
    call_operation operation;
    /// The idempotency key: the log, the transaction and the part. It is the same for every
    /// operation, try, worker, takeover and restart.
    std::string_view key;
    std::string_view transaction; ///< the id
    std::string_view participant;
    std::optional<std::uint32_t> line; ///< the line of the participant, in a range
    epoch epoch_number;                ///< for a reader; a receiver needs no epoch
    /// A receiver refuses a first apply after this moment.
    timestamp last_moment;
    std::string_view request; ///< JSON
    /// JSON: the result of the part's apply, if it is known; empty otherwise.
    std::string_view result;
    /// True if the part has an apply. If it has none, its confirm takes effect by itself.
    bool has_apply = true;
    /// True if an earlier try of this call may have arrived, and its outcome is not known. The
    /// service may still be at work on it.
    bool may_be_under_way = false;
    /// True if an `ok` of an apply or a query has a result.
    bool gives_result = true;
    /// The W3C trace context: of the entry; in a receiver over HTTP, of the call itself. Empty if
    /// there is none.
    std::string_view traceparent{};
    std::uint32_t tries = 0; ///< of this call before this one, that have failed
};

namespace detail {

/// The texts of a call, which a client that outlives its caller copies.
[[nodiscard]] inline std::array<std::string_view*, 7> texts_of(service_call& call) {
    return {&call.service, &call.key,    &call.transaction, &call.participant,
            &call.request, &call.result, &call.traceparent};
}

} // namespace detail

/// The traceparent that a client sends to the receiver of a call; empty if the entry has none. The
/// span of the call is below that of its transaction, `child_of(call.traceparent,
/// call.transaction)`. Each try of each operation has a span of its own.
[[nodiscard]] inline std::string traceparent_of(service_call const& call) {
    if (call.traceparent.empty()) return {};
    std::string name{call.key};
    name.append("/").append(name_of(call.operation));
    name.append("/").append(std::to_string(call.epoch_number));
    name.append("/").append(std::to_string(call.tries));
    return child_of(child_of(call.traceparent, call.transaction), name);
}

/// The answer to one call.
struct service_answer {
    call_status status = call_status::unknown;
    /// ok: the result as JSON, for an apply or a query. refused: the reason for a person.
    /// Otherwise: the cause.
    std::string text;
    /// The pause that the receiver asks for before the call is sent again.
    std::optional<std::chrono::milliseconds> retry_after{};
    /// True if only a person can change the answer, for example with other credentials. The
    /// transaction is then stuck at once.
    bool for_person = false;
    /// True if the client did not send the call for a reason of its own, such as a limit: the call
    /// does not count as a try.
    bool not_sent = false;

    [[nodiscard]] static service_answer ok(std::string result_json = {}) {
        return {call_status::ok, std::move(result_json)};
    }
    [[nodiscard]] static service_answer refused(std::string why) {
        return {call_status::refused, std::move(why)};
    }
    [[nodiscard]] static service_answer unavailable(std::string why) {
        return {call_status::unavailable, std::move(why)};
    }
    [[nodiscard]] static service_answer unknown(std::string why) {
        return {call_status::unknown, std::move(why)};
    }
    /// Shape:   why - the client's own reason
    [[nodiscard]] static service_answer unsent(std::string why) {
        auto answer = unavailable(std::move(why));
        answer.not_sent = true;
        return answer;
    }

    friend bool operator==(service_answer const&, service_answer const&) = default;
};

/// The number of answers of each kind that an engine has taken for the calls of a service. A call
/// that was made again counts again.
struct call_counts {
    std::string_view service;
    std::uint64_t ok = 0;
    std::uint64_t refused = 0;
    std::uint64_t unavailable = 0;
    std::uint64_t unknown = 0;
    std::uint64_t unsent = 0; ///< the client did not send them, for a reason of its own

    friend bool operator==(call_counts const&, call_counts const&) = default;
};

/// A client of one or several services. See the head of this file.
template <typename Client>
concept ServiceClient =
    requires(Client& client, std::span<service_call const> calls,
             std::span<service_answer> answers) { client.send(calls, answers); };

SETTLE_END
