// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver.hpp declares.
#pragma once

#include <settle/postgresql/receiver/receiver.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/adapter/receiver_table.hpp>
#include <settle/postgresql/connection/schema.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

/// The version of the tables settle_receiver…; it changes when older libraries cannot use them.
inline constexpr std::string_view receiver_schema_version = "1";

SETTLE_FUNCTION void create_receiver_tables(connection& connection, std::string const& schema) {
    settle::detail::receiver_sql const sql{schema + "settle_receiver", '$'};
    for (auto const& one : sql.create("text COLLATE \"C\" PRIMARY KEY")) {
        connection.send_sql(one, "create the tables of a receiver");
    }
}

inline constexpr own_tables receiver_tables{"settle_receiver_", receiver_schema_version,
                                            &create_receiver_tables};

SETTLE_FUNCTION auto receiver_parts::prepare_receiver(pool& from)
    -> settle::detail::sql::receiver_statements<statement> {
    using enum value_type;
    auto const table = from.schema_prefix() + "settle_receiver";
    settle::detail::receiver_sql const sql{table, '$'};
    // The first call of a key has no row to lock, so the key itself is locked.
    auto const lock = "SELECT pg_advisory_xact_lock(hashtextextended(" + quoted_text(table) +
                      " || key, 0)) FROM unnest($1) AS key";
    return {from.prepare(lock, {text_array}, "lock keys of the receiver"),
            from.prepare(sql.select("key = ANY(?1)"), {text_array}, "read rows of the receiver"),
            from.prepare(
                sql.store(),
                {text, text, text, text, text, text, int8, boolean, int8, int8, int8, int8, text},
                "store a row of the receiver"),
            from.prepare(sql.erase(" FOR UPDATE SKIP LOCKED"), {int8, int8},
                         "erase rows of the receiver"),
            from.prepare(sql.list(), {text, text, text, int8}, "list rows of the receiver"),
            from.prepare("SAVEPOINT settle_work", "begin the work of a handler"),
            from.prepare("ROLLBACK TO SAVEPOINT settle_work", "undo the work of a handler"),
            from.prepare("RELEASE SAVEPOINT settle_work", "end the work of a handler")};
}

SETTLE_FUNCTION void receiver_parts::bind_receiver(pool& from, std::string const& name) {
    settle::detail::receiver_storage const storage{"the schema '" + from.server().schema + "'",
                                                   "schema", "postgresql"};
    storage.check_name(name);
    prepare_schema(from, receiver_tables);
    storage.check_owner(metadata(from, receiver_tables).get_or_init("receiver", name), name);
}

} // namespace postgresql::detail
SETTLE_END
