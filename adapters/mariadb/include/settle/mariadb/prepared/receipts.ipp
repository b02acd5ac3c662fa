// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receipts.hpp declares.
#pragma once

#include <settle/mariadb/prepared/receipts.hpp>
#include <settle/protocol/fresh.hpp>

#include <array>
#include <map>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION std::string receipts_of(std::string_view database) {
    std::string sql{"`"};
    for (char const one : database) sql.append(one == '`' ? 2 : 1, one);
    return sql.append("`.settle_receipt");
}

SETTLE_FUNCTION bool is_left(session& session, std::string const& receipts,
                             prepared_name const& name) {
    auto const key = name.of.text();
    auto const is_there = [&] {
        return !session
                    .run(
                        "SELECT 1 FROM " + receipts + " WHERE part = ? AND epoch = ?",
                        std::array<sql_value, 2>{key, static_cast<std::int64_t>(name.epoch_number)},
                        "read a receipt")
                    .empty();
    };
    if (is_there()) return false;
    session.run("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "read receipts");
    return is_there();
}

SETTLE_FUNCTION bool write_receipt(session& session, std::string const& receipts,
                                   prepared_name const& claim, epoch number) {
    try {
        auto const key = claim.of.text();
        std::int64_t const date = time_of_epoch(claim.epoch_number).time_since_epoch().count();
        session.run("INSERT INTO " + receipts + " (part, epoch, made) VALUES (?, ?, ?)",
                    std::array<sql_value, 3>{key, static_cast<std::int64_t>(number), date},
                    "write a receipt");
        return true;
    } catch (failure const& caught) {
        if (caught.problem().code == duplicate_key) return false;
        throw;
    }
}

SETTLE_FUNCTION void read_times(session& session, std::string const& receipts,
                                std::vector<in_doubt_name>& names) {
    std::vector<std::string> parts;
    parts.reserve(names.size());
    // A name is the text of its part, which ends with '/', and the epoch.
    for (auto const& one : names) parts.push_back(one.name.substr(0, one.name.rfind('/') + 1));
    std::string sql{"SELECT part, made, "};
    sql.append(now_sql).append(" FROM (SELECT 1) AS one LEFT JOIN ").append(receipts);
    sql.append(" ON part IN (");
    for (std::size_t at = 0; at < parts.size(); ++at) sql += at == 0 ? "?" : ", ?";
    std::vector<sql_value> const values{parts.begin(), parts.end()};
    session.run("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "read receipts");
    auto const rows = session.run(sql + ")", values, "read receipts");
    std::map<std::string, std::int64_t> times;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!rows.is_null(row, 0)) times.emplace(rows.text(row, 0), rows.integer(row, 1));
    }
    for (std::size_t at = 0; at < names.size(); ++at) {
        auto const time = times.find(parts[at]);
        names[at].prepared = time_of(time == times.end() ? rows.integer(0, 2) : time->second);
    }
}

SETTLE_FUNCTION void make_receipts(session& session, std::string const& receipts) {
    try {
        session.run("SELECT part, epoch, made FROM " + receipts + " LIMIT 0",
                    "find settle_receipt");
        return;
    } catch (failure const& caught) {
        if (caught.problem().code != unknown_table) throw;
    }
    session.run("CREATE TABLE IF NOT EXISTS " + receipts +
                    " (part VARBINARY(128) PRIMARY KEY, epoch BIGINT NOT NULL, "
                    "made BIGINT NOT NULL, KEY (made)) ENGINE = InnoDB",
                "create the table settle_receipt");
}

} // namespace mariadb::detail
SETTLE_END
