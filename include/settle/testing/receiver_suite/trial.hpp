// SPDX-License-Identifier: BSL-1.0
// The suite for receivers: its description of a receiver, and calls whose effects are counted.
#pragma once

#include <settle/base/environment.hpp>
#include <settle/base/function_view.hpp>
#include <settle/definition/grade.hpp>
#include <settle/kinds/services/service.hpp>
#include <settle/protocol/fresh.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// The description of a receiver, for the suite.
struct receiver_description {
    std::string service = "service"; ///< the name of the service
    std::string accepted;            ///< JSON: the request of an apply that is accepted each time
    /// JSON: the request of an apply that is refused each time. If it is empty, the receiver has no
    /// grade that keeps refusals.
    std::string refused{};
    /// JSON: the request of a query. If it is empty, the suite makes no query.
    std::string query{};
    /// The number of applies that took effect and were not compensated, of all keys.
    std::function<std::int64_t()> effects{};
    /// The number of confirms that took effect. If it is empty, the suite calls no confirm.
    std::function<std::int64_t()> confirms{};
    /// True if the service also takes confirms of parts without an apply, which take effect by
    /// themselves, and `confirms` counts them.
    bool confirms_alone = false;
    /// Closes a key; returns false if its apply took effect before. If it is empty, the receiver
    /// has no grade that closes keys.
    std::function<bool(std::string_view key)> close{};
    /// Ends the receiver and starts it again. If it is empty, the suite restarts nothing.
    std::function<void()> restart{};
    /// The time of the receiver's clock.
    std::function<timestamp()> now = [] { return system_environment{}.now(); };
    /// How long the suite repeats a call that is `unavailable`.
    std::chrono::milliseconds patience{5000};
};

namespace receivers {

/// A call that got no answer: the receiver cannot be graded.
class not_answered : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The effects of some calls.
struct change_of {
    std::int64_t effects = 0;
    std::int64_t confirms = 0;
    friend bool operator==(change_of const&, change_of const&) = default;
};

/// Makes calls, and counts the effects since the last look.
class trial {
public:
    using sender = std::function<void(std::span<service_call const>, std::span<service_answer>)>;

    trial(receiver_description const& description, sender send)
        : of_(&description), send_(std::move(send)) {
        prefix_ = "suite-" + fresh_id(system_environment{}) + "/";
    }

    [[nodiscard]] receiver_description const& of() const { return *of_; }
    /// A key that no other case uses.
    [[nodiscard]] std::string key() { return prefix_ + std::to_string(++keys_); }

    [[nodiscard]] service_call call(call_operation operation, std::string_view key) const {
        service_call call{};
        call.service = of_->service;
        call.operation = operation;
        call.key = key;
        call.transaction = key;
        call.participant = "part";
        call.epoch_number = 1;
        call.last_moment = of_->now() + std::chrono::hours{24};
        call.request = of_->accepted;
        return call;
    }

    service_answer apply(std::string_view key) { return send(call(call_operation::apply, key)); }
    service_answer confirm(std::string_view key) {
        return send(call(call_operation::confirm, key));
    }
    /// A confirm of a part without an apply.
    [[nodiscard]] service_call confirm_alone(std::string_view key) const {
        auto made = call(call_operation::confirm, key);
        made.has_apply = false;
        return made;
    }
    service_answer query(std::string_view key) {
        auto made = call(call_operation::query, key);
        made.request = of_->query;
        return send(made);
    }
    service_answer compensate(std::string_view key) {
        return send(call(call_operation::compensate, key));
    }
    /// An apply with the request that is refused.
    service_answer apply_refused(std::string_view key) {
        auto made = call(call_operation::apply, key);
        made.request = of_->refused;
        return send(made);
    }

    /// Errors:  throws not_answered if the receiver now refuses what it must accept each time: a
    ///          service whose seats are sold fails every case
    void check_room() {
        std::string const fresh = key();
        auto const answer = apply(fresh);
        if (answer.status != call_status::refused) return;
        throw not_answered{"settle: the receiver cannot be graded, since it refuses the request "
                           "receiver_description::accepted: " +
                           answer.text +
                           ". Give the service room for 50 effects. See "
                           "receivers#grade-a-receiver"};
    }

    /// Makes one call, again while it is unavailable.
    /// Errors:  throws not_answered
    service_answer send(service_call const& call) {
        auto const until = std::chrono::steady_clock::now() + of_->patience;
        for (;;) {
            service_answer answer;
            send_({&call, 1}, {&answer, 1});
            if (answer.status == call_status::unknown) fail(call, answer, "unknown");
            if (answer.status != call_status::unavailable) return answer;
            if (std::chrono::steady_clock::now() >= until) fail(call, answer, "unavailable");
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
    }
    /// Makes calls at the same time, if the client does so. Any answer may be `unavailable`.
    std::vector<service_answer> send_all(std::span<service_call const> calls) {
        std::vector<service_answer> answers(calls.size());
        send_(calls, answers);
        return answers;
    }

    /// The effects since the last look.
    [[nodiscard]] change_of look() {
        change_of const seen{of_->effects(), of_->confirms ? of_->confirms() : 0};
        change_of const before = std::exchange(seen_, seen);
        return {seen.effects - before.effects, seen.confirms - before.confirms};
    }

private:
    [[noreturn]] void fail(service_call const& call, service_answer const& answer,
                           std::string_view what) const {
        std::string text{"settle: the receiver cannot be graded, since a call of "};
        text.append(name_of(call.operation)).append(" is ").append(what).append(": ");
        throw not_answered{text.append(answer.text).append(". See receivers#grade-a-receiver")};
    }

    receiver_description const* of_;
    sender send_;
    std::string prefix_;
    std::size_t keys_ = 0;
    change_of seen_;
};

/// Why a description cannot be used, or an empty text.
[[nodiscard]] inline std::string fault_of(receiver_description const& description) {
    if (!description.effects)
        return "settle: receiver_description::effects is empty. Give it a function "
               "that counts. See receivers#grade-a-receiver";
    if (description.accepted.empty())
        return "settle: receiver_description::accepted is empty. Give it a "
               "request. See receivers#grade-a-receiver";
    return {};
}

[[nodiscard]] inline std::string text_of(receiver_grade grade) {
    if (grade == barrier) return "barrier";
    constexpr std::string_view memories[]{"plain", "remembers_keys", "rows for keys"};
    std::string text{memories[static_cast<std::size_t>(grade.remembers)]};
    if (grade.keeps_refusals) text += " | keeps_refusals";
    if (grade.closes_keys) text += " | closes_keys";
    return text;
}

} // namespace receivers
} // namespace testing
SETTLE_END
