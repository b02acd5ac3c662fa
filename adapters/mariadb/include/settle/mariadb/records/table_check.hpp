// SPDX-License-Identifier: BSL-1.0
// Creates the table of a collection, or checks an existing table: a table that could refuse or
// change a write of settle is refused when the collection is bound.
#pragma once

#include <settle/mariadb/connection/parts.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

using settle::detail::collection_descriptor;
using settle::detail::member_access;
using settle::detail::member_descriptor;
using fit_table = settle::detail::sql::fit_table<table_column>;

/// Creates the table if it does not exist; an existing table is used unchanged if it fits.
/// Errors:  throws settle::failure; errc::unfit_store with one sentence that names the change to
///          make
[[nodiscard]] fit_table settle_table(pool& from, collection_descriptor const& collection);

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/records/table_check.ipp>
#endif
