// SPDX-License-Identifier: BSL-1.0
// The driver of every engine whose log or stores are reached through the seam: one type for all
// transaction types, stores, environments and observers.
#pragma once

#include <settle/running/construction/any_environment.hpp>
#include <settle/running/driving/driver.hpp>
#include <settle/running/driving/seam_calls.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   Rules - order_rules; a search hides some of them
template <typename Rules>
using seam_driver = driver<seam_calls, any_environment<Rules>, any_observer>;

} // namespace detail

#ifdef SETTLE_COMPILED
extern template class driver<detail::seam_calls, detail::any_environment<detail::order_rules>,
                             detail::any_observer>;
#endif

SETTLE_END
