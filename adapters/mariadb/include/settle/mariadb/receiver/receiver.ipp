// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver.hpp declares.
#pragma once

#include <settle/mariadb/receiver/receiver.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/mariadb/connection/schema.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION sql_rows handler_connection::run(std::string const& sql,
                                                 std::span<sql_value const> values) {
    if (!settle::detail::handles_rows(sql)) {
        raise(
            errc::bad_option,
            "settle: a handler's statement must read or write rows: SELECT, WITH, INSERT, UPDATE, "
            "DELETE, REPLACE or DO. MariaDB could commit others at once. Remove this statement: " +
                sql);
    }
    return to_->run_work(sql, values, phase_);
}

SETTLE_FUNCTION std::vector<std::string> receiver_tables(std::string const& prefix) {
    // A key has at most 1,024 bytes, which are more than an index of utf8mb4 has room for.
    return {"CREATE TABLE IF NOT EXISTS " + prefix +
            "settle_receiver(`key` VARBINARY(1024) PRIMARY KEY, status VARCHAR(16) NOT NULL, "
            "answer LONGTEXT NOT NULL DEFAULT '', service TEXT NOT NULL DEFAULT '', "
            "txn TEXT NOT NULL DEFAULT '', participant TEXT NOT NULL DEFAULT '', line BIGINT, "
            "has_apply BOOLEAN NOT NULL DEFAULT FALSE, last_moment BIGINT NOT NULL DEFAULT 0, "
            "created BIGINT NOT NULL DEFAULT 0, modified BIGINT NOT NULL DEFAULT 0, ends BIGINT, "
            "request TEXT NOT NULL DEFAULT '', KEY settle_receiver_ends (ends)"};
}

inline constexpr own_tables receiver_own_tables{"settle_receiver_", "1", &receiver_tables};

SETTLE_FUNCTION auto receiver_parts::prepare_receiver(pool& from)
    -> settle::detail::sql::receiver_statements<statement> {
    using settle::detail::sql::parameter_types;
    auto const table = dialect::table_name(from, "settle_receiver");
    settle::detail::receiver_sql const sql{table, '$', "`key`"};
    parameter_types const keys{settle::detail::sql::text_array};
    std::string const is_key = "t.`key` = CAST(w.c0 AS BINARY)";
    auto const prepare = [&](std::string const& text, parameter_types const& types,
                             char const* phase) -> statement const& {
        return from.prepare(text, types, phase);
    };
    auto const& unlock = prepare(dialect::erase(table, "t", keys, is_key + " AND t.status = ''"),
                                 keys, "unlock keys of the receiver");
    // The first call of a key has no row to lock. So it inserts one, which no other session sees.
    return {
        prepare("INSERT INTO " + table + "(`key`, status) SELECT w.c0, '' FROM " +
                    wave_sql(keys, false) + " ON DUPLICATE KEY UPDATE modified = modified",
                keys, "lock keys of the receiver"),
        prepare(dialect::look_up(sql.selected(), keys, table, "t", is_key + " AND t.status <> ''"),
                keys, "read rows of the receiver"),
        prepare("REPLACE " + sql.insert(), parameter_types(13), "store a row of the receiver"),
        prepare("DELETE FROM " + table + " WHERE ends < $1 ORDER BY ends LIMIT $2",
                parameter_types(2), "erase rows of the receiver"),
        prepare(sql.list(), parameter_types(4), "list rows of the receiver"),
        prepare("SAVEPOINT settle_work", {}, "begin the work of a handler"),
        prepare("ROLLBACK TO SAVEPOINT settle_work", {}, "undo the work of a handler"),
        prepare("RELEASE SAVEPOINT settle_work", {}, "end the work of a handler"),
        &unlock};
}

SETTLE_FUNCTION void receiver_parts::bind_receiver(pool& from, std::string const& name) {
    settle::detail::receiver_storage const storage{"the database '" + from.to().database + "'",
                                                   "database", "mariadb"};
    storage.check_name(name);
    auto const metadata = prepare_schema(from, receiver_own_tables);
    storage.check_owner(metadata.get_or_init("receiver", name), name);
}

} // namespace mariadb::detail
SETTLE_END
