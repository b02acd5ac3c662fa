// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that shared_windows.hpp declares.
#pragma once

#include <settle/running/calls/shared_windows.hpp>
#include <settle/running/calls/windows.ipp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/store/caller_turn.hpp>
#include <settle/store/joint_limits.hpp>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// The calls of shared_windows::run() that a thread is in.
inline thread_local int calls_of_this_thread = 0;

/// Shape:   Rules - as for shared_windows
template <typename Rules>
class shared_windows<Rules>::held_windows {
public:
    /// As shared_windows::run().
    outcome run(seam_context<Rules> const& context, transaction_id&& id,
                transaction_descriptor const& type, void const* parameters,
                call_options const& call, bool new_id);

private:
    struct caller;
    struct window;

    /// Waits until the caller leads, or its transaction is over.
    [[nodiscard]] turn_stage wait(caller& own);
    /// Drives the caller's window until its transaction is over.
    void lead(seam_context<Rules> const& context, caller& own);
    /// Takes the caller and those that wait into its window.
    void admit(seam_context<Rules> const& context, caller& own);
    /// Lets a caller lead the window whose transaction is not over, if there is one.
    void leave(window& left);

    static constexpr std::size_t leaders = 2;
    static constexpr std::size_t room = 1'000; ///< of a window

    std::mutex mutex_;
    std::size_t callers_ = 0;    ///< of run(), also those that are alone
    std::vector<caller*> queue_; ///< in no window yet
    waiting_seats seats_;
    std::vector<std::unique_ptr<window>> windows_;
    std::vector<window*> idle_; ///< that nobody leads
};

template <typename Rules>
struct shared_windows<Rules>::held_windows::caller : caller_turn {
    caller(wait_limits const& waits, transaction_id&& own_id,
           transaction_descriptor const& own_type, void const* own_parameters, bool is_new)
        : caller_turn(&waits), id(std::move(own_id)), type(&own_type), parameters(own_parameters),
          new_id(is_new) {}

    transaction_id id;
    transaction_descriptor const* type;
    void const* parameters;
    bool new_id;
    caller_limits own_limits{};
    std::optional<outcome> ended{};
    window* led = nullptr; ///< the window that the caller leads
    bool is_admitted = false;
    std::optional<std::stop_callback<std::function<void()>>> on_stop{};
};

/// Shape:   only its leader uses it; source and signal tell a leader that waits of new callers
template <typename Rules>
struct shared_windows<Rules>::held_windows::window {
    void admit(seam_context<Rules> const& context, caller& admitted) {
        if (jobs == nullptr) {
            jobs = std::make_unique<seam_jobs<Rules>>(context, no_limits, room, true);
            jobs->watch(signal, source);
        }
        auto const free = std::find(under_way.begin(), under_way.end(), nullptr);
        auto const number = static_cast<std::size_t>(free - under_way.begin());
        if (free == under_way.end()) under_way.push_back(nullptr);
        jobs->look_at_clock();
        jobs->add(transaction_id{admitted.id}, *admitted.type, held_parameters{admitted.parameters},
                  number, admitted.new_id, &admitted.own_limits);
        under_way[number] = &admitted;
        admitted.is_admitted = true;
        // The leader may wait for an answer that the caller does not await any more.
        if (!admitted.own_limits.stop.stop_possible()) return;
        admitted.on_stop.emplace(admitted.own_limits.stop, [this] {
            source.is_called = true;
            signal->add();
        });
    }
    void round(caller const& leader) {
        // Its stores wait as long as the most impatient caller does.
        limits.emplace();
        size = 0;
        for (caller const* const waiting : under_way) {
            if (waiting == nullptr) continue;
            limits->add(waiting->limits());
            ++size;
        }
        jobs->limit(limits->all());
        jobs->round(true, false, [&](std::size_t number, outcome&& ended, interruption) {
            end(number, leader, std::move(ended));
        });
    }
    void end(std::size_t number, caller const& leader, outcome&& ended) {
        caller& over = *std::exchange(under_way[number], nullptr);
        over.ended = std::move(ended);
        if (&over != &leader) over.advance(turn_stage::ended);
    }
    /// Ends all transactions after an exception of the library or the system.
    void fail(caller const& leader, std::string_view why) {
        error problem{make_error_code(errc::stopped),
                      "settle: the thread that ran the transactions of several callers failed: "};
        problem.text.append(why).append(". The transaction is in the log, if it began there. Run "
                                        "it again with its id. See running#undecided");
        for (std::size_t number = 0; number < under_way.size(); ++number) {
            caller const* const left = under_way[number];
            if (left != nullptr) end(number, leader, unreadable(left->id, problem));
        }
        jobs = nullptr;
    }

    job_source source{};
    std::shared_ptr<answer_signal> signal = std::make_shared<answer_signal>();
    call_options const no_limits{};
    std::vector<caller*> under_way{}; ///< by number; null where the number is free
    std::size_t size = 0;             ///< the number of callers in the last round
    std::optional<joint_limits> limits{};
    std::unique_ptr<seam_jobs<Rules>> jobs{};
};

template <typename Rules>
shared_windows<Rules>::shared_windows() : held_(std::make_unique<held_windows>()) {}
template <typename Rules>
shared_windows<Rules>::~shared_windows() = default;

template <typename Rules>
bool shared_windows<Rules>::may_share(transaction_descriptor const& type) {
    auto const& parts = type.participants;
    return type.stages.count == 1 && std::all_of(parts.begin(), parts.end(), [](auto const& part) {
               return part.kind == &record_kind;
           });
}

template <typename Rules>
outcome shared_windows<Rules>::run(seam_context<Rules> const& context, transaction_id&& id,
                                   transaction_descriptor const& type, void const* parameters,
                                   call_options const& call, bool new_id) {
    return held_->run(context, std::move(id), type, parameters, call, new_id);
}

template <typename Rules>
outcome
shared_windows<Rules>::held_windows::run(seam_context<Rules> const& context, transaction_id&& id,
                                         transaction_descriptor const& type, void const* parameters,
                                         call_options const& call, bool new_id) {
    struct presence {
        explicit presence(held_windows& entered) : windows(entered) {
            std::lock_guard const guard{windows.mutex_};
            // A callback may run a transaction, too. Its thread must not wait for itself.
            bool const is_nested = calls_of_this_thread++ != 0;
            is_alone = ++windows.callers_ == 1 || is_nested;
        }
        presence(presence const&) = delete;
        presence& operator=(presence const&) = delete;
        ~presence() {
            --calls_of_this_thread;
            std::lock_guard const guard{windows.mutex_};
            --windows.callers_;
        }
        held_windows& windows;
        bool is_alone;
    };
    presence const presence_of_caller{*this};
    if (presence_of_caller.is_alone) {
        return worker{context}.run_new(std::move(id), request_of(type, parameters), goal::run, call,
                                       {}, new_id);
    }
    auto const waits = limits_of(call);
    caller own{waits, std::move(id), type, parameters, new_id};
    own.own_limits.stop = call.stop;
    own.own_limits.traceparent = call.traceparent;
    if (call.deadline) {
        own.own_limits.deadline = later_than(context.environment.elapsed(), *call.deadline);
    }
    auto const reached = wait(own);
    if (reached == turn_stage::waiting) return unreadable(own.id, nothing_begun());
    if (reached == turn_stage::leads) lead(context, own);
    if (own.own_limits.thrown) std::rethrow_exception(own.own_limits.thrown);
    return *std::move(own.ended);
}

template <typename Rules>
turn_stage shared_windows<Rules>::held_windows::wait(caller& own) {
    std::unique_lock guard{mutex_};
    if (idle_.empty() && windows_.size() < leaders) {
        idle_.reserve(leaders);
        idle_.push_back(windows_.emplace_back(std::make_unique<window>()).get());
    }
    if (!idle_.empty()) {
        own.led = idle_.back();
        idle_.pop_back();
        return turn_stage::leads;
    }
    seats_.give(own);
    queue_.push_back(&own);
    for (auto const& led : windows_) {
        if (!led->source.is_called.exchange(true)) led->signal->add();
    }
    guard.unlock();
    auto reached = own.wait_within_limits();
    guard.lock();
    if (reached == turn_stage::waiting && std::erase(queue_, &own) == 0) {
        // It is in a window, which has its limits.
        guard.unlock();
        reached = own.wait();
        guard.lock();
    }
    seats_.take_back(own);
    return reached;
}

template <typename Rules>
void shared_windows<Rules>::held_windows::lead(seam_context<Rules> const& context, caller& own) {
    struct leading {
        leading(held_windows& entered, window& led) : windows(entered), own(led) {}
        leading(leading const&) = delete;
        leading& operator=(leading const&) = delete;
        ~leading() { windows.leave(own); }
        held_windows& windows;
        window& own;
    };
    leading const until_left{*this, *own.led};
    try {
        while (!own.ended) {
            admit(context, own);
            own.led->round(own);
        }
    } catch (std::exception const& thrown) {
        own.led->fail(own, thrown.what());
        throw;
    } catch (...) {
        own.led->fail(own, "an exception");
        throw;
    }
}

template <typename Rules>
void shared_windows<Rules>::held_windows::admit(seam_context<Rules> const& context, caller& own) {
    window& led = *own.led;
    if (!own.is_admitted) led.admit(context, own);
    // The callers of the last round may arrive again.
    for (int tries = 0; tries < 3; ++tries) {
        std::unique_lock guard{mutex_};
        if (1 + queue_.size() >= led.size) break;
        guard.unlock();
        std::this_thread::yield();
    }
    std::lock_guard const guard{mutex_};
    led.source.is_called = false;
    while (!queue_.empty() && !led.jobs->full()) {
        led.admit(context, *queue_.front());
        queue_.erase(queue_.begin());
    }
}

template <typename Rules>
void shared_windows<Rules>::held_windows::leave(window& left) {
    std::lock_guard const guard{mutex_};
    auto const in_window = std::find_if(left.under_way.begin(), left.under_way.end(),
                                        [](caller const* own) { return own != nullptr; });
    caller* next = nullptr;
    if (in_window != left.under_way.end()) {
        next = *in_window;
    } else if (!queue_.empty()) {
        next = queue_.front();
        queue_.erase(queue_.begin());
    } else {
        idle_.push_back(&left);
        return;
    }
    next->led = &left;
    next->advance(turn_stage::leads);
}

} // namespace detail
SETTLE_END
