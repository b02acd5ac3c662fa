// SPDX-License-Identifier: BSL-1.0
// The entries of a log, in the table settle_entry: the statements that insert, change, read and
// list them.
#pragma once

#include <settle/adapter/group.hpp>
#include <settle/adapter/sql/entry_writes.hpp>
#include <settle/postgresql/connection/row.hpp>
#include <settle/store/seam.hpp>

#include <tuple>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::entry_field;
using settle::detail::sent_write;

/// Threads may share a table of entries.
class entry_table {
public:
    explicit entry_table(pool& with);

    /// Queues the insert of entries that do not exist, for set_inserted().
    /// Shape:   all - not empty
    std::size_t send_insert(connection& on, std::span<sent_write const> all,
                            write_context const& at) const {
        return send_writes(kind::insert, on, all, at);
    }
    /// Queues compare-and-sets of one action, for set_changed().
    /// Shape:   all - not empty
    std::size_t send_change(connection& on, std::span<sent_write const> all,
                            write_context const& at) const {
        return send_writes(kind::change, on, all, at);
    }

    /// Queues the insert of entries with new ids, for a native transaction that fails with
    /// unique_violation if an id exists.
    void send_new(connection& on, std::span<sent_write const> all, write_context const& at) const {
        static_cast<void>(send_writes(kind::insert_new, on, all, at));
    }
    /// Queues changes of entries that send_locks() has locked and that match the changes.
    void send_certain(connection& on, std::span<sent_write const> all,
                      write_context const& at) const {
        static_cast<void>(send_writes(kind::certain, on, all, at));
    }
    /// Wakes the workers of all programs, after the commit of what they shall do. Threads share a
    /// notification. A lost notification is no error: a worker waits for a limited time.
    void wake() const;
    /// Queues a read of id, state, epoch and revision of some entries, and locks them.
    std::size_t send_locks(connection& on, array_value const& ids) const {
        return on.send(*locks_, ids);
    }
    /// Queues a read of the ids that exist, and whether each is open.
    std::size_t send_look(connection& on, array_value const& ids) const {
        return on.send(*look_, ids);
    }

    /// Queues a read of entries: their columns, and the number of each id, from 1 on.
    std::size_t send_read(connection& on, array_value const& ids) const {
        return on.send(*read_, ids);
    }
    /// Queues a page of entries.
    std::size_t send_page(connection& on, entry_filter const& filter, transaction_id const& after,
                          std::size_t limit) const;
    /// Queues the erasure of finished entries in some pages of the table, and then a read of the
    /// number of all its pages. The result of the erasure is the page of each erased entry.
    std::size_t send_purge(connection& on, std::int64_t first_page, std::int64_t end_page,
                           timestamp before, std::size_t limit) const;

private:
    enum class kind : std::uint8_t { insert, insert_new, change, certain };
    /// A kind, its action, and the columns whose values are arrays, a bit for each.
    using shape = std::tuple<kind, step, std::uint64_t>;

    /// Queues the writes. A column whose values are all equal is one value instead of an array.
    std::size_t send_writes(kind of, connection& on, std::span<sent_write const> all,
                            write_context const& at) const;
    [[nodiscard]] statement const& statement_of(shape const& key) const;

    pool* pool_;
    std::string table_;
    std::string channel_; ///< of its workers
    /// The server notifies in one native transaction at a time, so one thread notifies for all.
    mutable settle::detail::groups<settle::detail::group_member<>> wakes_{1, 1'000'000};
    mutable statement_cache<shape> writes_;
    statement const* locks_;
    statement const* look_;
    statement const* read_;
    statement const* all_;
    statement const* of_state_;
    statement const* open_of_state_;
    statement const* unfinished_;
    statement const* purge_;
    statement const* pages_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/log/entry_table.ipp>
#endif
