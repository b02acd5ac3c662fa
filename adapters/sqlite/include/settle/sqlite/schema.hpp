// SPDX-License-Identifier: BSL-1.0
// The library's own tables in a database file: their creation, and the files that are refused.
#pragma once

#include <settle/protocol/state.hpp>
#include <settle/sqlite/writer.hpp>
#include <settle/store/json_writer.hpp>

SETTLE_BEGIN
namespace sqlite {

/// The version of the tables settle_…; it changes when older libraries cannot use them.
inline constexpr std::int64_t schema_version = 3;

/// `PRAGMA application_id` of a file that settle made: "setl".
inline constexpr std::int64_t application_id = 0x7365746c;

namespace detail {

/// Prepares a file; a refused file is not changed.
/// Errors:  throws settle::failure with one sentence
void prepare_file(writer& with, std::string const& path, std::chrono::milliseconds patience);

/// A word about the database that is written once.
/// Shape:   value - the initial value
[[nodiscard]] std::string get_or_init_metadata(writer& with, std::string_view name,
                                               std::string_view value);

/// A name that no other log has.
[[nodiscard]] std::string fresh_log_name();

} // namespace detail
} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/schema.ipp>
#endif
