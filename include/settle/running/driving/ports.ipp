// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that ports.hpp declares.
#pragma once

#include <settle/running/calls/ids.hpp>
#include <settle/running/driving/ports.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION error engine_ports::fault_of(transaction_id const& id,
                                             transaction_descriptor const& direction) const {
    error problem;
    for (part_descriptor const& part : direction.participants) {
        for (target_binding const& bound : targets) {
            store_port const& store = *stores[bound.store];
            if (bound.target != part.target || !store.capabilities().limits_ids) continue;
            if (id.size() > store.longest_id()) problem = long_id(part.name, store.longest_id());
        }
    }
    return problem;
}

SETTLE_FUNCTION left_waves::~left_waves() {
    if (!made_in_.is_here()) return;
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [this] { return count_ == 0; });
}
SETTLE_FUNCTION void left_waves::begin() {
    std::scoped_lock const guard{mutex_};
    ++count_;
}
SETTLE_FUNCTION void left_waves::end() noexcept {
    std::scoped_lock const guard{mutex_};
    if (--count_ == 0) changed_.notify_all();
}

} // namespace detail
SETTLE_END
