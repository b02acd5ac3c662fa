// SPDX-License-Identifier: BSL-1.0
// The log of one database: an engine inserts, changes and lists entries through it.
#pragma once

#include <settle/adapter/sql/log_session.hpp>
#include <settle/mariadb/connection/schema.hpp>
#include <settle/mariadb/log/entry_table.hpp>

SETTLE_BEGIN
#ifdef SETTLE_COMPILED
extern template class detail::sql::log_session<mariadb::detail::parts>;
#endif
namespace mariadb {

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    a wave of writes is one native transaction in one round trip; of more than
///          a hundred inserts, in three
class log_session : public settle::detail::sql::log_session<detail::parts> {
public:
    using settle::detail::sql::log_session<detail::parts>::log_session;

    /// Erases at most `limit` finished entries that have not moved since a time.
    /// Shape:   passed - the number of the step at which it continues; another session begins anew
    /// Cost:    a step reads 10,000 entries at most
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing);

    /// Locks the table of entries against writes, in a session of its own. It waits for writes that
    /// are under way, for at most 30 ms, since later writes wait behind it. The server ends it if
    /// it is idle for two seconds.
    /// Errors:  also those of a user without the right LOCK TABLES
    /// Cost:    a connect, and three round trips
    result<std::unique_ptr<log_hold>> hold_entries();

private:
    /// The last ids of the steps of a purge.
    struct purge_steps {
        std::mutex mutex{};
        std::vector<std::string> ends{};
    };
    std::shared_ptr<purge_steps> steps_ = std::make_shared<purge_steps>();
};

} // namespace mariadb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/log/log_session.ipp>
#endif
