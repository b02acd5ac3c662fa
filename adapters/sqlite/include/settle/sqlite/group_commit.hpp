// SPDX-License-Identifier: BSL-1.0
// Commits that threads share: each caller has a part in one native transaction.
#pragma once

#include <settle/sqlite/writer.hpp>
#include <settle/store/function_view.hpp>
#include <settle/store/group.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

class group_commit {
public:
    explicit group_commit(writer& on) : writer_(on) {}

    /// Calls `function(transaction&)` in a native transaction, perhaps on another thread and beside
    /// the work of other callers, and perhaps twice, if another member undid the first attempt.
    /// Errors:  what it throws ends its own work alone: a settle::failure as `undone`, anything
    ///          else comes out here
    commit_result perform(settle::detail::function_view<void(transaction&)> function) {
        member me{{}, function};
        groups_.perform(me, [&](group& all) {
            std::lock_guard const guard{writer_.mutex()};
            all.join();
            perform_all(all);
        });
        if (me.thrown) std::rethrow_exception(me.thrown);
        if (me.end) return *std::move(me.end);
        return {commit_status::unknown, {std::make_error_code(std::errc::not_enough_memory),
                                "settle: a thread that wrote for others had no memory left. "
                                "See running#undecided"}};
    }

private:
    struct member : settle::detail::group_member {
        settle::detail::function_view<void(transaction&)> perform;
        std::exception_ptr thrown{};
        bool failed = false; ///< its part was undone, whatever becomes of the others
    };
    using groups = settle::detail::groups<member>;
    using group = groups::group;

    void perform_all(group& all) {
        std::optional<transaction> native;
        try {
            native.emplace(writer_);
        } catch (failure const& problem) {
            return all.end_all({commit_status::undone, problem.problem()});
        }
        std::size_t done = 0;
        do {
            auto const members = all.members();
            for (; done < members.size(); ++done) {
                if (!perform_one(*native, *members[done], members.size() > 1)) {
                    return fall_apart(native, members);
                }
            }
            // A caller that arrives while a group is at work need not wait for the next.
        } while (all.join() > 0);
        auto const end = native->commit();
        for (member* const one : all.members()) {
            if (!one->failed) one->end = end;
        }
    }

    /// False if the whole native transaction was rolled back with it.
    /// Shape:   shared - others have a part in the transaction
    bool perform_one(transaction& native, member& one, bool shared) {
        one.failed = false;
        try {
            if (shared) native.in_part([&] { one.perform(native); });
            else one.perform(native);
            return true;
        } catch (failure const& problem) {
            one.end = {commit_status::undone, problem.problem()};
        } catch (...) {
            one.thrown = std::current_exception();
        }
        one.failed = true;
        return shared && writer_.on().in_transaction();
    }

    /// One member's error has undone all work: each member goes alone, so that no other fails.
    void fall_apart(std::optional<transaction>& native, std::span<member* const> all) {
        native.reset();
        if (all.size() == 1) return;
        for (member* const one : all) {
            one->thrown = nullptr;
            try {
                transaction alone{writer_};
                if (!perform_one(alone, *one, false)) continue;
                one->end = alone.commit();
            } catch (failure const& problem) {
                one->end = {commit_status::undone, problem.problem()};
            }
        }
    }

    static constexpr std::size_t largest = 1024; ///< members, so that a commit comes

    writer& writer_;
    groups groups_{1, largest};
};

} // namespace sqlite::detail
SETTLE_END
