// SPDX-License-Identifier: BSL-1.0
// Runs transactions for callers that do not wait: each gets its outcome by a call.
#pragma once

#include <settle/running/engine.hpp>
#include <settle/running/runner/operations.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

SETTLE_BEGIN

/// Owns threads that drive transactions of an engine. Transactions that are started at the same
/// time share waves, so many small requests cost as little as a batch.
/// Shape:   the engine outlives the runner. Any thread may start transactions
/// Errors:  the constructor throws settle::failure for a wrong option, and std::system_error if no
///          thread can be made. The destructor waits for runner_options::drain; no completion may
///          destroy the runner
/// Cost:    a start is a lock and two allocations
template <typename Engine>
class runner {
public:
    explicit runner(Engine& engine, runner_options options = {})
        : operations_(std::make_unique<operations>(
              engine.assembly_.seam(), engine.gate_, options,
              options.in_flight != 0 ? options.in_flight : Engine::assembly_type::wave)) {}
    runner(runner const&) = delete;
    runner& operator=(runner const&) = delete;
    ~runner() {
        // Not by the pointer's destructor: completions use the pointer meanwhile. In a forked child
        // the threads are the parent's, and never leave what they wait for.
        if (operations_->is_here()) operations_->end();
        else static_cast<void>(operations_.release());
    }

    /// Starts a transaction under the caller's id. `then(outcome)` is called once, with what
    /// engine.run() would return, on a thread of the runner; of a transaction that waits for its
    /// turn when the runner ends, on the thread that ends it. It must not wait for anything.
    /// Shape:   parameters - copied; then - may be movable alone; call.deadline - from the start,
    ///          also while the transaction waits for its turn
    /// Errors:  errc::runner_full, errc::forked, and errc::stopped when the runner ends: nothing
    /// was
    ///          begun, and `then` is not called
    template <typename Parameters, typename Then>
        requires std::invocable<Then, outcome>
    result<void> start(transaction_id id, Parameters const& parameters, Then&& then,
                       call_options const& call = {}) {
        return begin<direction_of<Parameters>>(std::move(id), parameters, call,
                                               std::forward<Then>(then));
    }
    /// As above, under an id that the library makes.
    template <typename Parameters, typename Then>
        requires std::invocable<Then, outcome>
    result<void> start(Parameters const& parameters, Then&& then, call_options const& call = {}) {
        return begin<direction_of<Parameters>>(std::nullopt, parameters, call,
                                               std::forward<Then>(then));
    }
    /// As above, where two types have one parameter struct.
    template <auto const& Type, typename Then>
        requires std::invocable<Then, outcome>
    result<void> start(transaction_id id, typename forward<Type>::parameters const& parameters,
                       Then&& then, call_options const& call = {}) {
        return begin<forward<Type>>(std::move(id), parameters, call, std::forward<Then>(then));
    }

    /// Transactions that were started and have no outcome yet.
    [[nodiscard]] std::size_t size() const { return operations_->size(); }

    /// For other ways to wait for an outcome: starts a transaction of a direction.
    /// Shape:   then - stays with the caller if there is an error
    template <typename Direction>
    result<void>
    start_with(std::unique_ptr<detail::completion>& then, std::optional<transaction_id> id,
               typename Direction::parameters const& parameters, call_options const& call) {
        using parameters_type = typename Direction::parameters;
        auto const put = [&](void* slot) { ::new (slot) parameters_type(parameters); };
        transaction_descriptor const& direction = descriptor_of<Direction>;
        return operations_->start(std::move(id), direction, held_parameters{direction, put}, call,
                                  then);
    }
    template <typename Parameters>
    using direction_of = typename Engine::template direction_of<Parameters>;

private:
    template <typename Direction, typename Then>
    result<void> begin(std::optional<transaction_id> id,
                       typename Direction::parameters const& parameters, call_options const& call,
                       Then&& then) {
        std::unique_ptr<detail::completion> completion =
            std::make_unique<detail::completion_of<std::remove_cvref_t<Then>>>(
                std::forward<Then>(then));
        return start_with<Direction>(completion, std::move(id), parameters, call);
    }

    using operations = detail::operations<typename Engine::assembly_type::order_rules>;
    std::unique_ptr<operations> operations_;
};

SETTLE_END
