// SPDX-License-Identifier: BSL-1.0
// Runs exactly one worker thread at a time; hand_over() names the next worker.
#pragma once

#include <settle/protocol/entry.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

SETTLE_BEGIN
namespace testing::detail {

/// The wall clock of a process whose clock is right.
[[nodiscard]] inline timestamp simulated_time(std::chrono::nanoseconds elapsed) {
    using std::chrono::milliseconds;
    return timestamp{milliseconds{1'800'000'000'000}} +
           std::chrono::duration_cast<milliseconds>(elapsed);
}

/// The workers take turns. Only the running worker may access the shared state, so that no
/// other lock is needed.
class schedule {
public:
    using time = std::chrono::nanoseconds;
    static constexpr time never = time::max();

    explicit schedule(std::size_t workers) : seats_(workers + 1), times_(workers, time{}) {}

    [[nodiscard]] std::size_t workers() const { return times_.size(); }
    [[nodiscard]] time time_of(std::size_t worker) const { return times_[worker]; }
    void advance(std::size_t worker, time passed) { times_[worker] += passed; }

    /// The worker with the earliest time (at equal times the lowest number), or `workers()` when
    /// all workers have left.
    [[nodiscard]] std::size_t earliest() const {
        std::size_t earliest = times_.size();
        time least = never;
        for (std::size_t i = 0; i < times_.size(); ++i) {
            if (times_[i] >= least) continue;
            least = times_[i];
            earliest = i;
        }
        return earliest;
    }

    /// Passes the turn to another worker and waits for the next turn.
    void hand_over(std::size_t from, std::size_t to) {
        if (from == to) return;
        wake(to);
        await(from);
    }
    /// Waits for the worker's turn; each worker's thread calls this first.
    void await(std::size_t worker) {
        seat& own = seats_[worker];
        std::unique_lock lock{own.mutex};
        own.alarm.wait(lock, [&] { return own.called; });
        own.called = false;
    }
    /// Ends the worker's turns; each worker's thread calls this last.
    void leave(std::size_t worker) {
        times_[worker] = never;
        wake(earliest());
    }
    /// Runs the workers until all have left.
    void conduct() { hand_over(workers(), earliest()); }

private:
    struct seat {
        std::mutex mutex;
        std::condition_variable alarm;
        bool called = false;
    };

    void wake(std::size_t worker) {
        seat& other = seats_[worker];
        {
            std::lock_guard const guard{other.mutex};
            other.called = true;
        }
        other.alarm.notify_one();
    }

    std::vector<seat> seats_;
    std::vector<time> times_;
};

} // namespace testing::detail
SETTLE_END
