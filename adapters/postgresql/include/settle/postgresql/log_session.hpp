// SPDX-License-Identifier: BSL-1.0
// The log of one database: an engine inserts, changes and lists entries through it.
#pragma once

#include <settle/postgresql/entry_table.hpp>

SETTLE_BEGIN
namespace postgresql {

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    a wave of writes is one native transaction in one round trip, however many entries
class log_session {
public:
    /// Errors:  throws settle::failure
    log_session(detail::pool& with, std::string name);

    /// The name that the log got when this schema first held a log.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& at);

    /// Erases at most `limit` finished entries that have not moved since a time.
    /// Shape:   passed - the page of the table at which it goes on
    /// Cost:    a whole purge reads the table once; a step reads 256 pages at most
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing);

    /// Cost:    one round trip
    void look_up(std::span<read_request const> requests, found_function found);

    result<std::optional<entry>> read(transaction_id const& id);

    /// Entries in the order of their ids, behind an id.
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit);

    /// The table of entries, for native transactions of this database.
    [[nodiscard]] detail::entry_table const& entries() const noexcept { return *entries_; }

    /// Writes entries of one action in one native transaction, and sets their results. False when
    /// nothing was done, and each half is to be tried alone.
    /// Shape:   all - not empty, in the order of the ids
    bool write_together(std::span<detail::sent_write> all, write_context const& at);

private:
    detail::pool* pool_;
    std::string name_;
    std::string channel_; ///< of its workers
    std::shared_ptr<detail::entry_table const> entries_;
};

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/log_session.ipp>
#endif
