// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_sql.hpp declares.
#pragma once

#include <settle/sqlite/records/record_sql.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::uint64_t record_sql::changeable() const {
    std::uint64_t fields = 0;
    for (std::size_t at = 0; at < need_.columns.size(); ++at) {
        if (!need_.columns[at].key) fields |= std::uint64_t{1} << at;
    }
    return fields;
}

SETTLE_FUNCTION std::string record_sql::insert_with(std::vector<native_column> const& more) const {
    std::string columns = names();
    auto const values = placeholders(need_.columns.size() + more.size());
    for (auto const& one : more) columns += ", " + quoted_name(one.first);
    // An explicit ABORT, since a constraint may have its own conflict clause.
    return "INSERT OR ABORT INTO " + table_ + "(" + columns + ") VALUES(" + values + ")";
}

SETTLE_FUNCTION std::string record_sql::update_many(std::uint64_t fields, std::size_t count) const {
    auto const value = [&](std::size_t member) {
        return "settle_value(" + key_ + ", " + std::to_string(member) + ")";
    };
    return update_with(fields, value) + " IN (" + placeholders(count) + ")";
}

SETTLE_FUNCTION std::string record_sql::placeholders(std::size_t count) {
    std::string list = "?";
    for (std::size_t at = 1; at < count; ++at) list += ", ?";
    return list;
}

SETTLE_FUNCTION std::string record_sql::names(std::string_view table) const {
    std::string list;
    for (auto const& one : need_.columns) {
        if (!list.empty()) list += ", ";
        list.append(table).append(quoted_name(one.name));
    }
    return list;
}

SETTLE_FUNCTION std::vector<native_column>
read_image(connection const& connection, table_need const& need, std::string_view image) {
    statement const look{connection, "SELECT hidden FROM pragma_table_xinfo(?1) WHERE name = ?2",
                         "look at a table"};
    std::vector<native_column> columns;
    settle::detail::read_image(image, [&](std::string name, native_value value) {
        run row{look, need.name, name};
        if (!row.next()) {
            auto const table = "'" + std::string{need.name} + "'";
            throw failure(settle::detail::column_is_gone(name, table, "sqlite"));
        }
        if (row.integer(0) == 0) columns.emplace_back(std::move(name), std::move(value));
    });
    return columns;
}

} // namespace sqlite::detail
SETTLE_END
