// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that native.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>
#include <settle/postgresql/connection/native.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION commit_result native_transaction::perform(action function,
                                                          std::chrono::milliseconds longest) {
    for (settle::detail::retry_pauses between{longest};;) {
        auto const ended = try_once(function);
        if (!is_conflict(ended.problem.code) || !between.next()) return ended;
    }
}

SETTLE_FUNCTION std::optional<commit_result> native_transaction::start(action function) {
    try {
        if (!held_ || !(*held_)->good()) {
            held_.reset();
            held_.emplace(from_->take());
        }
        connection& with = **held_;
        with.begin();
        function(with);
        with.start_commit();
        return std::nullopt;
    } catch (failure const& caught) {
        return end_failed(caught);
    } catch (...) {
        if (held_) (*held_)->rollback();
        throw;
    }
}

SETTLE_FUNCTION commit_result native_transaction::finish() {
    try {
        (*held_)->finish_commit();
        return {commit_status::committed, {}};
    } catch (failure const& caught) {
        return end_failed(caught);
    }
}

SETTLE_FUNCTION commit_result native_transaction::end_failed(failure const& caught) {
    if (held_) (*held_)->rollback();
    bool const unknown = caught.problem().code == condition::unknown;
    return {unknown ? commit_status::unknown : commit_status::undone, caught.problem()};
}

} // namespace postgresql::detail
SETTLE_END
