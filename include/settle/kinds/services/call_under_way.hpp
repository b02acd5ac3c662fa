// SPDX-License-Identifier: BSL-1.0
// A call of a service whose answer comes later. The engine and the client share it.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/kinds/services/service.hpp>
#include <settle/store/parts_under_way.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

SETTLE_BEGIN

/// A call that a client makes while the engine goes on. See start() in service.hpp.
class call_under_way {
public:
    /// Shape:   call - copied with its texts
    call_under_way(service_call const& call, std::shared_ptr<detail::answer_signal> signal);
    call_under_way(call_under_way const&) = delete;
    call_under_way& operator=(call_under_way const&) = delete;
    ~call_under_way() = default;

    /// The call; its texts are valid as long as this object.
    [[nodiscard]] service_call const& call() const noexcept { return call_; }

    /// The client calls this before the service may get the call. If it returns false, nobody waits
    /// for an answer, and the client must not make the call.
    [[nodiscard]] bool begin();
    /// Sets the answer, once and from any thread. A later answer has no effect, and so has an
    /// answer for which nobody waits.
    void answer(service_answer&& given);
    /// False once there is an answer, or nobody waits for one. The client may then end the call.
    [[nodiscard]] bool is_awaited() const noexcept { return !settled_.load(); }

    // The caller's side.

    [[nodiscard]] bool is_answered() const noexcept { return settled_.load(); }
    /// Waits no longer. A call that has begun is then `unknown`, and any other is `unavailable`.
    void give_up(std::string_view limit);
    /// Shape:   it is answered, and the client has no part in it any more
    [[nodiscard]] service_answer take_answer();

private:
    /// Shape:   mutex_ is locked
    bool settle(service_answer&& given);

    std::string texts_;
    service_call call_;
    std::shared_ptr<detail::answer_signal> signal_;
    std::mutex mutex_;
    bool begun_ = false;
    std::atomic<bool> settled_ = false;
    service_answer answer_;
};

using calls_to_start = std::span<std::shared_ptr<call_under_way> const>;

/// A client that makes calls while the engine goes on.
template <typename Client>
concept StartingClient = requires(Client& client, calls_to_start calls) { client.start(calls); };

namespace detail {

/// Passes calls to a client, whose copies of the pointers are its own: a call of which it has none
/// left is answered `unknown`, and so is each call without an answer when start() throws.
void start_calls(std::span<std::shared_ptr<call_under_way> const> calls,
                 function_view<void(calls_to_start)> start);

/// Makes calls by start(), and waits for their answers.
void send_and_wait(function_view<void(calls_to_start)> start, std::span<service_call const> calls,
                   std::span<service_answer> answers, wait_limits const& limits);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/kinds/services/call_under_way.ipp>
#endif
