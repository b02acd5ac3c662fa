// SPDX-License-Identifier: BSL-1.0
// Transactions of many callers, which the threads of a runner drive side by side. Nothing here
// depends on a transaction type, so it is compiled once.
#pragma once

#include <settle/running/calls/gate.hpp>
#include <settle/running/calls/windows.hpp>
#include <settle/store/parts_under_way.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

SETTLE_BEGIN

/// The limits of a runner.
/// Errors:  the constructor of the runner throws errc::bad_option for `threads` 0 and `queue` 0
struct runner_options {
    /// How many transactions each thread has under way at a time; 0 lets the stores choose. Those
    /// that wait for the next try of a call do not count, up to `queue` of them.
    std::size_t in_flight = 0;
    /// How many transactions wait for their turn. A start beyond it is refused with
    /// errc::runner_full.
    std::size_t queue = 10'000;
    /// The threads. Transactions on one thread share waves; a wave of the log holds its thread.
    std::size_t threads = 1;
    /// How long the destructor waits for the transactions under way. Then they end as after a stop
    /// request: what is not finished is in the log.
    time_limit drain = std::chrono::seconds{10};
    /// Called with each exception of a completion and of the observer, perhaps by several threads
    /// at once. The transaction is not affected. Without it, the exceptions are dropped.
    std::function<void(std::exception_ptr)> on_exception{};
};

namespace detail {

/// Takes the outcome of a transaction.
class completion {
public:
    completion() = default;
    completion(completion const&) = delete;
    completion& operator=(completion const&) = delete;
    virtual ~completion() = default;
    virtual void complete(outcome&& ended) = 0;
};
/// Shape:   Function - may be movable alone
template <typename Function>
class completion_of final : public completion {
public:
    explicit completion_of(Function given) : function_(std::move(given)) {}
    void complete(outcome&& ended) override { std::move(function_)(std::move(ended)); }

private:
    Function function_;
};

/// A transaction that a caller has started.
struct started_operation {
    started_operation(transaction_id&& own_id, bool is_new, transaction_descriptor const& type,
                      held_parameters&& own_parameters)
        : id(std::move(own_id)), new_id(is_new), direction(&type),
          parameters(std::move(own_parameters)) {}

    transaction_id id;
    bool new_id; ///< the library has made the id
    transaction_descriptor const* direction;
    held_parameters parameters;
    std::unique_ptr<completion> then{};
    std::optional<outcome> refused{}; ///< it is not run
    caller_limits limits{};
    std::optional<std::stop_callback<std::function<void()>>> on_stop{};
};

template <typename Rules>
class operations {
public:
    /// Shape:   context, gate - of an engine that outlives this object; room - options.in_flight,
    /// or
    ///          what the stores prefer
    operations(seam_context<Rules> const& context, gate const& gate, runner_options options,
               std::size_t room);
    operations(operations const&) = delete;
    operations& operator=(operations const&) = delete;
    ~operations();

    /// Ends all operations, and the threads. A completion may start operations meanwhile.
    void end();
    /// Shape:   id - empty if the library makes it
    /// Errors:  errc::runner_full; errc::stopped when the runner ends; errc::forked. Then `then`
    ///          stays with the caller
    result<void> start(std::optional<transaction_id> id, transaction_descriptor const& direction,
                       held_parameters&& parameters, call_options const& call,
                       std::unique_ptr<completion>& then);
    /// Transactions that were started and have no outcome yet.
    [[nodiscard]] std::size_t size() const;
    /// False in a child that was forked since. Then the object must not be destroyed.
    [[nodiscard]] bool is_here() const noexcept { return gate_.is_here(); }

private:
    struct worker {
        std::shared_ptr<answer_signal> signal = std::make_shared<answer_signal>();
        job_source source{};
        std::thread thread{};
    };
    using taken_operations = std::vector<std::unique_ptr<started_operation>>;
    class window;

    void run(worker& mine);
    [[nodiscard]] bool is_late(caller_limits const& limits) const;
    /// Takes operations from the queue; waits for one if the worker has none. It takes none if the
    /// runner ends and the worker has none.
    void take(worker& mine, std::size_t room, bool waits, taken_operations& taken);
    void complete(started_operation& ended, outcome&& concluded);
    void note(std::exception_ptr const& thrown) const;
    /// Takes the operations from the queue whose callers wait no longer.
    void take_late(taken_operations& late);
    void call_workers();

    seam_context<Rules> context_;
    gate const& gate_;
    runner_options options_;
    std::size_t room_;
    std::stop_source stop_;
    std::atomic<std::size_t> size_ = 0;
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<started_operation>> queue_;
    bool ends_ = false;
    /// No deadline in the queue is earlier.
    std::chrono::nanoseconds first_deadline_ = std::chrono::nanoseconds::max();
    std::atomic<bool> is_stopped_ = false; ///< a caller asks to stop
    std::vector<std::unique_ptr<worker>> workers_;
};

#ifdef SETTLE_COMPILED
extern template class operations<order_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/runner/operations.ipp>
#endif
