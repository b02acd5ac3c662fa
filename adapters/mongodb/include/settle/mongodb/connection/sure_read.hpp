// SPDX-License-Identifier: BSL-1.0
// Reads of one record whose answer no newer primary contradicts.
#pragma once

#include <settle/mongodb/connection/client.hpp>
#include <settle/mongodb/records/layout.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Shape:   made() - gives the record to fill, if there is a record
/// Errors:  throws settle::failure, also when no majority answers in time
void read_linearizable(server& database_server, collection_descriptor const& descriptor,
                       record_layout const& layout, part_key const& key,
                       settle::detail::function_view<void*()> made);

/// For servers without linearizable reads: a write that a majority acknowledges, and the record as
/// written.
/// Shape:   as read_linearizable
/// Errors:  as read_linearizable
void read_by_quorum(server& database_server, collection_descriptor const& descriptor,
                    record_layout const& layout, part_key const& key,
                    settle::detail::function_view<void*()> made);

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/sure_read.ipp>
#endif
