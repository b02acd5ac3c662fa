// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that execution_state.hpp declares.
#pragma once

#include <settle/running/driving/execution_state.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION bool same_parameters(job const& work, entry const& stored) {
    std::string ours;
    ours.reserve(stored.parameters.size());
    work.type->append_json(ours, work.parameters, secrets::written);
    // A log may write the members in another order, so their values decide.
    return ours == stored.parameters || work.type->normal_json(stored.parameters) == ours;
}

SETTLE_FUNCTION interruption compare_entry(job const& work, entry const& stored) {
    if (!work.type->described) {
        bool const alive = !stored.type.empty() && !is_final(stored.state);
        return alive ? interruption::described : interruption::none;
    }
    if (stored.type.empty()) return interruption::none;
    if (stored.type != work.type->name() || !same_parameters(work, stored)) {
        return interruption::mismatch;
    }
    // Another definition has other parts, so only it can bring its entry to an end.
    if (!is_final(stored.state) && stored.definition != work.type->definition()) {
        return interruption::redefined;
    }
    return interruption::none;
}

} // namespace detail
SETTLE_END
