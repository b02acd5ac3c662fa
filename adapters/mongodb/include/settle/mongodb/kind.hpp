// SPDX-License-Identifier: BSL-1.0
// A database of MongoDB as an any_database.
#pragma once

#include <settle/adapter/any_database.hpp>

SETTLE_BEGIN
namespace mongodb {

/// Addresses `mongodb://HOST[:PORT][,…]/DATABASE`.
[[nodiscard]] database_kind kind();

} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/kind.ipp>
#endif
