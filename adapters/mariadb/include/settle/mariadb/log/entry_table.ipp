// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_table.hpp declares.
#pragma once

#include <settle/mariadb/log/entry_table.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION entry_table::entry_table(pool& from)
    : settle::detail::sql::entry_table<parts>(from) {
    using namespace settle::detail::sql;
    end_ =
        &from.prepare("SELECT id FROM " + table() + " WHERE id > $1 ORDER BY id LIMIT 1 OFFSET $2",
                      {text_value, integer_value}, "look at the log");
    purge_ = &from.prepare("DELETE FROM " + table() +
                               " WHERE id > $1 AND ($2 IS NULL OR id <= $2) AND state IN (3, 5, 7) "
                               "AND greatest(created, modified) < $3 ORDER BY id LIMIT $4",
                           {text_value, text_value, integer_value, integer_value}, "erase entries",
                           expectation::counted);
}

SETTLE_FUNCTION std::size_t entry_table::send_purge(connection& to, std::string_view after,
                                                    std::optional<std::string> const& last,
                                                    timestamp before, std::size_t limit) const {
    return to.send(*purge_, after, last, settle::detail::number_in(before),
                   settle::detail::limit_of(limit));
}

} // namespace mariadb::detail
SETTLE_END
