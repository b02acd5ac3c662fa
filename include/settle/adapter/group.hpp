// SPDX-License-Identifier: BSL-1.0
// Groups of callers: a caller that arrives while all leaders work joins the next group.
//
// A few threads lead at a time. Each leader performs its own work and the work of all callers that
// waited when it began, and gives each member its result. Then a waiting caller leads. So a caller
// waits for at most the group under way and its own.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/store/caller_turn.hpp>
#include <settle/store/joint_limits.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// The work of one caller, on the stack of that caller.
template <typename Result = commit_result>
struct group_member : caller_turn {
    using result_type = Result;

    group_member() : caller_turn(caller_wait::limits()) {}

    std::optional<Result> end{}; ///< its result; empty while it is unknown
};

/// Shape:   Member - derives from group_member
template <typename Member>
class groups {
    using stage = turn_stage;

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
            for (Member* const member : members_) member->end = ended;
        }
        /// Calls a function within the limits of all members that were there at the beginning.
        template <typename Function>
        void within_limits(Function&& function) const {
            if (limits_ == nullptr) return function();
            caller_wait const joint{limits_->all()};
            function();
        }

    private:
        friend class groups;
        group(Member& leader, groups& groups) : members_{&leader}, of_(&groups) {}

        std::vector<Member*> members_;           ///< the leader first
        std::unique_ptr<joint_limits> limits_{}; ///< null for a member alone
        groups* of_ = nullptr;
    };

    /// Waits until the work of this caller is done, on its own thread or on the thread of a leader.
    /// Shape:   perform(group) - does the work of the members and sets their results. A member has
    ///          no result if perform throws or sets none; then its caller performs it alone, which
    ///          shows which member failed
    /// Returns: false if the caller has stopped waiting, and nothing was done
    template <typename Perform>
    bool perform(Member& own, Perform&& perform) {
        // Constructed before the caller leads, since a leader must always hand over.
        group whole{own, *this};
        auto const reached = enters(own) ? stage::leads : wait(own);
        if (reached != stage::leads) return reached == stage::ended;
        try {
            gather(whole);
            whole.within_limits([&] { perform(whole); });
        } catch (...) {
            // The members without a result are performed alone.
        }
        last_.store(whole.members_.size(), std::memory_order_relaxed);
        hand_over();
        for (Member* const member : std::span{whole.members_}.subspan(1)) {
            member->advance(stage::ended);
        }
        return true;
    }

private:
    /// True if the caller leads at once.
    [[nodiscard]] bool enters(Member& own) {
        std::lock_guard const guard{mutex_};
        if (idle_ > 0) {
            --idle_;
            return true;
        }
        seats_.give(own);
        queue_.push_back(&own);
        return false;
    }
    /// Waits until the caller leads, or until a leader has done its work. Gives `waiting` if the
    /// caller has stopped waiting, and no leader has its work.
    [[nodiscard]] stage wait(Member& own) {
        auto reached = own.wait_within_limits();
        std::unique_lock guard{mutex_};
        if (reached == stage::waiting && std::erase(queue_, &own) == 0) {
            guard.unlock();
            reached = own.wait();
            guard.lock();
        }
        seats_.take_back(own);
        return reached;
    }
    /// Waits a moment for the members of the last group to arrive again.
    void gather(group& whole) {
        auto const last = last_.load(std::memory_order_relaxed);
        for (int tries = 0; tries < 3 && 1 + waiting() < last; ++tries) std::this_thread::yield();
        if (whole.join() == 0) return;
        whole.limits_ = std::make_unique<joint_limits>();
        for (Member const* const member : whole.members_) whole.limits_->add(member->limits());
    }
    [[nodiscard]] std::size_t waiting() {
        std::lock_guard const guard{mutex_};
        return queue_.size();
    }

    std::size_t join(std::vector<Member*>& members) {
        std::lock_guard const guard{mutex_};
        auto const before = members.size();
        auto const room = largest_ - std::min(largest_, before);
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
        next->advance(stage::leads);
    }

    std::mutex mutex_;
    std::vector<Member*> queue_;
    waiting_seats seats_;
    std::size_t idle_;
    std::size_t largest_;
    std::atomic<std::size_t> last_{1}; ///< the number of members of the last group
};

} // namespace detail
SETTLE_END
