// SPDX-License-Identifier: BSL-1.0
// Native transactions that threads share: whoever comes while others are under way goes into the
// next one.
//
// A few threads lead at a time, each with its own work and that of everybody who waited when it
// began. Who meets what only single works can meet has all of them done alone.
#pragma once

#include <settle/mongodb/native.hpp>

#include <atomic>
#include <mutex>
#include <span>
#include <vector>

SETTLE_BEGIN
namespace mongodb::detail {

/// Shape:   Work - what a caller wants done; it lives on the stack of that call
template <typename Work>
class group {
public:
    /// Has work done, perhaps on another thread and beside the work of others.
    /// Shape:   perform(span of Work*) - does it all in one native transaction, gives its ending
    /// Returns: how that ended, or nothing when it threw
    template <typename Perform>
    [[nodiscard]] std::optional<ending> join(Work& mine, Perform&& perform) {
        member me{&mine};
        if (!leads_now(me)) {
            me.stage.wait(waiting, std::memory_order_acquire);
            if (me.stage.load(std::memory_order_acquire) == ended) return std::move(me.end);
        }
        lead(me, perform);
        return std::move(me.end);
    }

private:
    static constexpr int waiting = 0;
    static constexpr int leading = 1;
    static constexpr int ended = 2;
    /// Enough that a few threads need not wait for each other, and few enough that many share.
    static constexpr std::size_t most_leaders = 4;
    static constexpr std::size_t largest = 1000; ///< works of one native transaction

    struct member {
        Work* work;
        std::optional<ending> end{};
        std::atomic<int> stage{waiting};
    };

    bool leads_now(member& me) {
        std::lock_guard const guard{mutex_};
        if (leaders_ == most_leaders) {
            queue_.push_back(&me);
            return false;
        }
        ++leaders_;
        return true;
    }

    template <typename Perform>
    void lead(member& me, Perform& perform) {
        auto const others = those_who_wait();
        std::vector<Work*> all{me.work};
        for (member* one : others) all.push_back(one->work);
        try {
            me.end = perform(std::span<Work* const>{all});
        } catch (...) {
            // Whose it was shows when each goes alone.
            me.end.reset();
        }
        // Nobody is touched after being told.
        for (member* one : others) {
            one->end = me.end;
            tell(*one, ended);
        }
        hand_over();
    }

    std::vector<member*> those_who_wait() {
        std::lock_guard const guard{mutex_};
        auto const count = std::min(queue_.size(), largest);
        std::vector<member*> taken{queue_.begin(), queue_.begin() + std::ptrdiff_t(count)};
        queue_.erase(queue_.begin(), queue_.begin() + std::ptrdiff_t(count));
        return taken;
    }

    void hand_over() {
        std::lock_guard const guard{mutex_};
        if (queue_.empty()) {
            --leaders_;
            return;
        }
        member* const next = queue_.front();
        queue_.erase(queue_.begin());
        tell(*next, leading);
    }

    static void tell(member& one, int stage) {
        one.stage.store(stage, std::memory_order_release);
        one.stage.notify_one();
    }

    std::mutex mutex_;
    std::vector<member*> queue_;
    std::size_t leaders_ = 0;
};

} // namespace mongodb::detail
SETTLE_END
