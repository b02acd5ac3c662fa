// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that http.hpp declares.
#pragma once

#include <settle/http.hpp>

#include <settle/base/process.hpp>
#include <settle/http/session.hpp>

#include <utility>

SETTLE_BEGIN
namespace http {

struct client::state {
    state(std::string_view address, options settings)
        : calls(std::make_shared<detail::client_calls>(address, std::move(settings))),
          session(detail::session::of_process()) {
        session->note_client();
    }

    process_stamp made_in;
    std::shared_ptr<detail::client_calls> calls;
    std::shared_ptr<detail::session> session;
};

SETTLE_FUNCTION client::client(std::string_view address, options settings)
    : state_(std::make_unique<state>(address, std::move(settings))) {}

SETTLE_FUNCTION client::~client() {
    // A child would end the TLS sessions of its parent.
    if (!state_->made_in.is_here()) {
        static_cast<void>(state_.release());
        return;
    }
    state_->calls->is_closed = true;
    state_->session->end_client();
}

SETTLE_FUNCTION result<std::unique_ptr<client>> client::open(std::string_view address,
                                                             options settings) {
    try {
        return std::make_unique<client>(address, std::move(settings));
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION void client::start(calls_to_start calls) {
    if (!state_->made_in.is_here()) {
        auto const text = settle::detail::made_before_fork("client").text;
        for (auto const& call : calls) call->answer(service_answer::unavailable(text));
        return;
    }
    state_->session->start(state_->calls, calls);
}

SETTLE_FUNCTION void client::share(std::size_t processes,
                                   std::chrono::steady_clock::time_point until) noexcept {
    state_->calls->processes = processes;
    state_->calls->shared_until = until;
}

SETTLE_FUNCTION void client::send(std::span<service_call const> calls,
                                  std::span<service_answer> answers, wait_limits const& limits) {
    settle::detail::send_and_wait([this](calls_to_start started) { start(started); }, calls,
                                  answers, limits);
}

} // namespace http
SETTLE_END
