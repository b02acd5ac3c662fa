// SPDX-License-Identifier: BSL-1.0
// Creates the collections and indexes that settle needs, and refuses unsafe collections.
#pragma once

#include <settle/mongodb/bound_collection.hpp>
#include <settle/mongodb/client.hpp>
#include <settle/mongodb/layout_check.hpp>
#include <settle/store/function_view.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

[[nodiscard]] bool has_collection(link& with, std::string_view name);

/// Creates a missing collection first: two native transactions that create it would conflict.
void make_collection(link& with, std::string_view name);

/// Errors:  throws errc::unfit_store
[[noreturn]] void refuse_collection(std::string_view name, std::string_view because);

/// Refuses a collection that could refuse an update of settle, or apply it to another record.
void check_collection(link& with, std::string_view name);

/// The kind of value that settle writes into a field, as an index sees it.
enum class content : std::uint8_t {
    none,  ///< the field belongs to another program, or never changes
    plain, ///< one value
    nested ///< a document or an array
};

/// The words of an error for an index by which the server erases old documents; empty for any
/// other.
[[nodiscard]] std::string index_that_erases(value_view const& index);

/// The first such index of a collection.
[[nodiscard]] std::string index_that_erases(link& with, std::string_view name);

/// Refuses an index that could refuse an update that ends a transaction, or erase a record with its
/// marks.
/// Shape:   content_of(field) - what settle writes into a field of the records
void check_indexes(link& with, std::string_view name,
                   settle::detail::function_view<content(std::string_view)> content_of);

/// Creates a unique index over a key that is not _id: nothing else prevents two records of one key.
void make_key_index(link& with, std::string_view name, std::string const& key);

/// Creates or checks the collection of records.
/// Errors:  throws errc::unfit_store
void prepare_records(link& with, bound_collection const& bound, record_layout const& layout);

inline constexpr char const* created_index = "settle_created";

/// Creates the collection of the log and its indexes.
void make_log(link& with, entry_layout const& layout);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/collections.ipp>
#endif
