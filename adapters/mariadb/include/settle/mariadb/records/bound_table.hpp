// SPDX-License-Identifier: BSL-1.0
// A collection bound to its table, with the statements on the columns that no member names.
#pragma once

#include <settle/adapter/sql/bound_table.hpp>
#include <settle/mariadb/records/table_check.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

/// Threads may share a bound table.
class bound_table : public settle::detail::sql::bound_table<parts> {
public:
    /// Errors:  throws settle::failure when the table does not fit
    bound_table(pool& from, collection_descriptor const& collection)
        : bound_table(from, collection, settle_table(from, collection)) {}

    void send_restored(connection& to, void const* record, std::string_view image) const;
    void send_check_of_image(connection& to, part_key const& key, std::string_view others) const;

private:
    bound_table(pool& from, collection_descriptor const& collection, fit_table const& table);

    statement const* check_image_;
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/records/bound_table.ipp>
#endif
