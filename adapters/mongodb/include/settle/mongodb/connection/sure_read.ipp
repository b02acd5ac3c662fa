// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that sure_read.hpp declares.
#pragma once

#include <settle/mongodb/connection/sole_read.hpp>
#include <settle/mongodb/connection/sure_read.hpp>
#include <settle/mongodb/records/record_table.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION void read_linearizable(server& at, bound_collection const& bound,
                                       record_layout const& layout, part_key const& key,
                                       settle::detail::function_view<void*()> made) {
    record_codec const of{bound, layout};
    std::optional<record_table> here;
    auto const fetch = [&](link& with, document options) {
        here.emplace(of).expect(key);
        here->fetch(with, std::move(options));
    };
    bool const is_read = read_on_sole_primary(at, [&](link& with) { fetch(with, {}); });
    auto with = at.connect();
    if (!is_read) fetch(with, at.sure_read());
    here->copy_only_record(with, made);
}

SETTLE_FUNCTION void read_by_quorum(server& at, bound_collection const& bound,
                                    record_layout const& layout, part_key const& key,
                                    settle::detail::function_view<void*()> made) {
    record_codec const of{bound, layout};
    auto with = at.connect();
    record_table here{of};
    here.expect(key);
    document forms;
    std::size_t count = 0;
    append_key_forms(forms, of.layout(), key, count);
    document query;
    query.object(of.layout().key, document{}.array("$in", forms));
    document one;
    document update;
    document majority;
    majority.text("w", "majority").integer("wtimeout", sure_read_ms);
    update.object("$inc", one.integer("settle_read", 1));
    document command;
    command.text("findAndModify", of.collection()).object("query", query).object("update", update);
    command.boolean("new", true).integer("maxTimeMS", sure_read_ms);
    command.object("writeConcern", majority);
    reply received;
    with.command(command, "read a record by a majority", received);
    if (auto const lost = received.find("writeConcernError")) {
        auto const why = lost->find("errmsg");
        raise(errc::store_unreachable, "settle: no majority has confirmed the read: " +
                                           std::string{why ? why->text().value_or("") : ""} +
                                           ". See mongodb#errors");
    }
    if (auto const found = received.find("value"); found && !found->is_null()) {
        here.put(found->as_document());
    }
    here.copy_only_record(with, made);
}

} // namespace mongodb::detail

SETTLE_END
