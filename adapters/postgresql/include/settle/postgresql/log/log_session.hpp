// SPDX-License-Identifier: BSL-1.0
// The log of one database: an engine inserts, changes and lists entries through it.
#pragma once

#include <settle/adapter/sql/log_session.hpp>
#include <settle/postgresql/connection/schema.hpp>
#include <settle/postgresql/log/entry_table.hpp>

SETTLE_BEGIN
#ifdef SETTLE_COMPILED
extern template class detail::sql::log_session<postgresql::detail::parts>;
#endif
namespace postgresql {

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    a wave of writes is one native transaction in one round trip, however many entries
class log_session : public settle::detail::sql::log_session<detail::parts> {
public:
    using settle::detail::sql::log_session<detail::parts>::log_session;

    /// Erases at most `limit` finished entries that have not moved since a time.
    /// Shape:   passed - the page of the table at which it continues
    /// Cost:    a whole purge reads the table once; a step reads 256 pages at most
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing);

    /// Locks the table of entries against writes, in a native transaction. It waits for writes that
    /// are under way, for at most 30 ms, since later writes wait behind it. The server ends it if
    /// it is idle for two seconds.
    /// Cost:    one round trip, and another one at its end
    result<std::unique_ptr<log_hold>> hold_entries();
};

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/log/log_session.ipp>
#endif
