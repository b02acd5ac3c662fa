// SPDX-License-Identifier: BSL-1.0
// Spans of transactions and of their calls, as JSON for a collector of OpenTelemetry.
#pragma once

#include <settle/base/environment.hpp>
#include <settle/base/json_writer.hpp>
#include <settle/base/trace_context.hpp>
#include <settle/kinds/services/service.hpp>
#include <settle/running/driving/observer.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace samples {

/// Threads may share an object.
/// Source:  OTLP 1.0, JSON over HTTP: the body of `POST /v1/traces`
class otlp_spans {
public:
    /// An observer calls this with each event. A transaction has one span, from the program that
    /// ends it.
    void see(settle::event const& seen) {
        if (!seen.ends() || !is_sampled(seen.traceparent)) return;
        bool const is_done = seen.state == settle::state::done;
        add({seen.traceparent, settle::child_of(seen.traceparent, seen.id), seen.type, internal,
             seen.created, seen.when, is_done ? "" : name_of(seen.why)});
    }
    void see(settle::service_call const& call, settle::service_answer const& answer,
             settle::timestamp begun, settle::timestamp ended) {
        if (!is_sampled(call.traceparent)) return;
        bool const is_ok = answer.status == settle::call_status::ok;
        auto const name = std::string{call.participant}.append(" ").append(name_of(call.operation));
        add({settle::child_of(call.traceparent, call.transaction), settle::traceparent_of(call),
             name, client, begun, ended, is_ok ? "" : name_of(answer.status)});
    }
    /// The spans since the last call; empty if there are none.
    /// Shape:   service - the name of this program
    std::string take(std::string_view service) {
        std::scoped_lock const guard{lock_};
        if (spans_.empty()) return {};
        std::string body = R"({"resourceSpans":[{"resource":{"attributes":[)"
                           R"({"key":"service.name","value":{"stringValue":)";
        settle::append_json_text(body, service);
        body += R"(}}]},"scopeSpans":[{"scope":{"name":"settle"},"spans":[)";
        return body + std::exchange(spans_, {}) + "]}]}]}";
    }

private:
    enum kind : int { internal = 1, client = 3 };
    struct span {
        std::string_view parent; ///< a traceparent, as the next member
        std::string own;
        std::string_view name;
        kind what;
        settle::timestamp begun, ended;
        std::string_view problem; ///< empty if it went well
    };

    static bool is_sampled(std::string_view traceparent) {
        constexpr std::string_view digits = "0123456789abcdef";
        return !traceparent.empty() && digits.find(traceparent.back()) % 2 == 1;
    }
    void add(span const& added) {
        std::string json = R"({"traceId":")";
        json.append(settle::trace_of(added.own)).append(R"(","spanId":")");
        json.append(settle::span_of(added.own)).append(R"(","parentSpanId":")");
        json.append(settle::span_of(added.parent)).append(R"(","name":)");
        settle::append_json_text(json, added.name);
        json.append(R"(,"kind":)").append(std::to_string(added.what));
        auto const add_time = [&](std::string_view name, settle::timestamp when) {
            std::chrono::nanoseconds const since_1970 = when.time_since_epoch();
            json.append(",\"").append(name).append("\":\"");
            json.append(std::to_string(since_1970.count())).append("\"");
        };
        add_time("startTimeUnixNano", added.begun);
        add_time("endTimeUnixNano", std::max(added.begun, added.ended));
        json.append(R"(,"status":{"code":)").append(added.problem.empty() ? "1" : "2");
        json.append(R"(,"message":)");
        settle::append_json_text(json, added.problem);
        std::scoped_lock const guard{lock_};
        if (!spans_.empty()) spans_ += ',';
        spans_.append(json).append("}}");
    }

    std::mutex lock_;
    std::string spans_;
};

/// A client that notes the calls of another. The calls of a wave count as ended together.
template <typename Client>
class traced_client {
public:
    traced_client(Client& client, otlp_spans& spans) : client_(client), spans_(spans) {}

    void send(std::span<settle::service_call const> calls,
              std::span<settle::service_answer> answers, settle::wait_limits const& limits = {}) {
        settle::system_environment const clock;
        auto const begun = clock.now();
        client_.send(calls, answers, limits);
        auto const ended = clock.now();
        for (std::size_t index = 0; index < calls.size(); ++index) {
            spans_.see(calls[index], answers[index], begun, ended);
        }
    }

private:
    Client& client_;
    otlp_spans& spans_;
};

} // namespace samples
