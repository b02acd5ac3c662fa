// SPDX-License-Identifier: BSL-1.0
// Whether this process may use the files of a database, asked before SQLite opens any of them.
#pragma once

#include <settle/base/error.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

/// SQLite creates `-wal` and `-shm` also for a program that may only read the database, and these
/// files would lock its owner out.
/// Errors:  throws settle::failure when this process may not write to the database, or to a file
///          beside it
void check_access(std::string const& path);

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/file_access.ipp>
#endif
