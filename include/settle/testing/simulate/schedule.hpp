// SPDX-License-Identifier: BSL-1.0
// Threads of which exactly one runs, the one whose virtual time is the earliest.
#pragma once

#include <settle/version.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

SETTLE_BEGIN
namespace testing::detail {

/// A baton goes from hand to hand. Whoever holds it may look at everything that the workers share,
/// so that nothing else needs a lock.
class schedule {
public:
    using time = std::chrono::nanoseconds;
    static constexpr time never = time::max();

    explicit schedule(std::size_t workers) : seats_(workers + 1), times_(workers, time{}) {}

    [[nodiscard]] std::size_t workers() const { return times_.size(); }
    [[nodiscard]] time time_of(std::size_t worker) const { return times_[worker]; }
    void advance(std::size_t worker, time passed) { times_[worker] += passed; }

    /// Whose turn it is: of equal times the lowest number's; `workers()` when all have left.
    [[nodiscard]] std::size_t earliest() const {
        std::size_t found = times_.size();
        time least = never;
        for (std::size_t i = 0; i < times_.size(); ++i) {
            if (times_[i] >= least) continue;
            least = times_[i];
            found = i;
        }
        return found;
    }

    /// Gives the baton to another and waits until it comes back.
    void hand_over(std::size_t from, std::size_t to) {
        if (from == to) return;
        wake(to);
        await(from);
    }
    /// The first thing that a worker does.
    void await(std::size_t worker) {
        seat& own = seats_[worker];
        std::unique_lock lock{own.mutex};
        own.alarm.wait(lock, [&] { return own.called; });
        own.called = false;
    }
    /// The last thing that a worker does.
    void leave(std::size_t worker) {
        times_[worker] = never;
        wake(earliest());
    }
    /// Lets the workers run until all have left.
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
