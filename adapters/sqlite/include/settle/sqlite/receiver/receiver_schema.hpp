// SPDX-License-Identifier: BSL-1.0
// The tables of a receiver in a database file: their creation, and the files that are refused.
#pragma once

#include <settle/sqlite/connection/schema.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

/// The version of the tables settle_receiver…; it changes when older libraries cannot use them.
inline constexpr std::int64_t receiver_schema_version = 1;

/// Prepares a file for a receiver; a refused file is not changed.
/// Errors:  throws errc::unfit_store when the file belongs to another receiver, and
///          errc::other_version when this library cannot use its tables
void prepare_receiver_file(writer& writer, std::string const& path,
                           std::chrono::milliseconds patience, std::string const& name);

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/receiver/receiver_schema.ipp>
#endif
