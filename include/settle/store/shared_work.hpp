// SPDX-License-Identifier: BSL-1.0
// Work that threads share: whoever comes while others are at work goes into the next party.
//
// A few threads lead at a time, each with its own work and that of everybody who waited when it
// began, and tell each how that ended. Then somebody who waits leads next. So nobody waits for more
// than the party that is under way and its own.
#pragma once

#include <settle/store/native_wave.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// What one caller wants done; it lives on the stack of that call.
struct shared_work {
    enum class stage : int { waiting, leads, ended };

    std::optional<ending> end{}; ///< how it ended, as far as anybody knows
    std::atomic<stage> now{stage::waiting};
};

template <std::derived_from<shared_work> Work>
class shared_turns {
public:
    /// Shape:   leaders - how many lead at a time; largest - how many works a party has at most
    shared_turns(std::size_t leaders, std::size_t largest) : idle_(leaders), largest_(largest) {}

    /// Works that are done together.
    class party {
    public:
        /// One that nobody joins.
        explicit party(Work& alone) : works_{&alone} {}

        [[nodiscard]] std::span<Work* const> works() const noexcept { return works_; }
        /// Takes in those who have come meanwhile; how many that were.
        std::size_t join() { return of_ == nullptr ? 0 : of_->join(works_); }
        void end_all(ending const& with) const {
            for (Work* const one : works_) one->end = with;
        }

    private:
        friend class shared_turns;
        party(Work& first, shared_turns& of) : works_{&first}, of_(&of) {}

        std::vector<Work*> works_;
        shared_turns* of_ = nullptr;
    };

    /// Has work done, perhaps on another thread and beside the work of others.
    /// Shape:   perform(party) - does its works, and sets their ends. Where it throws, who has no
    ///          end yet gets none: whose doing that was shows when each goes alone
    template <typename Perform>
    void perform(Work& mine, Perform&& perform) {
        if (!leads(mine)) return;
        party all{mine, *this};
        try {
            gather(all);
            perform(all);
        } catch (...) {
        }
        last_.store(all.works_.size(), std::memory_order_relaxed);
        hand_over();
        // Nobody is touched after being told.
        for (Work* const one : all.works_) {
            if (one != &mine) one->now.store(shared_work::stage::ended, std::memory_order_release);
        }
        turn_.fetch_add(1, std::memory_order_release);
        turn_.notify_all();
    }

private:
    /// Waits until the caller leads, or another has done its work.
    [[nodiscard]] bool leads(Work& mine) {
        {
            std::lock_guard const guard{mutex_};
            if (idle_ > 0) {
                --idle_;
                return true;
            }
            queue_.push_back(&mine);
        }
        for (;;) {
            auto const seen = turn_.load(std::memory_order_acquire);
            auto const now = mine.now.load(std::memory_order_acquire);
            if (now != shared_work::stage::waiting) return now == shared_work::stage::leads;
            turn_.wait(seen, std::memory_order_acquire);
        }
    }

    /// Those who were in the last party are about to come again.
    void gather(party& all) {
        auto const last = last_.load(std::memory_order_relaxed);
        for (int tries = 0; tries < 3 && 1 + waiting() < last; ++tries) std::this_thread::yield();
        all.join();
    }
    [[nodiscard]] std::size_t waiting() {
        std::lock_guard const guard{mutex_};
        return queue_.size();
    }

    std::size_t join(std::vector<Work*>& works) {
        std::lock_guard const guard{mutex_};
        auto const room = largest_ - std::min(largest_, works.size());
        auto const count = std::min(queue_.size(), room);
        auto const last = queue_.begin() + static_cast<std::ptrdiff_t>(count);
        works.insert(works.end(), queue_.begin(), last);
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
        next->now.store(shared_work::stage::leads, std::memory_order_release);
    }

    std::mutex mutex_;
    std::vector<Work*> queue_;
    std::size_t idle_;
    std::size_t largest_;
    std::atomic<std::uint32_t> turn_{0};
    std::atomic<std::size_t> last_{1}; ///< how many works the last party had
};

} // namespace detail
SETTLE_END
