// SPDX-License-Identifier: BSL-1.0
// Looks at every mark of a store.
#pragma once

#include <settle/running/calls/patience.hpp>
#include <settle/running/driving/ports.hpp>

SETTLE_BEGIN
namespace detail {

/// Calls `function` for every mark of a store until it returns false.
void for_each_mark(store_port& store, patience& patience, error& problem,
                   function_view<bool(mark_locator const&)> function);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/marks.ipp>
#endif
