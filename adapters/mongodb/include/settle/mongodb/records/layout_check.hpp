// SPDX-License-Identifier: BSL-1.0
// Refuses a tutorial_layout in which two values share a field of an entry, or whose entries could
// not be read again.
#pragma once

#include <settle/mongodb/connection/error.hpp>
#include <settle/mongodb/records/layout.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

[[noreturn]] void refuse_layout(std::string const& because);

/// Errors:  throws errc::unfit_store
void check_layout(entry_layout const& layout);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/records/layout_check.ipp>
#endif
