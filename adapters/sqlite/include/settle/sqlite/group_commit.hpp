// SPDX-License-Identifier: BSL-1.0
// Commits that threads share: each caller has a part in one native transaction.
#pragma once

#include <settle/sqlite/writer.hpp>
#include <settle/store/function_view.hpp>
#include <settle/adapter/group.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

class group_commit {
public:
    explicit group_commit(writer& on) : writer_(on) {}

    /// Calls `function(transaction&)` in a native transaction, perhaps on another thread and beside
    /// the work of other callers, and perhaps twice, if another member undid the first attempt.
    /// Errors:  what it throws ends its own work alone: a settle::failure as `undone`, anything
    ///          else comes out here
    commit_result perform(settle::detail::function_view<void(transaction&)> function);

private:
    struct member : settle::detail::group_member {
        settle::detail::function_view<void(transaction&)> perform;
        std::exception_ptr thrown{};
        bool failed = false; ///< its part was undone, whatever becomes of the others
    };
    using groups = settle::detail::groups<member>;
    using group = groups::group;

    void perform_all(group& all);

    /// False if the whole native transaction was rolled back with it.
    /// Shape:   shared - others have a part in the transaction
    bool perform_one(transaction& native, member& one, bool shared);

    /// One member's error has undone all work: each member goes alone, so that no other fails.
    void fall_apart(std::optional<transaction>& native, std::span<member* const> all);

    static constexpr std::size_t largest = 1024; ///< members, so that a commit comes

    writer& writer_;
    groups groups_{1, largest};
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/group_commit.ipp>
#endif
