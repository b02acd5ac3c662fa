// SPDX-License-Identifier: BSL-1.0
// Commits that threads share: whoever comes while a commit is under way goes into the next one.
//
// The first thread to come leads: it does the work of everybody who waits, each in a part of one
// native transaction, commits once, and tells everybody how that ended. Then one of those who came
// meanwhile leads. So nobody waits for more than the commit that is under way and its own.
#pragma once

#include <settle/sqlite/writer.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

class group_commit {
public:
    explicit group_commit(writer& on) : writer_(on) {}

    /// Does `function(transaction&)` in a native transaction, perhaps on another thread and beside
    /// the work of others, and perhaps twice, when others made the first time void.
    /// Errors:  what it throws ends its own work alone: a settle::failure as `undone`, anything
    ///          else comes out here
    template <typename Function>
    ending perform(Function&& function) {
        using held = std::remove_reference_t<Function>;
        member me{[](void* given, transaction& native) { (*static_cast<held*>(given))(native); },
                  static_cast<void*>(std::addressof(function))};
        if (!leads_now(me)) {
            me.stage.wait(waiting, std::memory_order_acquire);
            if (me.stage.load(std::memory_order_acquire) == leading) lead();
        } else {
            lead();
        }
        if (me.thrown) std::rethrow_exception(me.thrown);
        return std::move(me.end);
    }

private:
    static constexpr int waiting = 0;
    static constexpr int leading = 1;
    static constexpr int ended = 2;

    /// The work of one caller; it lives on the stack of that call.
    struct member {
        void (*perform)(void*, transaction&);
        void* given;
        ending end{};
        std::exception_ptr thrown{};
        bool failed = false; ///< its part was undone, whatever becomes of the others
        std::atomic<int> stage{waiting};
    };

    bool leads_now(member& me) {
        std::lock_guard const guard{queue_mutex_};
        queue_.push_back(&me);
        return !std::exchange(led_, true);
    }

    void lead() {
        {
            std::lock_guard const guard{writer_.mutex()};
            gather();
            perform_group();
        }
        last_ = group_.size();
        // The leader itself needs no waking; nobody is touched after being told.
        for (member* one : group_) tell(*one, ended);
        group_.clear();
        hand_over();
    }

    static void tell(member& one, int stage) {
        one.stage.store(stage, std::memory_order_release);
        one.stage.notify_one();
    }

    /// Those who were in the last group are about to come again.
    void gather() {
        for (int tries = 0; tries < 3; ++tries) {
            {
                std::lock_guard const guard{queue_mutex_};
                if (queue_.size() >= last_) break;
            }
            std::this_thread::yield();
        }
        join();
    }

    /// Takes everybody who waits into the group; false when nobody does.
    bool join() {
        std::lock_guard const guard{queue_mutex_};
        group_.insert(group_.end(), queue_.begin(), queue_.end());
        bool const any = !queue_.empty();
        queue_.clear();
        return any;
    }

    void hand_over() {
        std::lock_guard const guard{queue_mutex_};
        if (queue_.empty()) led_ = false;
        else tell(*queue_.front(), leading);
    }

    void perform_group() {
        std::optional<transaction> native;
        try {
            native.emplace(writer_);
        } catch (failure const& problem) {
            for (member* one : group_) one->end = {fate::undone, problem.problem()};
            return;
        }
        std::size_t done = 0;
        do {
            bool const shared = group_.size() > 1;
            for (; done < group_.size(); ++done) {
                if (!perform_one(*native, *group_[done], shared)) return fall_apart(native);
            }
            // Whoever comes while a group is at work need not wait for the next.
        } while (done < most && join());
        auto const end = native->commit();
        for (member* one : group_) {
            if (!one->failed) one->end = end;
        }
    }

    /// False when the whole native transaction has gone with it.
    /// Shape:   shared - others have a part in the transaction
    bool perform_one(transaction& native, member& one, bool shared) {
        one.failed = false;
        try {
            if (shared) native.in_part([&] { one.perform(one.given, native); });
            else one.perform(one.given, native);
            return true;
        } catch (failure const& problem) {
            one.end = {fate::undone, problem.problem()};
        } catch (...) {
            one.thrown = std::current_exception();
        }
        one.failed = true;
        return shared && writer_.on().in_transaction();
    }

    /// One member's error has undone everybody's work: each goes alone, so that nobody else fails.
    void fall_apart(std::optional<transaction>& native) {
        native.reset();
        if (group_.size() == 1) return;
        for (member* one : group_) {
            one->thrown = nullptr;
            try {
                transaction alone{writer_};
                if (!perform_one(alone, *one, false)) continue;
                one->end = alone.commit();
            } catch (failure const& problem) {
                one->end = {fate::undone, problem.problem()};
            }
        }
    }

    static constexpr std::size_t most = 1024; ///< members of a group, so that a commit comes

    writer& writer_;
    std::mutex queue_mutex_;
    std::vector<member*> queue_;
    bool led_ = false;
    std::vector<member*> group_; ///< the leader's
    std::size_t last_ = 1;       ///< how many the last group had
};

} // namespace sqlite::detail
SETTLE_END
