// SPDX-License-Identifier: BSL-1.0
// The home of a log in a file: tells the file from its copies.
#pragma once

#include <settle/sqlite/connection/connection.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

/// The device, inode, time of birth and path of the database; empty if it is no file of its own.
/// Another machine may have the same numbers by chance, and there the time of birth differs.
[[nodiscard]] std::string home_of(connection const& connection);

/// True if two homes are of one file.
[[nodiscard]] bool is_same_file(std::string_view kept, std::string_view present);

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/file_home.ipp>
#endif
