// SPDX-License-Identifier: BSL-1.0
// Transactions with the completion tokens of Boost.Asio: use_awaitable, use_future, callbacks.
#pragma once

#include <settle/running/runner/start.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/version.hpp>

#if BOOST_ASIO_VERSION >= 102000
#include <boost/asio/associated_cancellation_slot.hpp>
#endif

SETTLE_BEGIN
namespace detail {

/// Calls a handler of Asio with an outcome, on the handler's executor. Its executor has work until
/// then.
template <typename Handler>
class asio_completion {
public:
    /// Shape:   limits - its stop token is set if the handler can be canceled
    asio_completion(Handler&& handler, call_options& limits)
        : state_(std::make_unique<state>(std::move(handler))) {
#if BOOST_ASIO_VERSION >= 102000
        auto slot = boost::asio::get_associated_cancellation_slot(state_->handler);
        if (!slot.is_connected()) return;
        state_->on_own_stop.emplace(std::exchange(limits.stop, state_->stop.get_token()),
                                    request{state_->stop});
        slot.assign(
            [stop = state_->stop](boost::asio::cancellation_type) mutable { stop.request_stop(); });
#else
        static_cast<void>(limits);
#endif
    }
    void operator()(outcome ended) && {
        auto const executor = state_->executor;
        boost::asio::post(
            executor, [state = std::move(state_), ended = std::move(ended)]() mutable {
#if BOOST_ASIO_VERSION >= 102000
                auto slot = boost::asio::get_associated_cancellation_slot(state->handler);
                if (slot.is_connected()) slot.clear();
#endif
                // The handler's memory is free before it is called, as Asio's own are.
                auto handler = std::move(state->handler);
                state.reset();
                std::move(handler)(std::move(ended));
            });
    }

private:
    using own_executor = boost::asio::associated_executor_t<Handler>;
    using working_executor = std::remove_cvref_t<decltype(boost::asio::prefer(
        std::declval<own_executor>(), boost::asio::execution::outstanding_work.tracked))>;

    struct request {
        std::stop_source stop;
        void operator()() noexcept { stop.request_stop(); }
    };
    struct state {
        explicit state(Handler&& given)
            : handler(std::move(given)),
              executor(boost::asio::prefer(boost::asio::get_associated_executor(handler),
                                           boost::asio::execution::outstanding_work.tracked)) {}
        Handler handler;
        working_executor executor;
        std::stop_source stop{};
        std::optional<std::stop_callback<request>> on_own_stop{}; ///< of call_options
    };
    std::unique_ptr<state> state_;
};

template <typename Run, typename Token>
auto run_by_asio(Run run, Token&& token) {
    return boost::asio::async_initiate<Token, void(outcome)>(
        [](auto handler, Run started) {
            auto then = completion_by(
                asio_completion<decltype(handler)>{std::move(handler), started.limits});
            auto not_taken = started.start(then);
            if (not_taken) then->complete(*std::move(not_taken));
        },
        token, std::move(run));
}

} // namespace detail

/// Starts what engine.run(id, parameters) would return, and completes with its outcome:
/// `outcome o = co_await settle::async_run(runner, id, parameters, boost::asio::use_awaitable)`.
/// From Asio 1.20 (Boost 1.77) on, a cancellation of any type is a stop request.
/// Shape:   token - any completion token of the signature void(outcome)
/// Errors:  if the runner does not take the transaction, the outcome is `undecided`, and its
/// problem
///          is errc::runner_full, errc::stopped or errc::forked
template <typename Runner, typename Parameters, typename Token>
auto async_run(Runner& runner, transaction_id id, Parameters const& parameters, Token&& token,
               call_options const& call = {}) {
    return detail::run_by_asio(detail::run_of(runner, std::move(id), parameters, call),
                               std::forward<Token>(token));
}
/// As above, where two types have one parameter struct.
template <auto const& Type, typename Runner, typename Token>
auto async_run(Runner& runner, transaction_id id,
               typename forward<Type>::parameters const& parameters, Token&& token,
               call_options const& call = {}) {
    return detail::run_by_asio(detail::run_of_type<Type>(runner, std::move(id), parameters, call),
                               std::forward<Token>(token));
}

SETTLE_END
