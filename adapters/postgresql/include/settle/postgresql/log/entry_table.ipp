// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_table.hpp declares.
#pragma once

#include <settle/postgresql/connection/listener.hpp>
#include <settle/postgresql/log/entry_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION entry_table::entry_table(pool& from)
    : settle::detail::sql::entry_table<parts>(from), channel_(work_channel(from)) {
    using enum value_type;
    purge_ = &from.prepare(
        "DELETE FROM " + table() + " WHERE ctid = ANY(ARRAY(SELECT ctid FROM " + table() +
            " WHERE ctid >= $1::tid AND ctid < $2::tid AND state IN (3, 5, 7) AND "
            "greatest(created, modified) < $3 LIMIT $4)) AND state IN (3, 5, 7) "
            "RETURNING (ctid::text::point)[0]::int8",
        {text, text, int8, int8}, "erase entries");
    pages_ =
        &from.prepare("SELECT pg_relation_size($1::regclass) / current_setting('block_size')::int8",
                      {text}, "look at the size of the log");
}

SETTLE_FUNCTION void entry_table::wake() const {
    settle::detail::group_member<> own;
    wakes_.perform(own, [this](auto& group) {
        // A commit that notifies holds a lock of the whole server until it is durable, and this one
        // need not be.
        native_transaction native{from()};
        auto const ended = native.perform(
            [this](connection& to) {
                to.send_sql("SET LOCAL synchronous_commit = off", "wake workers");
                to.send_sql(notify_sql(channel_), "wake workers");
            },
            {});
        group.end_all(ended);
    });
}

SETTLE_FUNCTION std::size_t entry_table::send_purge(connection& to, std::int64_t first_page,
                                                    std::int64_t end_page, timestamp before,
                                                    std::size_t limit) const {
    auto const start = "(" + std::to_string(first_page) + ",0)";
    auto const until = "(" + std::to_string(end_page) + ",0)";
    auto const number = to.send(*purge_, start, until, settle::detail::number_in(before),
                                settle::detail::limit_of(limit));
    to.send(*pages_, table());
    return number;
}

} // namespace postgresql::detail
SETTLE_END
