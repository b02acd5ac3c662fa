// SPDX-License-Identifier: BSL-1.0
// Metadata of a database: values that settle stores under names.
#pragma once

#include <settle/mongodb/connection/client.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

inline constexpr char const* metadata_collection = "settle_words";
inline constexpr char const* schema_version = "1";
inline constexpr std::string_view log_name_prefix = "mongodb-";

[[noreturn]] void refuse_damaged_metadata(std::string_view name);

/// The value of a name, if there is one.
/// Errors:  throws settle::failure
[[nodiscard]] std::optional<std::string> known_metadata(link& client, std::string_view name);

/// Replaces a value if it is still `old_value`.
/// Errors:  throws settle::failure
void replace_metadata(link& client, std::string_view name, std::string const& old_value,
                      std::string const& new_value);

/// The value of a name: the existing value, or else the proposed value, which is then stored.
/// Errors:  throws settle::failure
[[nodiscard]] std::string get_or_init_metadata(link& client, std::string_view name,
                                               std::string const& proposed);

void check_version(link& client);

/// The log of a database, in one document: its name and its home change together.
struct stored_log {
    std::string name{};
    std::string home{}; ///< empty if the log does not keep it
    std::string was{};  ///< the name before the last, if the log was renamed
};

/// The stored log, or else a new one, which is then stored.
/// Errors:  throws settle::failure
[[nodiscard]] stored_log get_or_init_log(link& client);

/// The kept home of the log and its present home: the identity of the collection of metadata, which
/// no copy has, and the database's name. A user who may not ask for it finds no present home.
[[nodiscard]] result<log_home> look_home(server& database_server, stored_log const& log);

/// Keeps the present home if the database still keeps `seen.kept`; `renames` also renames the log
/// and the log that the records belong to.
[[nodiscard]] result<void> take_home(server& database_server, log_home const& seen,
                                     stored_log const& log, bool renames);

/// The log that the records of a database belong to, if they belong to one. A program that renamed
/// the log may have ended before it renamed this one; then it is renamed here.
/// Errors:  throws settle::failure
[[nodiscard]] std::optional<std::string> owner_of_records(link& client, stored_log const& log);

/// As the log's metadata(), replace_metadata(), list_metadata() and erase_metadata().
[[nodiscard]] result<std::optional<std::string>> read_metadata(server& database_server,
                                                               std::string_view name);
result<void> replace_metadata(server& database_server, std::string_view name,
                              std::optional<std::string> const& seen, std::string const& text);
[[nodiscard]] result<std::vector<metadata_text>>
list_metadata(server& database_server, metadata_range const& names, std::size_t limit);
result<void> erase_metadata(server& database_server, metadata_range const& names);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/metadata.ipp>
#endif
