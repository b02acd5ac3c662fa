// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that operations.hpp declares.
#pragma once

#include <settle/running/calls/ids.hpp>
#include <settle/running/calls/windows.ipp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/running/runner/operations.hpp>

#include <algorithm>
#include <limits>
#include <utility>

SETTLE_BEGIN
namespace detail {

/// The operations that a worker has under way.
template <typename Rules>
class operations<Rules>::window {
public:
    window(operations& all, worker& mine, call_options const& call)
        : all_(all), jobs_(all.context_, call, room_of(all), true) {
        jobs_.watch(mine.signal, mine.source);
    }
    window(window const&) = delete;
    window& operator=(window const&) = delete;
    /// An operation that is here still has met an exception of the library or the system.
    ~window() {
        for (auto* const each : {&under_way_, &taken_}) {
            for (auto& left : *each) {
                if (left != nullptr) all_.complete(*left, unreadable(left->id, problem_));
            }
        }
    }

    [[nodiscard]] bool empty() const { return jobs_.empty(); }
    /// How many operations it may take. Those that wait for a service's next try need no room, as
    /// long as there are no more of them than the queue has.
    [[nodiscard]] std::size_t room() const {
        auto const size = under_way_.size() - free_.size();
        auto const resting = std::min(jobs_.resting(), all_.options_.queue);
        auto const taken = size - resting;
        return all_.room_ > taken ? all_.room_ - taken : 0;
    }
    void fail(std::string_view why) {
        problem_ = {make_error_code(errc::stopped), "settle: a thread of the runner failed: "};
        problem_.text.append(why).append(". The transaction is in the log, if it began there. "
                                         "Start it again with its id. See runner#the-runner");
    }

    /// The operations that begin() begins.
    [[nodiscard]] taken_operations& taken() noexcept { return taken_; }
    /// Begins the operations, or completes those that cannot begin.
    void begin() {
        for (auto& each : taken_) {
            if (!each->refused && !all_.is_late(each->limits)) {
                begin(each);
                continue;
            }
            auto refused =
                each->refused ? *std::move(each->refused) : unreadable(each->id, nothing_begun());
            all_.complete(*std::exchange(each, nullptr), std::move(refused));
        }
        taken_.clear();
    }
    void round() {
        jobs_.round(true, false, [this](std::size_t number, outcome&& ended, interruption) {
            auto const over = std::exchange(under_way_[number], nullptr);
            free_.push_back(number);
            all_.complete(*over, std::move(ended));
        });
    }

private:
    /// Returns: the room for operations under way and for those that rest, without overflow
    [[nodiscard]] static std::size_t room_of(operations const& runner) {
        constexpr auto most = std::numeric_limits<std::size_t>::max();
        std::size_t const queue = runner.options_.queue;
        return runner.room_ > most - queue ? most : runner.room_ + queue;
    }
    void begin(std::unique_ptr<started_operation>& started) {
        jobs_.look_at_clock();
        if (free_.empty()) {
            under_way_.emplace_back();
            free_.reserve(under_way_.capacity());
            free_.push_back(under_way_.size() - 1);
        }
        auto const number = free_.back();
        free_.pop_back();
        started_operation& own = *(under_way_[number] = std::move(started));
        jobs_.add(transaction_id{own.id}, *own.direction, std::move(own.parameters), number,
                  own.new_id, &own.limits);
    }

    operations& all_;
    taken_operations under_way_; ///< by number; null where the number is free
    std::vector<std::size_t> free_;
    taken_operations taken_; ///< that have not begun
    error problem_{};
    seam_jobs<Rules> jobs_; ///< ends before the limits of its operations
};

template <typename Rules>
operations<Rules>::operations(seam_context<Rules> const& context, gate const& gate,
                              runner_options options, std::size_t room)
    : context_(context), gate_(gate), options_(std::move(options)), room_(room) {
    if (options_.threads == 0 || options_.queue == 0) {
        throw failure({make_error_code(errc::bad_option),
                       "settle: runner_options::threads or runner_options::queue is 0. Give at "
                       "least 1. See runner#options"});
    }
    while (workers_.size() < options_.threads) {
        try {
            workers_.reserve(workers_.size() + 1);
            auto own = std::make_unique<worker>();
            worker& mine = *own;
            mine.thread = std::thread{[this, &mine] { run(mine); }};
            workers_.push_back(std::move(own));
        } catch (...) {
            if (workers_.empty()) throw;
            return; // fewer threads do the same work
        }
    }
}

template <typename Rules>
operations<Rules>::~operations() {
    end();
}

template <typename Rules>
void operations<Rules>::end() {
    std::unique_lock guard{lock_};
    if (std::exchange(ends_, true)) return;
    auto const waiting = std::exchange(queue_, {});
    guard.unlock();
    for (auto const& each : waiting) complete(*each, unreadable(each->id, nothing_begun()));
    changed_.notify_all();
    guard.lock();
    auto const limit = std::min<std::chrono::milliseconds>(options_.drain, std::chrono::hours{24});
    changed_.wait_for(guard, limit, [this] { return size_ == 0; });
    guard.unlock();
    stop_.request_stop();
    for (auto& each : workers_) each->thread.join();
}

template <typename Rules>
result<void> operations<Rules>::start(std::optional<transaction_id> id,
                                      transaction_descriptor const& direction,
                                      held_parameters&& parameters, call_options const& call,
                                      std::unique_ptr<completion>& then) {
    if (!gate_.is_here()) return gate_.why();
    bool const is_new = !id.has_value();
    auto operation = std::make_unique<started_operation>(is_new ? fresh_id(context_.environment)
                                                                : *std::move(id),
                                                         is_new, direction, std::move(parameters));
    operation->limits.stop = call.stop;
    operation->limits.traceparent = call.traceparent;
    if (call.deadline)
        operation->limits.deadline = later_than(context_.environment.elapsed(), *call.deadline);
    transaction_id const& known = operation->id;
    operation->refused =
        refusal_of(context_, known, direction, operation->parameters.get(), call.traceparent);
    if (call.stop.stop_possible()) {
        operation->on_stop.emplace(call.stop, [this] {
            // In a forked child, a thread of the parent may hold the locks for ever.
            if (!gate_.is_here()) return;
            is_stopped_ = true;
            call_workers();
        });
    }
    {
        std::scoped_lock const guard{lock_};
        if (ends_) return nothing_begun();
        if (queue_.size() >= options_.queue) {
            return error{make_error_code(errc::runner_full),
                         "settle: the runner has as many waiting transactions as "
                         "runner_options::queue allows. Nothing was begun. Start it again later, "
                         "or refuse the request. See runner#a-full-queue"};
        }
        if (operation->limits.deadline)
            first_deadline_ = std::min(first_deadline_, *operation->limits.deadline);
        queue_.push_back(std::move(operation));
        queue_.back()->then = std::move(then);
        ++size_;
        // The request may have come while the operation was not in the queue.
        if (call.stop.stop_requested()) is_stopped_ = true;
        // Under the lock: the transaction may end at once, and its caller then end the runner.
        changed_.notify_one();
        call_workers();
    }
    return {};
}

template <typename Rules>
std::size_t operations<Rules>::size() const {
    return size_;
}

template <typename Rules>
void operations<Rules>::call_workers() {
    for (auto const& each : workers_) {
        if (!each->source.is_called.exchange(true)) each->signal->add();
    }
}

template <typename Rules>
bool operations<Rules>::is_late(caller_limits const& limits) const {
    return limits.stop.stop_requested() ||
           (limits.deadline && context_.environment.elapsed() >= *limits.deadline);
}

template <typename Rules>
void operations<Rules>::run(worker& mine) {
    call_options const call{std::nullopt, stop_.get_token()};
    while (true) {
        std::optional<window> own;
        try {
            own.emplace(*this, mine, call);
            while (true) {
                take(mine, own->room(), own->empty(), own->taken());
                if (own->taken().empty() && own->empty()) return;
                own->begin();
                if (!own->empty()) own->round();
            }
        } catch (std::exception const& thrown) {
            if (own) own->fail(thrown.what());
        } catch (...) {
            if (own) own->fail("an exception");
        }
    }
}

template <typename Rules>
void operations<Rules>::take(worker& mine, std::size_t room, bool waits, taken_operations& taken) {
    std::unique_lock guard{lock_};
    if (waits) changed_.wait(guard, [this] { return ends_ || !queue_.empty(); });
    mine.source.is_called = false;
    while (taken.size() < room && !queue_.empty()) {
        taken.push_back(std::move(queue_.front()));
        queue_.pop_front();
    }
    bool const is_late = first_deadline_ != std::chrono::nanoseconds::max() &&
                         context_.environment.elapsed() >= first_deadline_;
    if (is_stopped_.exchange(false) || is_late) take_late(taken);
    mine.source.until = first_deadline_.count();
}

template <typename Rules>
void operations<Rules>::take_late(taken_operations& late) {
    first_deadline_ = std::chrono::nanoseconds::max();
    for (auto& each : queue_) {
        if (is_late(each->limits)) late.push_back(std::move(each));
        else if (each->limits.deadline)
            first_deadline_ = std::min(first_deadline_, *each->limits.deadline);
    }
    std::erase(queue_, nullptr);
}

template <typename Rules>
void operations<Rules>::complete(started_operation& ended, outcome&& concluded) {
    ended.on_stop.reset();
    if (ended.limits.thrown) note(ended.limits.thrown);
    {
        std::scoped_lock const guard{lock_};
        if (--size_ == 0 && ends_) changed_.notify_all();
    }
    try {
        ended.then->complete(std::move(concluded));
    } catch (...) {
        note(std::current_exception());
    }
    ended.then = nullptr;
}

template <typename Rules>
void operations<Rules>::note(std::exception_ptr const& thrown) const {
    if (!options_.on_exception) return;
    try {
        options_.on_exception(thrown);
    } catch (...) {
        // There is nobody else to tell.
    }
}

} // namespace detail
SETTLE_END
