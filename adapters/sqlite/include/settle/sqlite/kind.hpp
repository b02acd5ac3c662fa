// SPDX-License-Identifier: BSL-1.0
// A file of SQLite as an any_database.
#pragma once

#include <settle/adapter/any_database.hpp>

SETTLE_BEGIN
namespace sqlite {

/// Addresses `sqlite:PATH`.
[[nodiscard]] database_kind kind();

} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/kind.ipp>
#endif
