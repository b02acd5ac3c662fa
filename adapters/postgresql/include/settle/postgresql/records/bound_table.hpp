// SPDX-License-Identifier: BSL-1.0
// A collection bound to its table, with the statements on the columns that no member names.
#pragma once

#include <settle/adapter/sql/bound_table.hpp>
#include <settle/postgresql/connection/parts.hpp>
#include <settle/postgresql/records/table_check.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

/// Threads may share a bound table.
class bound_table : public settle::detail::sql::bound_table<parts> {
public:
    /// Errors:  throws settle::failure when the table does not fit
    bound_table(pool& from, collection_descriptor const& collection)
        : bound_table(from, collection, settle_table(from, collection)) {}

    void send_restored(connection& to, void const* record, std::string_view image) const;
    /// Shape:   others - as send_locks() reads them
    void send_check_of_image(connection& to, part_key const& key, std::string_view others) const;

private:
    bound_table(pool& from, collection_descriptor const& collection, fit_table const& table);
    void prepare_check_of_image();

    statement const* check_image_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/records/bound_table.ipp>
#endif
