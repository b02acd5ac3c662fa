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

} // namespace detail
SETTLE_END
