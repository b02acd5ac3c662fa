// SPDX-License-Identifier: BSL-1.0
// A collection bound to its table: the statements on its records and on their marks.
#pragma once

#include <settle/adapter/sql/conditional_table.hpp>
#include <settle/adapter/sql/table_values.hpp>
#include <settle/postgresql/records/table_check.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::sql::conditional_sum;
using settle::detail::sql::mark_key;

/// Threads may share a bound table.
class bound_table : public settle::detail::sql::table_values<table_column, array_value> {
public:
    /// Errors:  throws settle::failure when the table does not fit
    bound_table(pool& with, collection_descriptor const& of);

    /// Queues a read of records, and locks their rows in the order of the array. The columns are
    /// the members, the number of the key from 1 on, and the other columns as a JSON object.
    std::size_t send_locks(connection& on, array_value const& keys, bool with_others) const {
        return on.send(with_others ? *lock_whole_ : *lock_, keys);
    }
    /// Queues a read of all marks of some records. The columns are as in read_mark(), and the
    /// number of the key from 1 on.
    std::size_t send_all_marks(connection& on, array_value const& keys) const {
        return on.send(*all_marks_, keys, of().name);
    }
    /// Queues a read of the marks that each transaction has on its record.
    std::size_t send_own_marks(connection& on, array_value const& keys,
                               array_value const& ids) const {
        return on.send(*own_marks_, keys, ids, of().name);
    }
    std::size_t send_read(connection& on, part_key const& key) const;
    std::size_t send_scan(connection& on, part_key const* after, std::size_t limit) const;

    /// Queues the write of some members of records.
    void send_update(connection& on, std::uint64_t fields,
                     std::span<std::pair<part_key, void const*> const> all) const;
    /// Queues a conditional update of records that were not read. It fails with wrong_count if a
    /// record does not exist, or a member is out of its range; it locks records that it does not
    /// change.
    /// Shape:   changed, bounded - integer members, a bit for each
    void send_sums(connection& on, std::uint64_t changed, std::uint64_t bounded,
                   std::span<std::pair<part_key, conditional_sum const*> const> all) const;
    /// Queues the creation of records that certainly do not exist.
    void send_new(connection& on, std::span<void const* const> all) const;
    /// Queues the creation of a record with all columns that its row once had.
    /// Errors:  throws errc::damaged or errc::unfit_store for an image that the table cannot take
    void send_restored(connection& on, void const* record, std::string_view image) const;
    /// Queues the creation of records whose keys have neither a record nor a mark; the result has
    /// the keys that were created.
    std::size_t send_create(connection& on, std::span<void const* const> all) const;
    /// Queues a check that fails with no_way_back if send_restored() could not make the columns of
    /// a row again that no member names, byte by byte.
    /// Shape:   others - as send_locks() reads them
    void send_check_of_image(connection& on, part_key const& key, std::string_view others) const;
    void send_erase(connection& on, array_value const& keys) const {
        on.send(*erase_, keys, static_cast<std::int64_t>(keys.size()));
    }

private:
    /// SQL of the columns that the collection does not describe, each with a comma in between.
    struct columns_of_others {
        std::string names;
        std::string texts;
        std::string before; ///< the values of a row
        std::string after;  ///< the values of its image
    };
    [[nodiscard]] columns_of_others sql_of_others() const;
    void prepare_reads(columns_of_others const& of_others);
    void prepare_writes();
    void prepare_erasures(columns_of_others const& of_others);
    [[nodiscard]] std::string row_stands(std::string const& value) const;
    [[nodiscard]] std::string marks() const { return pool_->schema_prefix() + "settle_mark"; }
    [[nodiscard]] std::string names() const;
    [[nodiscard]] std::string values() const;
    [[nodiscard]] std::vector<value_type> member_arrays() const;
    [[nodiscard]] statement const& update_of(std::uint64_t fields) const;
    [[nodiscard]] statement const& sums_of(std::uint64_t changed, std::uint64_t bounded) const;

    pool* pool_;
    std::string types_stand_; ///< SQL; see types_stand()
    statement const* lock_;
    statement const* lock_whole_;
    statement const* all_marks_;
    statement const* own_marks_;
    statement const* read_;
    statement const* first_;
    statement const* next_;
    statement const* new_;
    statement const* create_;
    statement const* check_image_;
    statement const* erase_;
    mutable statement_cache<std::uint64_t> updates_; ///< by the members
    /// By the changed and the bounded members.
    mutable statement_cache<std::pair<std::uint64_t, std::uint64_t>> sums_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/records/bound_table.ipp>
#endif
