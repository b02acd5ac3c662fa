// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that call_under_way.hpp declares.
#pragma once

#include <settle/kinds/services/call_under_way.hpp>

#include <exception>
#include <utility>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION void start_calls(std::span<std::shared_ptr<call_under_way> const> calls,
                                 function_view<void(calls_to_start)> start) {
    if (calls.empty()) return;
    std::vector<std::shared_ptr<call_under_way>> of_client;
    of_client.reserve(calls.size());
    for (auto const& call : calls) {
        auto const drop = [call](call_under_way*) {
            if (call->is_awaited())
                call->answer(service_answer::unknown("the client has dropped the call"));
        };
        of_client.emplace_back(call.get(), drop);
    }
    // The client may have begun some of them.
    auto const answer_all = [&](std::string const& thrown) {
        for (auto const& call : calls) call->answer(service_answer::unknown(thrown));
    };
    try {
        start(of_client);
    } catch (std::exception const& problem) {
        answer_all(problem.what());
    } catch (...) {
        answer_all("an exception");
    }
}

SETTLE_FUNCTION void send_and_wait(function_view<void(calls_to_start)> start,
                                   std::span<service_call const> calls,
                                   std::span<service_answer> answers, wait_limits const& limits) {
    auto const signal = std::make_shared<answer_signal>();
    std::vector<std::shared_ptr<call_under_way>> started;
    started.reserve(calls.size());
    for (service_call const& call : calls)
        started.push_back(std::make_shared<call_under_way>(call, signal));
    start_calls(started, start);
    signal->wait(calls.size(), limits.deadline, limits.stop);
    for (std::size_t index = 0; index < calls.size(); ++index) {
        // The limits are over, if an answer is missing.
        if (!started[index]->is_answered()) started[index]->give_up(limits.name());
        answers[index] = started[index]->take_answer();
    }
}

} // namespace detail

SETTLE_FUNCTION call_under_way::call_under_way(service_call const& call,
                                               std::shared_ptr<detail::answer_signal> signal)
    : call_(call), signal_(std::move(signal)) {
    std::size_t length = 0;
    for (auto const* text : detail::texts_of(call_)) length += text->size();
    texts_.reserve(length);
    for (auto* text : detail::texts_of(call_)) {
        std::size_t const begin = texts_.size();
        texts_.append(*text);
        *text = std::string_view{texts_}.substr(begin);
    }
}

SETTLE_FUNCTION bool call_under_way::begin() {
    std::scoped_lock const guard{mutex_};
    begun_ = true;
    return !settled_;
}

SETTLE_FUNCTION bool call_under_way::settle(service_answer&& given) {
    if (settled_) return false;
    answer_ = std::move(given);
    settled_ = true;
    return true;
}

SETTLE_FUNCTION void call_under_way::answer(service_answer&& given) {
    std::unique_lock guard{mutex_};
    bool const is_first = settle(std::move(given));
    guard.unlock();
    if (is_first) signal_->add();
}

SETTLE_FUNCTION void call_under_way::give_up(std::string_view limit) {
    std::string why{limit};
    why += " ended the wait";
    std::scoped_lock const guard{mutex_};
    settle(begun_ ? service_answer::unknown(std::move(why))
                  : service_answer::unsent(std::move(why)));
}

SETTLE_FUNCTION service_answer call_under_way::take_answer() {
    std::scoped_lock const guard{mutex_};
    return std::exchange(answer_, {});
}

SETTLE_END
