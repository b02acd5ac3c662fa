// SPDX-License-Identifier: BSL-1.0
// Groups of callers: a caller that arrives while all leaders work joins the next group.
//
// A few threads lead at a time. Each leader performs its own work and the work of all callers that
// waited when it began, and gives each member its result. Then a waiting caller leads. So a caller
// waits for at most the group under way and its own.
#pragma once

#include <settle/adapter/native_wave.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

SETTLE_BEGIN
namespace detail {

enum class group_stage : int { waiting, leads, ended };

/// The work of one caller, on the stack of that caller.
template <typename Result = commit_result>
struct group_member {
    using stage = group_stage;
    using result_type = Result;

    std::optional<Result> end{}; ///< its result; empty while it is unknown
    std::atomic<stage> now{stage::waiting};
};

/// Shape:   Member - a group_member
template <typename Member>
class groups {
    using stage = group_stage;

public:
    /// Shape:   leaders - the number of threads that lead at a time; largest - the largest number
    ///          of members of a group
    groups(std::size_t leaders, std::size_t largest) : idle_(leaders), largest_(largest) {}

    /// Members whose work is done together.
    class group {
    public:
        /// A group that no caller joins.
        explicit group(Member& alone) : members_{&alone} {}

        [[nodiscard]] std::span<Member* const> members() const noexcept { return members_; }
        /// Admits the callers that have arrived meanwhile; returns their number.
        std::size_t join() { return of_ == nullptr ? 0 : of_->join(members_); }
        void end_all(typename Member::result_type const& ended) const {
            for (Member* const one : members_) one->end = ended;
        }

    private:
        friend class groups;
        group(Member& first, groups& groups) : members_{&first}, of_(&groups) {}

        std::vector<Member*> members_;
        groups* of_ = nullptr;
    };

    /// Waits until the work of this caller is done, on its own thread or on the thread of a leader.
    /// Shape:   perform(group) - does the work of the members and sets their results. A member has
    ///          no result if perform throws or sets none; then its caller performs it alone, which
    ///          shows which member failed
    template <typename Perform>
    void perform(Member& own, Perform&& perform) {
        // Constructed before the caller leads, since a leader must always hand over.
        group all{own, *this};
        if (!leads(own)) return;
        try {
            gather(all);
            perform(all);
        } catch (...) {
            // The members without a result are performed alone.
        }
        last_.store(all.members_.size(), std::memory_order_relaxed);
        hand_over();
        // A member may be destroyed once it has ended, so no member is used after that.
        for (Member* const one : all.members_) {
            if (one != &own) one->now.store(stage::ended, std::memory_order_release);
        }
        turn_.fetch_add(1, std::memory_order_release);
        turn_.notify_all();
    }

private:
    /// Waits until the caller leads, or until a leader has done its work.
    [[nodiscard]] bool leads(Member& own) {
        {
            std::lock_guard const guard{mutex_};
            if (idle_ > 0) {
                --idle_;
                return true;
            }
            queue_.push_back(&own);
        }
        for (;;) {
            auto const seen = turn_.load(std::memory_order_acquire);
            auto const now = own.now.load(std::memory_order_acquire);
            if (now != stage::waiting) return now == stage::leads;
            turn_.wait(seen, std::memory_order_acquire);
        }
    }

    /// Waits a moment for the members of the last group to arrive again.
    void gather(group& all) {
        auto const last = last_.load(std::memory_order_relaxed);
        for (int tries = 0; tries < 3 && 1 + waiting() < last; ++tries) std::this_thread::yield();
        all.join();
    }
    [[nodiscard]] std::size_t waiting() {
        std::lock_guard const guard{mutex_};
        return queue_.size();
    }

    std::size_t join(std::vector<Member*>& members) {
        std::lock_guard const guard{mutex_};
        auto const room = largest_ - std::min(largest_, members.size());
        auto const count = std::min(queue_.size(), room);
        auto const last = queue_.begin() + static_cast<std::ptrdiff_t>(count);
        members.insert(members.end(), queue_.begin(), last);
        queue_.erase(queue_.begin(), last);
        return count;
    }

    /// Lets the first waiting caller lead.
    void hand_over() {
        std::lock_guard const guard{mutex_};
        if (queue_.empty()) {
            ++idle_;
            return;
        }
        Member* const next = queue_.front();
        queue_.erase(queue_.begin());
        next->now.store(stage::leads, std::memory_order_release);
    }

    std::mutex mutex_;
    std::vector<Member*> queue_;
    std::size_t idle_;
    std::size_t largest_;
    std::atomic<std::uint32_t> turn_{0};
    std::atomic<std::size_t> last_{1}; ///< the number of members of the last group
};

} // namespace detail
SETTLE_END
