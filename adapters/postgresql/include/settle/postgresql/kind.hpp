// SPDX-License-Identifier: BSL-1.0
// A database of PostgreSQL as an any_database.
#pragma once

#include <settle/adapter/any_database.hpp>

SETTLE_BEGIN
namespace postgresql {

/// Addresses `postgresql://HOST[:PORT][,…]/DATABASE`, and all of libpq.
[[nodiscard]] database_kind kind();

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/kind.ipp>
#endif
