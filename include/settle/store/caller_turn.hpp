// SPDX-License-Identifier: BSL-1.0
// Callers that wait for one another: one of them leads, and does the work of all.
#pragma once

#include <settle/store/caller_wait.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// What a caller waits for.
enum class turn_stage : std::uint8_t {
    waiting,
    leads, ///< it does its own work, and that of others
    ended  ///< another thread has done its work
};

/// Where a caller waits. It outlives the caller's work, so that a leader can wake the caller
/// without holding the mutex: the work may be gone by then.
struct waiting_seat {
    std::mutex mutex{};
    std::condition_variable changed{};
};

/// A caller's turn, on the stack of that caller.
class caller_turn {
public:
    /// Shape:   limits - how long the caller waits, or null; they outlive the object
    explicit caller_turn(wait_limits const* limits) noexcept : limits_(limits) {}
    caller_turn(caller_turn const&) = delete;
    caller_turn& operator=(caller_turn const&) = delete;

    [[nodiscard]] wait_limits const* limits() const noexcept { return limits_; }

    /// Wakes the caller. Its turn may be destroyed at once.
    void advance(turn_stage to) {
        waiting_seat& seat = *seat_;
        {
            std::lock_guard const guard{seat.mutex};
            stage_ = to;
        }
        seat.changed.notify_one();
    }
    [[nodiscard]] turn_stage wait() {
        std::unique_lock guard{seat_->mutex};
        seat_->changed.wait(guard, [&] { return stage_ != turn_stage::waiting; });
        return stage_;
    }
    /// Gives `waiting` once the limits are over.
    [[nodiscard]] turn_stage wait_within_limits() {
        if (limits_ == nullptr) return wait();
        std::stop_callback const on_stop{limits_->stop, [this] {
                                             std::lock_guard const guard{seat_->mutex};
                                             seat_->changed.notify_one();
                                         }};
        auto const is_over = [&] { return stage_ != turn_stage::waiting || limits_->are_over(); };
        std::unique_lock guard{seat_->mutex};
        if (limits_->deadline) seat_->changed.wait_until(guard, *limits_->deadline, is_over);
        else seat_->changed.wait(guard, is_over);
        return stage_;
    }

private:
    friend class waiting_seats;

    turn_stage stage_ = turn_stage::waiting; ///< once it waits, the seat's mutex guards it
    waiting_seat* seat_ = nullptr;
    wait_limits const* limits_;
};

/// The seats of the callers that wait for one another.
/// Shape:   the owner's mutex guards the object
class waiting_seats {
public:
    void give(caller_turn& turn) {
        if (free_.empty()) {
            free_.reserve(seats_.size() + 1);
            free_.push_back(&seats_.emplace_back());
        }
        turn.stage_ = turn_stage::waiting;
        turn.seat_ = free_.back();
        free_.pop_back();
    }
    void take_back(caller_turn& turn) { free_.push_back(std::exchange(turn.seat_, nullptr)); }

private:
    std::deque<waiting_seat> seats_;
    std::vector<waiting_seat*> free_;
};

} // namespace detail
SETTLE_END
