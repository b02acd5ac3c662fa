// SPDX-License-Identifier: BSL-1.0
// Reads of one record whose answer no newer primary contradicts.
#pragma once

#include <settle/mongodb/unit_of_work.hpp>
#include <settle/mongodb/sole_read.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Errors:  throws settle::failure, also when no majority answers in time
template <typename C>
[[nodiscard]] std::optional<typename C::record_type> read_linearizable(
    server& at, record_layout const& layout, typename C::key_type const& key) {
    std::optional<unit_of_work<C>> here;
    auto const fetch = [&](link& with, document options) {
        here.emplace(layout).expect(key);
        here->fetch(with, std::move(options));
    };
    if (!read_on_sole_primary(at, [&](link& with) { fetch(with, {}); })) {
        auto with = at.connect();
        fetch(with, at.sure_read());
    }
    return here->only_record();
}

/// For servers without linearizable reads: a write that a majority acknowledges, and the record as
/// written.
/// Errors:  as read_linearizable
template <typename C>
[[nodiscard]] std::optional<typename C::record_type> read_by_quorum(
    link& with, record_layout const& layout, typename C::key_type const& key) {
    unit_of_work<C> here{layout};
    here.expect(key);
    document forms;
    std::size_t count = 0;
    append_key_forms(forms, layout, typename unit_of_work<C>::stored_key(key), count);
    document query;
    query.object(layout.key, document{}.array("$in", forms));
    document one;
    document update;
    document majority;
    majority.text("w", "majority").integer("wtimeout", sure_read_ms);
    update.object("$inc", one.integer("settle_read", 1));
    document command;
    command.text("findAndModify", C::name).object("query", query).object("update", update);
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
    return here.only_record();
}

} // namespace mongodb::detail
SETTLE_END
