// SPDX-License-Identifier: BSL-1.0
// The entries of a log, with the statements of a purge.
#pragma once

#include <settle/adapter/sql/entry_table.hpp>
#include <settle/mariadb/connection/parts.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

/// Threads may share a table of entries.
class entry_table : public settle::detail::sql::entry_table<parts> {
public:
    explicit entry_table(pool& from);

    /// The server has no message for other programs: a worker waits for a limited time.
    static void wake() noexcept {}
    /// Queues a read of the id that is some entries after an id.
    std::size_t send_end(connection& to, std::string_view after, std::int64_t distance) const {
        return to.send(*end_, after, distance);
    }
    /// Queues the erasure of finished entries after an id, up to another id or the last.
    std::size_t send_purge(connection& to, std::string_view after,
                           std::optional<std::string> const& last, timestamp before,
                           std::size_t limit) const;

private:
    statement const* end_;
    statement const* purge_;
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/log/entry_table.ipp>
#endif
