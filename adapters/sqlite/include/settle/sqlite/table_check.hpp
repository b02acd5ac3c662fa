// SPDX-License-Identifier: BSL-1.0
// Creates the table of a collection, or checks an existing table: a table that could refuse or
// change a write of settle is refused when the collection is bound.
#pragma once

#include <settle/sqlite/row.hpp>
#include <settle/sqlite/writer.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

[[nodiscard]] std::string create_sql(table_need const& need);

/// Makes the table when there is none; takes one that is there as it is, when it fits.
/// Errors:  throws settle::failure
void settle_table(writer& with, table_need const& need);

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/table_check.ipp>
#endif
