// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that http.hpp declares.
#pragma once

#include <settle/http.hpp>

#include <settle/base/process.hpp>
#include <settle/http/session.hpp>

#include <mutex>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace http {

struct client::state {
    state(std::string_view address, options settings) : to(address, std::move(settings)) {}

    detail::destination to;
    process_stamp made_in;
    std::mutex lock;
    std::vector<std::unique_ptr<detail::session>> idle;
};

SETTLE_FUNCTION client::client(std::string_view address, options settings)
    : state_(std::make_unique<state>(address, std::move(settings))) {}

SETTLE_FUNCTION client::~client() {
    // A child would end the TLS sessions of its parent.
    if (!state_->made_in.is_here()) static_cast<void>(state_.release());
}

SETTLE_FUNCTION result<std::unique_ptr<client>> client::open(std::string_view address,
                                                             options settings) {
    try {
        return std::make_unique<client>(address, std::move(settings));
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION void client::send(std::span<service_call const> calls,
                                  std::span<service_answer> answers, wait_limits const& limits) {
    if (!state_->made_in.is_here()) {
        auto const text = settle::detail::made_before_fork("client").text;
        for (auto& answer : answers) answer = service_answer::unavailable(text);
        return;
    }
    std::unique_ptr<detail::session> mine;
    {
        std::lock_guard const guard{state_->lock};
        if (!state_->idle.empty()) {
            mine = std::move(state_->idle.back());
            state_->idle.pop_back();
        }
    }
    if (mine == nullptr) mine = std::make_unique<detail::session>(state_->to);
    mine->send(calls, answers, limits);
    std::lock_guard const guard{state_->lock};
    state_->idle.push_back(std::move(mine));
}

} // namespace http
SETTLE_END
