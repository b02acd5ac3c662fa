// SPDX-License-Identifier: BSL-1.0
// Metadata of a database: values that settle stores under names.
#pragma once

#include <settle/mongodb/client.hpp>
#include <settle/store/entry_facts.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

inline constexpr char const* metadata_collection = "settle_words";
inline constexpr char const* schema_version = "1";
inline constexpr std::string_view log_name_prefix = "mongodb-";

[[noreturn]] void refuse_damaged_metadata(std::string_view name);

/// The value of a name, if there is one.
/// Errors:  throws settle::failure
[[nodiscard]] std::optional<std::string> known_metadata(link& with, std::string_view name);

/// Replaces a value if it is still `old_value`.
/// Errors:  throws settle::failure
void replace_metadata(link& with, std::string_view name, std::string const& old_value,
                      std::string const& new_value);

/// The value of a name: the existing value, or else the proposed value, which is then stored.
/// Errors:  throws settle::failure
[[nodiscard]] std::string get_or_init_metadata(link& with, std::string_view name,
                                               std::string const& proposed);

void check_version(link& with);

/// As the log's keep_horizon().
[[nodiscard]] result<std::chrono::milliseconds> keep_horizon(server& of,
                                                             std::chrono::milliseconds least);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/metadata.ipp>
#endif
