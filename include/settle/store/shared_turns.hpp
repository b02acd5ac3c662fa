// SPDX-License-Identifier: BSL-1.0
// Work that threads share: a few lead at a time, each with its own work and that of those who came
// while others led. When one has done, somebody who waits leads next.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// What a thread that waits for its turn is told; a part of its work, on the stack of its call.
class turn {
public:
    enum class stage : int { waiting, leads, ended };

    [[nodiscard]] stage wait() const noexcept {
        stage_.wait(stage::waiting, std::memory_order_acquire);
        return stage_.load(std::memory_order_acquire);
    }
    void tell(stage what) noexcept {
        stage_.store(what, std::memory_order_release);
        stage_.notify_one();
    }

private:
    std::atomic<stage> stage_{stage::waiting};
};

/// Shape:   Work - has a member `turn`; it lives until its caller was told
template <typename Work>
class shared_turns {
public:
    /// Shape:   leaders - how many lead at a time
    explicit shared_turns(std::size_t leaders) : idle_(leaders) {}

    /// Waits until the caller leads, which it ends with hand_over(), or another has done its work.
    /// Returns: whether it leads
    [[nodiscard]] bool leads(Work& mine) {
        {
            std::lock_guard const guard{mutex_};
            if (idle_ > 0) {
                --idle_;
                return true;
            }
            queue_.push_back(&mine);
        }
        return mine.turn.wait() == turn::stage::leads;
    }

    /// How many wait.
    [[nodiscard]] std::size_t waiting() {
        std::lock_guard const guard{mutex_};
        return queue_.size();
    }

    /// Takes those who wait, at most so many, into the leader's group; how many that were.
    std::size_t join(std::vector<Work*>& group, std::size_t most) {
        std::lock_guard const guard{mutex_};
        auto const count = std::min(queue_.size(), most);
        auto const last = queue_.begin() + static_cast<std::ptrdiff_t>(count);
        group.insert(group.end(), queue_.begin(), last);
        queue_.erase(queue_.begin(), last);
        return count;
    }

    /// Lets the first of those who wait lead.
    void hand_over() {
        std::lock_guard const guard{mutex_};
        if (queue_.empty()) {
            ++idle_;
            return;
        }
        Work* const next = queue_.front();
        queue_.erase(queue_.begin());
        next->turn.tell(turn::stage::leads);
    }

private:
    std::mutex mutex_;
    std::vector<Work*> queue_;
    std::size_t idle_;
};

} // namespace detail
SETTLE_END
