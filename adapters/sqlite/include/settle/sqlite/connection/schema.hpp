// SPDX-License-Identifier: BSL-1.0
// The library's own tables in a database file: their creation, and the files that are refused.
#pragma once

#include <settle/adapter/entry_row.hpp>
#include <settle/sqlite/connection/writer.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <thread>

SETTLE_BEGIN
namespace sqlite {

/// The version of the tables settle_…; it changes when older libraries cannot use them.
inline constexpr std::int64_t schema_version = 1;

/// `PRAGMA application_id` of a file that settle made: "setl".
inline constexpr std::int64_t application_id = 0x7365746c;

namespace detail {

inline constexpr std::string_view log_name_prefix = "sqlite-";

/// The first column of the only row; nothing if there is no row.
[[nodiscard]] std::optional<std::int64_t> read_number(connection const& connection,
                                                      std::string_view sql);

/// The view of the entries for people.
[[nodiscard]] std::string entries_view();

void create_tables(connection const& connection);

/// True if the file has the view of this library. An earlier build may have made another view.
[[nodiscard]] bool has_entries_view(connection const& connection);

/// Drops and creates the view, which holds no data.
void renew_entries_view(connection const& connection);

/// True if the file has the tables.
/// Errors:  throws errc::other_version for a version that this library cannot use
[[nodiscard]] bool has_tables(connection const& connection, std::string const& path);

/// Errors:  throws errc::unfit_store when another program uses a name of settle's tables
void check_names(connection const& connection, std::string const& path);

/// Errors:  throws errc::unfit_store when the file belongs to another application
void check_application(connection const& connection, std::string const& path);

/// Keys are compared by their bytes of UTF-8, and the file must keep them in that order.
/// Errors:  throws errc::unfit_store when the file has another text encoding
void check_encoding(connection const& connection, std::string const& path);

/// If two programs switch a new file at the same time, SQLite reports busy in spite of the timeout,
/// so the call tries again.
void use_write_ahead_log(connection const& connection, std::string const& path,
                         std::chrono::milliseconds patience);

/// Opens the write-ahead log and watches the files.
/// Errors:  throws settle::failure when the file cannot be written
void open_for_writing(writer& writer, std::string const& path, std::chrono::milliseconds patience);

/// Prepares a file; a refused file is not changed.
/// Errors:  throws settle::failure with one sentence
void prepare_file(writer& writer, std::string const& path, std::chrono::milliseconds patience);

/// A stored value about the tables, if there is one.
/// Shape:   table - of the values
[[nodiscard]] std::optional<std::string> known_metadata(connection const& connection,
                                                        std::string_view name,
                                                        std::string const& table = "settle_meta");

/// A value about the database that is written once.
/// Shape:   value - the initial value
[[nodiscard]] std::string get_or_init_metadata(writer& writer, std::string_view name,
                                               std::string_view value);

/// Replaces a value about the database if it is still `old_value`.
void replace_metadata(writer& writer, std::string_view name, std::string_view old_value,
                      std::string_view new_value);

/// The last values of a range of names, the last name first.
[[nodiscard]] std::vector<metadata_text>
list_metadata(connection const& connection, metadata_range const& names, std::size_t limit);
void erase_metadata(writer& writer, metadata_range const& names);

/// Keeps the present home of the log if the database still keeps `seen.kept`, and renames the log
/// and the log that the records belong to.
/// Shape:   new_name - may be the old name
void replace_home(writer& writer, log_home const& seen, std::string_view old_name,
                  std::string_view new_name);

} // namespace detail
} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/schema.ipp>
#endif
