// SPDX-License-Identifier: BSL-1.0
// A collection bound to its table: the statements on its records and on their marks.
#pragma once

#include <settle/adapter/mark_row.hpp>
#include <settle/postgresql/table_check.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::any_slot;
using settle::detail::mark_view;

/// The image of a row: its columns that are no members, and their values as texts.
using other_values = std::vector<std::pair<other_column const*, std::optional<std::string>>>;

/// A key as marks keep it. The text of a text key stays where it is.
class mark_key {
public:
    explicit mark_key(part_key const& key) {
        if (auto const* const text = std::get_if<std::string_view>(&key)) view_ = *text;
        else view_ = made_ = std::to_string(std::get<std::int64_t>(key));
    }
    mark_key(mark_key const&) = delete;
    mark_key& operator=(mark_key const&) = delete;
    [[nodiscard]] std::string_view text() const noexcept { return view_; }

private:
    std::string made_;
    std::string_view view_;
};

/// What a conditional update does with an integer member.
struct conditional_sum {
    std::int64_t added = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::min(); ///< of the value before
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// Threads may share a bound table.
class bound_table {
public:
    /// Errors:  throws settle::failure when the table does not fit
    bound_table(pool& with, collection_descriptor const& of);
    bound_table(bound_table const&) = delete;
    bound_table& operator=(bound_table const&) = delete;

    [[nodiscard]] collection_descriptor const& of() const noexcept { return *of_; }
    [[nodiscard]] table_column const& column(std::size_t member) const {
        return table_.columns[member];
    }
    [[nodiscard]] bool has_others() const noexcept { return !table_.others.empty(); }
    [[nodiscard]] bool is_referenced() const noexcept { return table_.is_referenced; }
    [[nodiscard]] bool is_readable() const noexcept { return table_.is_readable; }
    /// The members whose columns do not hold every value of the member.
    [[nodiscard]] std::uint64_t limited() const noexcept { return limited_; }

    /// Checks that the columns can hold the members of a record.
    /// Errors:  errc::unfit_store, naming the column
    [[nodiscard]] result<void> check(void const* record) const;

    /// The error of a value that a column cannot hold.
    [[nodiscard]] error value_out_of(std::string_view column) const;

    /// Gives a key to an array. False if no row can have it.
    [[nodiscard]] bool give_key(array_value& to, part_key const& key) const {
        return key_column().give_key(to, key);
    }
    [[nodiscard]] array_value keys() const { return array_value{key_column().element()}; }

    /// Queues a read of records, and locks their rows in the order of the array. The columns are
    /// the members, the number of the key from 1 on, and the other columns as a JSON object.
    std::size_t send_locks(connection& on, array_value const& keys, bool with_others) const {
        return on.send(with_others ? *lock_whole_ : *lock_, keys);
    }
    /// Queues a read of all marks of some records. The columns are as in read_mark(), and the
    /// number of the key from 1 on.
    std::size_t send_all_marks(connection& on, array_value const& keys) const {
        return on.send(*all_marks_, keys, of_->name);
    }
    /// Queues a read of the marks that each transaction has on its record.
    std::size_t send_own_marks(connection& on, array_value const& keys,
                               array_value const& ids) const {
        return on.send(*own_marks_, keys, ids, of_->name);
    }
    std::size_t send_read(connection& on, part_key const& key) const;
    std::size_t send_scan(connection& on, part_key const* after, std::size_t limit) const;

    /// Reads the members of a record.
    /// Errors:  throws errc::damaged, naming row and column
    void read(row const& from, void* record) const;

    /// Queues the write of some members of records.
    void send_update(connection& on, std::uint64_t fields,
                     std::span<std::pair<part_key, void const*> const> all) const;
    /// Queues a conditional update of records that were not read. It fails with division_by_zero if
    /// a record does not exist, or a member is out of its range; it locks records that it does not
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
    void send_erase(connection& on, array_value const& keys) const {
        on.send(*erase_, keys, static_cast<std::int64_t>(keys.size()));
    }

    /// The record's image: its members, and its other columns as texts.
    [[nodiscard]] std::string image_of(void* record, std::string_view others) const;

private:
    [[nodiscard]] table_column const& key_column() const { return table_.columns[of_->key]; }
    [[nodiscard]] std::string names() const;
    [[nodiscard]] std::string values() const;
    [[nodiscard]] std::vector<value_type> member_arrays() const;
    [[nodiscard]] statement const& update_of(std::uint64_t fields) const;
    [[nodiscard]] statement const& sums_of(std::uint64_t changed, std::uint64_t bounded) const;
    [[nodiscard]] std::vector<array_value> arrays_of(std::span<void const* const> all) const;
    [[nodiscard]] other_values read_others(std::string_view image) const;

    pool* pool_;
    collection_descriptor const* of_;
    fit_table table_;
    std::string name_; ///< in SQL
    std::uint64_t limited_ = 0;
    statement const* lock_;
    statement const* lock_whole_;
    statement const* all_marks_;
    statement const* own_marks_;
    statement const* read_;
    statement const* first_;
    statement const* next_;
    statement const* new_;
    statement const* create_;
    statement const* erase_;
    mutable statement_cache<std::uint64_t> updates_; ///< by the members
    /// By the changed and the bounded members.
    mutable statement_cache<std::pair<std::uint64_t, std::uint64_t>> sums_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#    include <settle/postgresql/bound_table.ipp>
#endif
