// SPDX-License-Identifier: BSL-1.0
// Commits that threads share: whoever comes while a commit is under way goes into the next one.
//
// The first thread to come leads: it does the work of everybody who waits, each in a part of one
// native transaction, commits once, and tells everybody how that ended. Then one of those who came
// meanwhile leads. So nobody waits for more than the commit that is under way and its own.
#pragma once

#include <settle/sqlite/writer.hpp>
#include <settle/store/function_view.hpp>
#include <settle/store/shared_turns.hpp>

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
        member me{function};
        if (turns_.leads(me)) lead(me);
        if (me.thrown) std::rethrow_exception(me.thrown);
        return std::move(me.end);
    }

private:
    /// The work of one caller; it lives on the stack of that call.
    struct member {
        settle::detail::function_view<void(transaction&)> perform;
        ending end{};
        std::exception_ptr thrown{};
        bool failed = false; ///< its part was undone, whatever becomes of the others
        settle::detail::turn turn{};
    };

    void lead(member& me) {
        {
            std::lock_guard const guard{writer_.mutex()};
            group_.push_back(&me);
            gather();
            perform_group();
        }
        last_ = group_.size();
        // Nobody is touched after being told.
        for (member* one : group_) {
            if (one != &me) one->turn.tell(settle::detail::turn::stage::ended);
        }
        group_.clear();
        turns_.hand_over();
    }

    /// Those who were in the last group are about to come again.
    void gather() {
        for (int tries = 0; tries < 3 && 1 + turns_.waiting() < last_; ++tries) {
            std::this_thread::yield();
        }
        turns_.join(group_, most);
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
        } while (done < most && turns_.join(group_, most) > 0);
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
            if (shared) native.in_part([&] { one.perform(native); });
            else one.perform(native);
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
    settle::detail::shared_turns<member> turns_{1};
    std::vector<member*> group_; ///< the leader's
    std::size_t last_ = 1;       ///< how many the last group had
};

} // namespace sqlite::detail
SETTLE_END
