// SPDX-License-Identifier: BSL-1.0
// The part of P2300 that a sender needs, as a library for tests: the compilers have none.
#pragma once

#include <future>
#include <stop_token>
#include <utility>

namespace small_senders {

struct sender_t {};
struct receiver_t {};
struct operation_state_t {};
struct set_value_t {
    template <typename Receiver, typename... Values>
    void operator()(Receiver&& to, Values&&... values) const noexcept {
        std::forward<Receiver>(to).set_value(std::forward<Values>(values)...);
    }
};
inline constexpr set_value_t set_value{};
template <typename... Signatures>
struct completion_signatures {};

inline constexpr struct get_env_t {
    template <typename Receiver>
    auto operator()(Receiver const& of) const noexcept {
        return of.get_env();
    }
} get_env{};

/// A stop token with the member that the paper asks for.
struct stop_token : std::stop_token {
    template <typename Callback>
    using callback_type = std::stop_callback<Callback>;
};
inline constexpr struct get_stop_token_t {
    template <typename Environment>
    stop_token operator()(Environment const& of) const noexcept {
        return {of.stop};
    }
} get_stop_token{};

struct environment {
    std::stop_token stop;
};

template <typename Value>
struct receiver {
    using receiver_concept = receiver_t;
    std::promise<Value>* to;
    std::stop_token stop;

    void set_value(Value given) && noexcept { to->set_value(std::move(given)); }
    [[nodiscard]] environment get_env() const noexcept { return {stop}; }
};

template <typename Value>
Value value_of(completion_signatures<set_value_t(Value)>);

/// Starts a sender of one value, and waits for the value.
template <typename Sender>
auto sync_wait(Sender const& sender, std::stop_token const& stop) {
    using value = decltype(value_of(typename Sender::completion_signatures{}));
    std::promise<value> promise;
    auto operation = sender.connect(receiver<value>{&promise, stop});
    operation.start();
    return promise.get_future().get();
}

} // namespace small_senders
