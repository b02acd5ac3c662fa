// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that finisher.hpp declares.
#pragma once

#include <settle/base/process.hpp>
#include <settle/running/calls/finisher.hpp>
#include <settle/running/calls/windows.ipp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

SETTLE_BEGIN
namespace detail {

template <typename Rules>
struct finisher<Rules>::state {
    using handed_over = std::pair<job, held_parameters>;

    void start(seam_context<Rules> const& of_engine) {
        context = std::make_unique<seam_context<Rules>>(of_engine);
        try {
            thread = std::thread{[this] { run(); }};
        } catch (std::system_error const&) {
            // From now on callers finish their transactions; recovery finishes this one.
            room.is_open = false;
        }
    }
    void run() {
        call_options const call{std::nullopt, stop.get_token()};
        for (bool goes_on = true; goes_on;) {
            std::size_t under_way = 0;
            try {
                seam_jobs<Rules> jobs{*context, call, window};
                jobs.watch(signal, source);
                while (take(jobs, under_way)) {
                    jobs.round(false, false,
                               [&](std::size_t, outcome&&, interruption) { leave(under_way, 1); });
                }
                goes_on = false;
            } catch (...) {
                // An exception of the library or the system: recovery finishes these.
                leave(under_way, under_way);
            }
        }
    }
    /// Moves transactions from the queue to the window; waits for one if the window has none.
    /// Returns: false if the engine ends, and nothing is left to do
    bool take(seam_jobs<Rules>& jobs, std::size_t& under_way) {
        std::unique_lock guard{mutex};
        if (jobs.empty()) changed.wait(guard, [this] { return ends || !queue.empty(); });
        source.is_called = false;
        if (stop.stop_requested()) queue.clear();
        while (!queue.empty() && !jobs.full()) {
            jobs.finish(std::move(queue.front().first), std::move(queue.front().second));
            queue.pop_front();
            ++under_way;
        }
        return !jobs.empty();
    }
    void leave(std::size_t& under_way, std::size_t count) {
        std::lock_guard const guard{mutex};
        under_way -= count;
        room.unfinished -= count;
        if (room.unfinished == 0 && ends) changed.notify_all();
    }

    static constexpr std::size_t window = 1'000;
    static constexpr std::chrono::seconds drain{1};

    process_stamp made_in;
    hand_over room;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<handed_over> queue;
    bool ends = false;
    std::stop_source stop;
    std::shared_ptr<answer_signal> signal = std::make_shared<answer_signal>();
    job_source source{};
    std::unique_ptr<seam_context<Rules>> context; ///< null before the first transaction
    std::thread thread;
};

template <typename Rules>
finisher<Rules>::finisher() : state_(std::make_unique<state>()) {}

template <typename Rules>
finisher<Rules>::~finisher() {
    state& own = *state_;
    // A forked child has no threads of its parent, so it does not wait for them.
    if (!own.made_in.is_here()) {
        static_cast<void>(state_.release());
        return;
    }
    std::unique_lock guard{own.mutex};
    own.ends = true;
    own.changed.notify_all();
    own.changed.wait_for(guard, state::drain, [&own] { return own.room.unfinished == 0; });
    guard.unlock();
    own.stop.request_stop();
    if (own.thread.joinable()) own.thread.join();
}

template <typename Rules>
hand_over const& finisher<Rules>::room() const noexcept {
    return state_->room;
}

template <typename Rules>
void finisher<Rules>::take(seam_context<Rules> const& context, job const& committed) {
    held_parameters parameters{
        *committed.type, [&](void* slot) { committed.type->copy(slot, committed.parameters); }};
    job copied{committed};
    copied.images.clear(); // the entry has them
    copied.resting = false;
    copied.coordinator.confirm_lazily();
    state& own = *state_;
    std::lock_guard const guard{own.mutex};
    if (own.context == nullptr) own.start(context);
    if (!own.room.is_open) return;
    own.queue.emplace_back(std::move(copied), std::move(parameters));
    ++own.room.unfinished;
    own.changed.notify_one();
    if (!own.source.is_called.exchange(true)) own.signal->add();
}

} // namespace detail
SETTLE_END
