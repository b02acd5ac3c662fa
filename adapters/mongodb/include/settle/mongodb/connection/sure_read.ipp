// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that sure_read.hpp declares.
#pragma once

#include <settle/mongodb/connection/native.hpp>
#include <settle/mongodb/connection/sure_read.hpp>
#include <settle/mongodb/records/record_table.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION void read_linearizable(server& database_server,
                                       collection_descriptor const& descriptor,
                                       record_layout const& layout, part_key const& key,
                                       settle::detail::function_view<void*()> made) {
    record_codec const codec{descriptor, database_server.database(), layout};
    std::optional<record_table> table;
    auto const fetch = [&](link& link, document options) {
        table.emplace(codec).expect(key);
        table->fetch(link, std::move(options));
    };
    bool const is_read =
        read_on_sole_primary(database_server, [&](link& link) { fetch(link, {}); });
    auto with = database_server.connect();
    if (!is_read) fetch(with, database_server.sure_read());
    table->copy_only_record(with, made);
}

SETTLE_FUNCTION void read_by_quorum(server& database_server,
                                    collection_descriptor const& descriptor,
                                    record_layout const& layout, part_key const& key,
                                    settle::detail::function_view<void*()> made) {
    record_codec const codec{descriptor, database_server.database(), layout};
    auto client = database_server.connect();
    record_table table{codec};
    table.expect(key);
    document forms;
    std::size_t count = 0;
    append_key_forms(forms, codec.layout(), key, count);
    document query;
    query.object(codec.layout().key, document{}.array("$in", forms));
    document field;
    document update;
    document majority;
    majority.text("w", "majority").integer("wtimeout", sure_read_ms);
    update.object("$inc", field.integer("settle_read", 1));
    document command;
    command.text("findAndModify", codec.collection())
        .object("query", query)
        .object("update", update);
    command.boolean("new", true).integer("maxTimeMS", sure_read_ms);
    command.object("writeConcern", majority);
    reply received;
    client.command(command, "read a record by a majority", received);
    if (auto const lost = received.find("writeConcernError")) {
        auto const why = lost->find("errmsg");
        raise(errc::store_unreachable, "settle: no majority has confirmed the read: " +
                                           std::string{why ? why->text().value_or("") : ""} +
                                           ". See mongodb#errors");
    }
    if (auto const found = received.find("value"); found && !found->is_null()) {
        table.put(found->as_document());
    }
    table.copy_only_record(client, made);
}

} // namespace mongodb::detail

SETTLE_END
