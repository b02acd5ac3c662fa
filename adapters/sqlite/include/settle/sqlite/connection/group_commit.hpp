// SPDX-License-Identifier: BSL-1.0
// Commits that threads share: each caller has a part in one native transaction.
#pragma once

#include <settle/adapter/group.hpp>
#include <settle/base/function_view.hpp>
#include <settle/sqlite/connection/writer.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

class group_commit {
public:
    explicit group_commit(writer& writer) : writer_(writer) {}

    /// Calls `function(transaction&)` in a native transaction, perhaps on another thread and beside
    /// the work of other callers, and perhaps twice, if another member undid the first attempt.
    /// Errors:  an exception of the function undoes its own work alone. A settle::failure gives
    ///          `undone`; any other exception is rethrown
    /// Shape:   ends - how its commit ends, unless a member needs the disk
    commit_result perform(settle::detail::function_view<void(transaction&)> function,
                          commit_end ends = commit_end::on_disk);

private:
    struct member : settle::detail::group_member<> {
        settle::detail::function_view<void(transaction&)> perform;
        commit_end ends = commit_end::on_disk;
        std::exception_ptr thrown{};
        bool failed = false; ///< its part was undone, independent of the other members
    };
    using groups = settle::detail::groups<member>;
    using group = groups::group;

    void perform_all(group& all);
    /// On the disk, if a member needs that.
    static commit_end end_of(std::span<member* const> members) {
        for (member const* const caller : members) {
            if (caller->ends == commit_end::on_disk) return commit_end::on_disk;
        }
        return commit_end::in_memory;
    }

    /// False if the native transaction cannot go on: the work failed without a savepoint, or its
    /// error rolled the whole native transaction back.
    /// Shape:   shared - the transaction has parts of other members
    bool perform_one(transaction& native, member& caller, bool shared);

    /// Commits each member alone, since the error of one member has undone the work of all.
    void fall_apart(std::optional<transaction>& native, std::span<member* const> members);

    static constexpr std::size_t largest = 1024; ///< members; a bound for the wait

    writer& writer_;
    groups groups_{1, largest};
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/group_commit.ipp>
#endif
