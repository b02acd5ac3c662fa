// SPDX-License-Identifier: BSL-1.0
// Creates the table of a collection, or checks an existing table: a table that could refuse or
// change a write of settle is refused when the collection is bound.
#pragma once

#include <settle/postgresql/connection/dialect.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::collection_descriptor;
using settle::detail::member_access;
using settle::detail::member_descriptor;

using fit_table = settle::detail::sql::fit_table<table_column>;

/// Creates the table if it does not exist; an existing table is used unchanged if it fits.
/// Errors:  throws settle::failure; errc::unfit_store with one sentence that names the change to
///          make
[[nodiscard]] fit_table settle_table(pool& pool, collection_descriptor const& collection);

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/records/table_check.ipp>
#endif
