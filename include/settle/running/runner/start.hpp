// SPDX-License-Identifier: BSL-1.0
// A start of a runner for the ways to wait for an outcome: awaitables, tokens of Asio, senders.
#pragma once

#include <settle/running/runner/runner.hpp>

SETTLE_BEGIN
namespace detail {

/// What such a way starts.
/// Shape:   Runner - a runner<…>; Direction - of one of its engine's types
template <typename Runner, typename Direction>
struct started_run {
    Runner* runner;
    std::optional<transaction_id> id; ///< nothing if the library makes it
    typename Direction::parameters parameters;
    call_options limits{};

    /// Completes `then` later, on a thread of the runner.
    /// Returns: an outcome at once, if the runner does not take the transaction. Then `then` stays
    ///          with the caller
    std::optional<outcome> start(std::unique_ptr<completion>& then) {
        auto const begun = runner->template start_with<Direction>(then, id, parameters, limits);
        if (begun.has_value()) return std::nullopt;
        return unreadable(id.value_or(transaction_id{}), begun.problem());
    }
};

/// The outcome of a transaction that an exception has kept from starting.
[[nodiscard]] inline outcome not_begun(std::optional<transaction_id> const& id,
                                       std::string_view why) {
    error problem{make_error_code(errc::stopped), "settle: the transaction was not started: "};
    problem.text.append(why).append(". Start it again. See runner#the-runner");
    return unreadable(id.value_or(transaction_id{}), std::move(problem));
}

template <typename Runner, typename Parameters>
[[nodiscard]] auto run_of(Runner& runner, std::optional<transaction_id> id,
                          Parameters const& parameters, call_options const& limits) {
    using direction = typename Runner::template direction_of<Parameters>;
    return started_run<Runner, direction>{&runner, std::move(id), parameters, limits};
}
template <auto const& Type, typename Runner>
[[nodiscard]] auto run_of_type(Runner& runner, std::optional<transaction_id> id,
                               typename forward<Type>::parameters const& parameters,
                               call_options const& limits) {
    return started_run<Runner, forward<Type>>{&runner, std::move(id), parameters, limits};
}

template <typename Function>
[[nodiscard]] std::unique_ptr<completion> completion_by(Function&& function) {
    return std::make_unique<completion_of<std::remove_cvref_t<Function>>>(
        std::forward<Function>(function));
}

} // namespace detail
SETTLE_END
