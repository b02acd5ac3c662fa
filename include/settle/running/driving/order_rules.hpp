// SPDX-License-Identifier: BSL-1.0
// The names of the rules of a window's order (driving/order.hpp).
#pragma once

#include <settle/version.hpp>

SETTLE_BEGIN
namespace detail {

/// The rules of the order of a window, by name. A program uses all of them; only the environment of
/// a search hides some (`order_rules`), to show that each is needed.
struct order_rules {
    /// A job that failed on a record with the pending mark of an earlier job is requeued after it.
    static constexpr bool requeues = true;
    /// A later job that shares a record with a requeued or held-up job is requeued, too.
    static constexpr bool requeues_with = true;
    /// A job that shares a record with a waiting job is not sent to the store.
    static constexpr bool waits_with = true;
    /// No job is sent to a record with marks of a transaction that backs off.
    static constexpr bool backs_off_first = true;
    /// A one-phase job waits for the end of earlier jobs that share a record.
    static constexpr bool one_phase_waits = true;
};

template <typename Environment>
struct order_rules_of {
    using type = order_rules;
};
template <typename Environment>
    requires requires { typename Environment::order_rules; }
struct order_rules_of<Environment> {
    using type = typename Environment::order_rules;
};

} // namespace detail
SETTLE_END
