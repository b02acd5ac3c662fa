// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that statistics.hpp declares.
#pragma once

#include <settle/running/calls/statistics.hpp>

#include <mutex>
#include <set>

SETTLE_BEGIN
namespace detail {

struct stuck_transactions::guarded_ids {
    std::mutex mutex;
    std::set<transaction_id> ids;
};

SETTLE_FUNCTION stuck_transactions::stuck_transactions() : ids_(std::make_unique<guarded_ids>()) {}
SETTLE_FUNCTION stuck_transactions::~stuck_transactions() = default;

SETTLE_FUNCTION bool stuck_transactions::add(transaction_id const& id) {
    std::scoped_lock const guard{ids_->mutex};
    bool const added = ids_->ids.insert(id).second;
    count_.store(ids_->ids.size(), std::memory_order_relaxed);
    return added;
}

SETTLE_FUNCTION void stuck_transactions::remove_stuck(transaction_id const& id) {
    std::scoped_lock const guard{ids_->mutex};
    ids_->ids.erase(id);
    count_.store(ids_->ids.size(), std::memory_order_relaxed);
}

SETTLE_FUNCTION std::vector<transaction_id> stuck_transactions::ids() const {
    std::scoped_lock const guard{ids_->mutex};
    return {ids_->ids.begin(), ids_->ids.end()};
}

} // namespace detail
SETTLE_END
