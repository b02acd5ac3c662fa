// SPDX-License-Identifier: BSL-1.0
// Detects an address that names another replica set than its hosts belong to, and a replica set
// that names its members so that they cannot be reached. The driver reports neither: it finds no
// server.
#pragma once

#include <settle/mongodb/connection/bson.hpp>
#include <settle/mongodb/connection/error.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Called when no server was found.
/// Errors:  throws errc::unfit_store where a host of the address belongs to another set, or to
/// none;
///          errc::store_unreachable where a host answers, and its set has other names for its
///          members
void check_set_names(mongoc_uri_t const* address);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/set_names.ipp>
#endif
