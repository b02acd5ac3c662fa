// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that group_commit.hpp declares.
#pragma once

#include <settle/sqlite/connection/group_commit.hpp>
#include <settle/store/caller_wait.hpp>

#include <string>

SETTLE_BEGIN
namespace sqlite::detail {

[[nodiscard]] inline error ended_behind_another_thread() {
    std::string text{"settle: another thread of this program works with the SQLite file, and "};
    text.append(settle::detail::caller_wait::limits()->name());
    text.append(" ended the wait for it. Call again. See sqlite#errors");
    return {make_error_code(errc::store_unreachable), std::move(text)};
}

SETTLE_FUNCTION commit_result
group_commit::perform(settle::detail::function_view<void(transaction&)> function, commit_end ends) {
    member me{{}, function, ends};
    auto const perform_group = [&](group& whole) {
        std::lock_guard const guard{writer_.mutex()};
        whole.join();
        perform_all(whole);
    };
    if (!groups_.perform(me, perform_group)) {
        // The thread that leads may wait for another program much longer than this caller does.
        std::unique_lock const guard{writer_.mutex(), std::try_to_lock};
        if (!guard) return {commit_status::undone, ended_behind_another_thread()};
        group alone{me};
        perform_all(alone);
    }
    if (me.thrown) std::rethrow_exception(me.thrown);
    if (me.end) return *std::move(me.end);
    return {commit_status::unknown,
            {std::make_error_code(std::errc::not_enough_memory),
             "settle: the thread that committed for several callers ran out of memory. "
             "See running#undecided"}};
}

SETTLE_FUNCTION void group_commit::perform_all(group& whole) {
    std::optional<transaction> native;
    auto const ends = end_of(whole.members());
    try {
        native.emplace(writer_, ends);
    } catch (failure const& problem) {
        return whole.end_all({commit_status::undone, problem.problem()});
    }
    std::size_t done = 0;
    do {
        auto const members = whole.members();
        for (; done < members.size(); ++done) {
            if (!perform_one(*native, *members[done], members.size() > 1)) {
                return fall_apart(native, members);
            }
        }
        // A caller that arrives while a group is at work need not wait for the next.
    } while (ends == commit_end::on_disk && whole.join() > 0);
    auto const end = native->commit();
    for (member* const one : whole.members()) {
        if (!one->failed) one->end = end;
    }
}

SETTLE_FUNCTION bool group_commit::perform_one(transaction& native, member& caller, bool shared) {
    caller.failed = false;
    try {
        if (shared) native.in_savepoint([&] { caller.perform(native); });
        else caller.perform(native);
        return true;
    } catch (failure const& problem) {
        caller.end = {commit_status::undone, problem.problem()};
    } catch (...) {
        caller.thrown = std::current_exception();
    }
    caller.failed = true;
    return shared && writer_.on().in_transaction();
}

SETTLE_FUNCTION void group_commit::fall_apart(std::optional<transaction>& native,
                                              std::span<member* const> members) {
    native.reset();
    if (members.size() == 1) return;
    for (member* const caller : members) {
        caller->thrown = nullptr;
        try {
            transaction alone{writer_, caller->ends};
            if (!perform_one(alone, *caller, false)) continue;
            caller->end = alone.commit();
        } catch (failure const& problem) {
            caller->end = {commit_status::undone, problem.problem()};
        }
    }
}

} // namespace sqlite::detail
SETTLE_END
