// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that xa.hpp declares.
#pragma once

#include <settle/mariadb/prepared/xa.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION std::uint32_t format_of(std::string_view database) noexcept {
    // FNV-1a. A format is at least 0 and has 31 bits.
    std::uint32_t hash = 2166136261U;
    for (char const one : database) hash = (hash ^ static_cast<unsigned char>(one)) * 16777619U;
    return hash & 0x7fff'ffffU;
}

SETTLE_FUNCTION std::string xid_sql(std::string_view name, std::uint32_t format) {
    std::string sql;
    auto const add = [&](std::string_view half) {
        sql += "X'";
        for (char const character : half) {
            auto const byte = static_cast<unsigned char>(character);
            sql += "0123456789abcdef"[byte >> 4U];
            sql += "0123456789abcdef"[byte & 15U];
        }
        sql += "',";
    };
    add(name.substr(0, longest_half));
    add(name.size() > longest_half ? name.substr(longest_half) : std::string_view{});
    return sql + std::to_string(format);
}

SETTLE_FUNCTION std::vector<std::string> prepared_names(session& session, std::uint32_t format,
                                                        std::string_view prefix) {
    // The columns: format, lengths of both halves, the halves.
    auto const rows = session.run("XA RECOVER", "list the prepared transactions");
    std::vector<std::string> names;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        auto name = rows.text(row, 3);
        // Another program may have cut the same bytes elsewhere.
        auto const half = static_cast<std::int64_t>(std::min(name.size(), longest_half));
        if (rows.integer(row, 0) == std::int64_t{format} && rows.integer(row, 1) == half &&
            name.starts_with(prefix)) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

} // namespace mariadb::detail
SETTLE_END
