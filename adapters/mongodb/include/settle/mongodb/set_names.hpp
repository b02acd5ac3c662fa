// SPDX-License-Identifier: BSL-1.0
// Detects an address that names another replica set than its hosts belong to. The driver does not
// report this: it only finds no server.
#pragma once

#include <settle/mongodb/bson.hpp>
#include <settle/mongodb/error.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Called when no server was found.
/// Errors:  throws errc::unfit_store where a host of the address belongs to another set, or to none
void check_set_names(mongoc_uri_t const* address);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/set_names.ipp>
#endif
