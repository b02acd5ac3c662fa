// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that work_connection.hpp declares.
#pragma once

#include <settle/postgresql/prepared/work_connection.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION sql_rows work_connection::run(std::string const& sql,
                                              std::span<sql_value const> values) {
    with_->note_work();
    auto const number = with_->send_texts(sql, values, phase_);
    with_->sync();
    rows const& rows = with_->result(number);
    int const columns = PQnfields(rows.native());
    std::vector<sql_rows::row> copied_rows;
    for (int row = 0; row < rows.size(); ++row) {
        auto& cells = copied_rows.emplace_back(static_cast<std::size_t>(columns));
        for (int column = 0; column < columns; ++column) {
            if (rows.is_null(row, column)) continue;
            cells[static_cast<std::size_t>(column)] = std::string{rows.text(row, column)};
        }
    }
    // The tag of a SELECT has the number of its rows.
    bool const reads = std::string_view{PQcmdStatus(rows.native())}.starts_with("SELECT");
    auto const changed = reads ? std::int64_t{0} : rows.changed();
    return {std::move(copied_rows), static_cast<std::uint64_t>(changed)};
}

} // namespace postgresql::detail
SETTLE_END
