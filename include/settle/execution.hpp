// SPDX-License-Identifier: BSL-1.0
// Transactions as senders (P2300): of std::execution, or of a library with its names.
//
// The library is std::execution where the compiler has it, else stdexec where it is installed. Any
// other one is named before this header is included:
//   #define SETTLE_EXECUTION my::execution
#pragma once

#include <settle/running/runner/start.hpp>

#ifndef SETTLE_EXECUTION
#include <version>
#if defined(__cpp_lib_senders)
#include <execution>
#elif __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#else
#error "settle: there is no std::execution and no stdexec. See runner#senders"
#endif
#endif

SETTLE_BEGIN
namespace detail {

#if defined(SETTLE_EXECUTION)
namespace senders = SETTLE_EXECUTION;
#elif defined(__cpp_lib_senders)
namespace senders = std::execution;
#else
namespace senders = stdexec;
#endif

/// Shape:   Run - a started_run
template <typename Run, typename Receiver>
class run_operation {
public:
    using operation_state_concept = senders::operation_state_t;

    run_operation(Run run, Receiver receiver)
        : run_(std::move(run)), receiver_(std::move(receiver)) {}
    run_operation(run_operation const&) = delete;
    run_operation& operator=(run_operation const&) = delete;

    void start() & noexcept {
        std::optional<outcome> not_taken;
        try {
            not_taken = begin();
        } catch (std::exception const& thrown) {
            not_taken = not_begun(run_.id, thrown.what());
        } catch (...) {
            not_taken = not_begun(run_.id, "an exception");
        }
        if (not_taken) complete(*std::move(not_taken));
    }

private:
    struct request {
        std::stop_source stop;
        void operator()() noexcept { stop.request_stop(); }
    };
    using stop_token =
        decltype(senders::get_stop_token(senders::get_env(std::declval<Receiver const&>())));
    using callback = typename stop_token::template callback_type<request>;

    std::optional<outcome> begin() {
        on_own_stop_.emplace(std::exchange(run_.limits.stop, stop_.get_token()), request{stop_});
        auto then = completion_by([this](outcome ended) { complete(std::move(ended)); });
        on_stop_.emplace(senders::get_stop_token(senders::get_env(receiver_)), request{stop_});
        // Another thread may end this object as soon as the transaction has started.
        return run_.start(then);
    }
    void complete(outcome&& ended) {
        on_stop_.reset();
        on_own_stop_.reset();
        senders::set_value(std::move(receiver_), std::move(ended));
    }

    Run run_;
    Receiver receiver_;
    std::stop_source stop_{};
    std::optional<callback> on_stop_{};
    std::optional<std::stop_callback<request>> on_own_stop_{}; ///< of call_options
};

template <typename Run>
class run_sender {
public:
    using sender_concept = senders::sender_t;
    using completion_signatures = senders::completion_signatures<senders::set_value_t(outcome)>;

    explicit run_sender(Run run) : run_(std::move(run)) {}

    template <typename Receiver>
    [[nodiscard]] run_operation<Run, Receiver> connect(Receiver receiver) const {
        return {run_, std::move(receiver)};
    }

private:
    Run run_;
};

} // namespace detail

/// A sender of what engine.run(id, parameters) would return. It completes on a thread of the
/// runner, always with set_value: a stop request of the receiver gives an outcome that is
/// `undecided`. Errors:  if the runner does not take the transaction, the outcome is `undecided`,
/// and its problem
///          is errc::runner_full, errc::stopped or errc::forked
template <typename Runner, typename Parameters>
[[nodiscard]] auto run_sender(Runner& runner, transaction_id id, Parameters const& parameters,
                              call_options const& call = {}) {
    return detail::run_sender{detail::run_of(runner, std::move(id), parameters, call)};
}
/// As above, where two types have one parameter struct.
template <auto const& Type, typename Runner>
[[nodiscard]] auto run_sender(Runner& runner, transaction_id id,
                              typename forward<Type>::parameters const& parameters,
                              call_options const& call = {}) {
    return detail::run_sender{detail::run_of_type<Type>(runner, std::move(id), parameters, call)};
}

SETTLE_END
