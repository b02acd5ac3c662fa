// SPDX-License-Identifier: BSL-1.0
// Transactions in coroutines of any framework: `outcome o = co_await settle::co_run(…)`.
#pragma once

#include <settle/running/runner/start.hpp>

#include <concepts>
#include <coroutine>

SETTLE_BEGIN

/// Resumes a coroutine: it is called with the handle, on a thread of the runner, and must not wait.
/// Example: `[&](std::coroutine_handle<> waiting) { boost::asio::post(context, waiting); }`
template <typename Executor>
concept CoroutineExecutor = std::invocable<Executor&, std::coroutine_handle<>>;

namespace detail {

template <typename Run, CoroutineExecutor Executor>
class run_awaitable {
public:
    run_awaitable(Run run, Executor executor)
        : run_(std::move(run)), executor_(std::move(executor)) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) {
        // Once the transaction has started, another thread may end the coroutine with this object.
        auto then = completion_by([this, waiting](outcome ended) {
            outcome_ = std::move(ended);
            // The coroutine may end before the executor returns.
            auto resume = std::move(executor_);
            resume(waiting);
        });
        auto not_taken = run_.start(then);
        if (!not_taken) return true;
        outcome_ = *std::move(not_taken);
        return false;
    }
    outcome await_resume() { return std::move(outcome_); }

private:
    Run run_;
    Executor executor_;
    outcome outcome_{};
};

} // namespace detail

/// Awaits what engine.run(id, parameters) would return. The coroutine is resumed by the executor,
/// or at once if the runner does not take the transaction: then the outcome is `undecided`, and its
/// problem is errc::runner_full, errc::stopped or errc::forked.
/// Errors:  if the executor throws, the coroutine is not resumed; runner_options::on_exception gets
///          the exception
template <typename Runner, CoroutineExecutor Executor, typename Parameters>
[[nodiscard]] auto co_run(Runner& runner, Executor executor, transaction_id id,
                          Parameters const& parameters, call_options const& call = {}) {
    auto run = detail::run_of(runner, std::move(id), parameters, call);
    return detail::run_awaitable<decltype(run), Executor>{std::move(run), std::move(executor)};
}
/// As above, under an id that the library makes.
template <typename Runner, CoroutineExecutor Executor, typename Parameters>
    requires(!std::convertible_to<Parameters const&, transaction_id>)
[[nodiscard]] auto co_run(Runner& runner, Executor executor, Parameters const& parameters,
                          call_options const& call = {}) {
    auto run = detail::run_of(runner, std::nullopt, parameters, call);
    return detail::run_awaitable<decltype(run), Executor>{std::move(run), std::move(executor)};
}
/// As above, where two types have one parameter struct.
template <auto const& Type, typename Runner, CoroutineExecutor Executor>
[[nodiscard]] auto co_run(Runner& runner, Executor executor, transaction_id id,
                          typename forward<Type>::parameters const& parameters,
                          call_options const& call = {}) {
    auto run = detail::run_of_type<Type>(runner, std::move(id), parameters, call);
    return detail::run_awaitable<decltype(run), Executor>{std::move(run), std::move(executor)};
}

SETTLE_END
