// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that native.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>
#include <settle/postgresql/native.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION commit_result native_transaction::perform(action function,
                                                          std::chrono::milliseconds longest) {
    for (settle::detail::retry_pauses between{longest};;) {
        auto const ended = try_once(function);
        if (!is_conflict(ended.problem.code) || !between.next()) return ended;
    }
}

SETTLE_FUNCTION commit_result native_transaction::try_once(action function) {
    try {
        if (!held_ || !(*held_)->good()) {
            held_.reset();
            held_.emplace(from_->take());
        }
        connection& with = **held_;
        with.begin();
        function(with);
        with.commit();
        return {commit_status::committed, {}};
    } catch (failure const& caught) {
        if (held_) (*held_)->rollback();
        bool const unknown = caught.problem().code == condition::unknown;
        return {unknown ? commit_status::unknown : commit_status::undone, caught.problem()};
    } catch (...) {
        if (held_) (*held_)->rollback();
        throw;
    }
}

} // namespace postgresql::detail
SETTLE_END
