// SPDX-License-Identifier: BSL-1.0
// A database of MariaDB as an any_database.
#pragma once

#include <settle/adapter/any_database.hpp>

SETTLE_BEGIN
namespace mariadb {

/// Addresses `mariadb://HOST[:PORT]/DATABASE`.
[[nodiscard]] database_kind kind();

} // namespace mariadb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/kind.ipp>
#endif
