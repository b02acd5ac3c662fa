// SPDX-License-Identifier: BSL-1.0
// A session of a store whose parts are calls of services: it hands them to a client.
#pragma once

#include <settle/kinds/services/call_under_way.hpp>
#include <settle/kinds/services/service_part.hpp>
#include <settle/store/seam.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <memory>

SETTLE_BEGIN
namespace detail {

using send_function = function_view<void(std::span<service_call const>, std::span<service_answer>,
                                         wait_limits const&)>;

template <typename Client>
concept waits_in_limits =
    requires(Client& client, std::span<service_call const> calls, std::span<service_answer> answers,
             wait_limits const& limits) { client.send(calls, answers, limits); };

/// Shape:   limits - a client that does not look at them bounds its send() by itself
template <typename Client>
void send_within(Client& client, std::span<service_call const> calls,
                 std::span<service_answer> answers, wait_limits const& limits) {
    if constexpr (waits_in_limits<Client>) client.send(calls, answers, limits);
    else client.send(calls, answers);
}

/// Counts the answers of a service. Threads may share it.
class answer_counter {
public:
    void add(service_answer const& reply) noexcept {
        auto& counted = reply.not_sent ? unsent_ : counts_[static_cast<std::size_t>(reply.status)];
        counted.fetch_add(1, std::memory_order_relaxed);
    }
    [[nodiscard]] call_counts read(std::string_view service) const noexcept {
        return {service,
                count(call_status::ok),
                count(call_status::refused),
                count(call_status::unavailable),
                count(call_status::unknown),
                unsent_.load(std::memory_order_relaxed)};
    }

private:
    [[nodiscard]] std::uint64_t count(call_status status) const noexcept {
        return counts_[static_cast<std::size_t>(status)].load(std::memory_order_relaxed);
    }

    std::array<std::atomic<std::uint64_t>, 4> counts_{};
    std::atomic<std::uint64_t> unsent_ = 0;
};

/// Executes part requests as calls, all calls of one moment in one send().
/// Shape:   log - the name of the log, which is part of each key
void execute_calls(std::string const& log, std::span<part_request const> requests,
                   std::span<part_result> results, send_function send);

using call_counter = std::function<void(service_call const&, service_answer const&)>;

/// The calls of one job. The first go_on() begins them.
/// Shape:   log, requests, results - outlive the object, or go_on() moves it; count - is called
/// with
///          each answer
[[nodiscard]] std::unique_ptr<parts_under_way> begin_calls(std::string const& log,
                                                           std::span<part_request const> requests,
                                                           std::span<part_result> results,
                                                           call_counter count);

} // namespace detail

/// The idempotency key of a part's call: `log/transaction/participant`, and `/line` in a range.
/// No two parts share a key: the names of logs and participants have no `/`, the name of a
/// participant begins with a letter, and a line is a number. So the log, the participant and the
/// line can be read from the ends of a key. The text between them is the id, which may have a `/`.
[[nodiscard]] std::string call_key(std::string_view log, part_request const& request);

/// A session of a store, see store/seam.hpp. It has no record, mark or state of its own.
/// Shape:   Client - a ServiceClient; Services - settle::service<…>
template <typename Client, typename... Services>
class service_session {
public:
    service_session(Client& client, std::string log) : client_(client), log_(std::move(log)) {}

    template <typename Target>
    struct holds : std::bool_constant<(std::is_same_v<Target, Services> || ...)> {};

    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        detail::execute_calls(log_, requests, results,
                              [this](std::span<service_call const> calls,
                                     std::span<service_answer> answers, wait_limits const& limits) {
                                  answered const counted{*this, calls, answers};
                                  detail::send_within(client_, calls, answers, limits);
                              });
    }
    /// Makes the calls of one job while the engine goes on.
    [[nodiscard]] std::unique_ptr<detail::parts_under_way>
    begin(std::span<part_request const> requests, std::span<part_result> results)
        requires StartingClient<Client>
    {
        return detail::begin_calls(
            log_, requests, results,
            [this](service_call const& call, service_answer const& reply) { count(call, reply); });
    }
    /// Passes the calls of all jobs to the client.
    void start(detail::started_parts& started)
        requires StartingClient<Client>
    {
        detail::start_calls(started.calls, [this](calls_to_start calls) { client_.start(calls); });
    }
    void append_counts(std::vector<call_counts>& to) const {
        for (std::size_t at = 0; at < names.size(); ++at)
            to.push_back((*counters_)[at].read(names[at]));
    }
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const&, std::size_t) {
        return std::vector<mark_locator>{};
    }
    result<answer> resolve(mark_locator const&, bool) { return answer::nothing; }

private:
    static constexpr std::array<std::string_view, sizeof...(Services)> names{Services::name...};

    /// Counts the answers at the end of a send(), also if it throws.
    struct answered {
        service_session& session;
        std::span<service_call const> calls;
        std::span<service_answer> answers;

        ~answered() {
            for (std::size_t at = 0; at < calls.size(); ++at) session.count(calls[at], answers[at]);
        }
    };
    void count(service_call const& call, service_answer const& reply) noexcept {
        for (std::size_t at = 0; at < names.size(); ++at) {
            if (call.service == names[at]) (*counters_)[at].add(reply);
        }
    }

    Client& client_;
    std::string log_;
    /// Sessions can be moved, and atomic numbers cannot.
    std::shared_ptr<std::array<detail::answer_counter, sizeof...(Services)>> counters_ =
        std::make_shared<std::array<detail::answer_counter, sizeof...(Services)>>();
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/kinds/services/service_session.ipp>
#endif
