// SPDX-License-Identifier: BSL-1.0
// Creates the collections and indexes that settle needs, and refuses unsafe collections.
#pragma once

#include <settle/mongodb/connection/client.hpp>
#include <settle/mongodb/log/entry_layout.hpp>
#include <settle/mongodb/records/layout.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

[[nodiscard]] bool has_collection(link& client, std::string_view name);

/// Errors:  throws errc::unfit_store
[[noreturn]] void refuse_collection(std::string_view name, std::string_view because);

/// The error of a collection that was renamed or dropped after it was checked; empty if it is
/// there.
[[nodiscard]] error absence_of(link& client, std::string_view name);

/// The description, for an error, of the first index by which the server erases old documents;
/// empty if there is none.
[[nodiscard]] std::string index_that_erases(link& client, std::string_view name);

/// Creates or checks the collection of records.
/// Errors:  throws errc::unfit_store
void prepare_records(link& client, collection_descriptor const& descriptor,
                     record_layout const& layout);

/// Creates the collection of the log and its indexes.
void make_log(link& client, entry_layout const& layout);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/collections.ipp>
#endif
