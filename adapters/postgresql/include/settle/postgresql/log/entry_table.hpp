// SPDX-License-Identifier: BSL-1.0
// The entries of a log, with the statements that no other database has: purge and wake.
#pragma once

#include <settle/adapter/group.hpp>
#include <settle/adapter/sql/entry_table.hpp>
#include <settle/postgresql/connection/parts.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

/// Threads may share a table of entries.
class entry_table : public settle::detail::sql::entry_table<parts> {
public:
    explicit entry_table(pool& from);

    /// Wakes the workers of all programs, after the commit of what they shall do. Threads share a
    /// notification. A lost notification is no error: a worker waits for a limited time.
    void wake() const;
    /// Queues the erasure of finished entries in some pages of the table, and then a read of the
    /// number of all its pages. The result of the erasure is the page of each erased entry.
    std::size_t send_purge(connection& to, std::int64_t first_page, std::int64_t end_page,
                           timestamp before, std::size_t limit) const;

private:
    std::string channel_; ///< of its workers
    /// The server notifies in one native transaction at a time, so one thread notifies for all.
    mutable settle::detail::groups<settle::detail::group_member<>> wakes_{1, 1'000'000};
    statement const* purge_;
    statement const* pages_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/log/entry_table.ipp>
#endif
