// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver_table.hpp declares.
#pragma once

#include <settle/adapter/receiver_table.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION std::string receiver_sql::with_sign(std::string_view sql) const {
    std::string text{sql};
    std::replace(text.begin(), text.end(), '?', sign_);
    return text;
}

SETTLE_FUNCTION std::array<std::string, 2> receiver_sql::create(std::string_view key,
                                                                std::string_view options) const {
    // `ends` is NULL while the row must stay, so that a purge looks at no other row.
    auto table = "CREATE TABLE " + table_ + "(key " + std::string{key};
    table += ", status text NOT NULL, answer text NOT NULL, service text NOT NULL, "
             "txn text NOT NULL, participant text NOT NULL, line bigint, "
             "has_apply boolean NOT NULL, last_moment bigint NOT NULL, created bigint NOT NULL, "
             "modified bigint NOT NULL, ends bigint, request text NOT NULL DEFAULT '')";
    return {table.append(options),
            "CREATE INDEX settle_receiver_ends ON " + table_ + "(ends) WHERE ends IS NOT NULL"};
}

SETTLE_FUNCTION std::string receiver_sql::select(std::string_view condition) const {
    return "SELECT " + selected() + " FROM " + table_ + " WHERE " + with_sign(condition);
}

SETTLE_FUNCTION std::string receiver_sql::selected() const {
    return key_ + ", status, answer, service, txn, participant, line, has_apply, last_moment, "
                  "created, modified, request";
}

SETTLE_FUNCTION std::string receiver_sql::columns() const {
    return key_ + ", status, answer, service, txn, participant, line, has_apply, last_moment, "
                  "created, modified, ends, request";
}

SETTLE_FUNCTION std::string receiver_sql::list() const {
    return select(key_ + " > ?1 AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR txn = ?3) " +
                  "ORDER BY " + key_ + " LIMIT ?4");
}

SETTLE_FUNCTION std::string receiver_sql::insert() const {
    return "INTO " + table_ + "(" + columns() + ") " +
           with_sign("VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)");
}

SETTLE_FUNCTION std::string receiver_sql::store() const {
    return "INSERT " + insert() +
           " ON CONFLICT(key) DO UPDATE SET status = excluded.status, answer = excluded.answer, "
           "modified = excluded.modified, ends = excluded.ends, request = excluded.request";
}

SETTLE_FUNCTION std::string receiver_sql::erase(std::string_view lock) const {
    return "DELETE FROM " + table_ + " WHERE key IN (SELECT key FROM " + table_ +
           with_sign(" WHERE ends < ?1 ORDER BY ends LIMIT ?2") + std::string{lock} + ")";
}

SETTLE_FUNCTION void raise_damaged_receiver_row(std::string_view key) {
    throw failure({make_error_code(errc::damaged),
                   "settle: the row '" + std::string{key} +
                       "' of the table settle_receiver is damaged: it has an unknown status, or "
                       "no last moment. Repair that row. See errors#damaged"});
}

} // namespace detail
SETTLE_END
