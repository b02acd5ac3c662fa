// SPDX-License-Identifier: BSL-1.0
// Makes the calls of services, with the faults that a plan gives: lost answers, late calls, crashes
// before or after the calls.
#pragma once

#include <settle/kinds/services/service_session.hpp>
#include <settle/testing/faults.hpp>

SETTLE_BEGIN
namespace testing::detail {

/// Copies of calls that are made later; their answers are dropped.
class kept_service_calls {
public:
    explicit kept_service_calls(std::span<service_call const> calls)
        : calls_(calls.begin(), calls.end()) {
        for (service_call& call : calls_) {
            for (auto* const text : settle::detail::texts_of(call)) {
                *text = texts_.emplace_back(*text);
            }
        }
    }
    kept_service_calls(kept_service_calls const&) = delete;
    kept_service_calls& operator=(kept_service_calls const&) = delete;

    template <ServiceClient Client>
    void send(Client& client) const {
        std::vector<service_answer> answers(calls_.size());
        client.send(std::span<service_call const>{calls_}, std::span{answers});
    }

private:
    std::deque<std::string> texts_;
    std::vector<service_call> calls_;
};

/// A client that makes calls through another client, or loses them. It records a crash and throws
/// nothing, since a service session treats an exception of its client as a lost answer.
template <ServiceClient Client>
class fault_sender {
public:
    explicit fault_sender(Client& inner) : inner_(&inner) {}

    [[nodiscard]] fault_source& source() { return source_; }
    [[nodiscard]] bool crashed() const { return crashed_; }
    void end_crash() { crashed_ = false; }

    void send(std::span<service_call const> calls, std::span<service_answer> answers) {
        if (calls.empty() || crashed_) return;
        auto const planned = next_fault(calls);
        if (!planned) return;
        std::vector<std::size_t> sent;
        std::vector<service_call> usual;
        std::vector<service_call> hit;
        for (std::size_t index = 0; index < calls.size(); ++index) {
            if (takes_no_effect(planned->kind) && hits(*planned, index)) {
                hit.push_back(calls[index]);
            } else {
                sent.push_back(index);
                usual.push_back(calls[index]);
            }
        }
        if (planned->kind == fault_kind::late) {
            source_.keep([kept = std::make_shared<kept_service_calls>(hit), inner = inner_] {
                kept->send(*inner);
            });
        }
        std::vector<service_answer> given(usual.size());
        if (!usual.empty()) inner_->send(std::span<service_call const>{usual}, std::span{given});
        crashed_ = planned->kind == fault_kind::crash_after;
        if (crashed_) return;
        for (std::size_t at = 0; at < sent.size(); ++at) answers[sent[at]] = std::move(given[at]);
        lose(*planned, answers);
    }

private:
    std::optional<fault> next_fault(std::span<service_call const> calls) {
        try {
            return source_.next_fault(name_of(calls.front().operation), false, calls.size());
        } catch (crash const&) {
            crashed_ = true;
            return std::nullopt;
        }
    }
    static void lose(fault const& planned, std::span<service_answer> answers) {
        if (planned.kind == fault_kind::none) return;
        bool const certain = planned.kind == fault_kind::unavailable;
        auto const text = lost(planned.kind).text;
        for (std::size_t index = 0; index < answers.size(); ++index) {
            if (!hits(planned, index)) continue;
            answers[index] =
                certain ? service_answer::unavailable(text) : service_answer::unknown(text);
        }
    }

    Client* inner_;
    fault_source source_;
    bool crashed_ = false;
};

/// A session of a service that ends its worker in a crash of the sender.
/// Shape:   Sender - a ServiceClient with crashed() and end_crash()
template <typename Sender, typename... Services>
class crashing_session : public service_session<Sender, Services...> {
    using base = service_session<Sender, Services...>;

public:
    crashing_session(Sender& sender, std::string const& log)
        : base(sender, log), sender_(&sender) {}

    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        base::execute(requests, results);
        if (!sender_->crashed()) return;
        sender_->end_crash();
        throw crash{};
    }

private:
    Sender* sender_;
};

} // namespace testing::detail
SETTLE_END
