// SPDX-License-Identifier: BSL-1.0
// The connection of a user's work, inside an open native transaction.
#pragma once

#include <settle/adapter/sql_connection.hpp>
#include <settle/postgresql/connection/connection.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

class work_connection final : public sql_connection {
public:
    /// Shape:   phase - as in statement; a literal
    work_connection(connection& connection, char const* phase) noexcept
        : with_(&connection), phase_(phase) {}

private:
    sql_rows run(std::string const& sql, std::span<sql_value const> values) override;

    connection* with_;
    char const* phase_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/prepared/work_connection.ipp>
#endif
