// SPDX-License-Identifier: BSL-1.0
// The part that record_table and conditional_table share: the records of one collection in a native
// transaction, with the statements on their table and on their marks.
#pragma once

#include <settle/adapter/sql/mark_arrays.hpp>
#include <settle/adapter/unit_of_work.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// Used by one thread, in one native transaction.
/// Shape:   Table - derives from this class; Sql - the parts of an adapter, see
///          adapter/sql/record_waves.hpp; State - of a record, as for records_of
template <typename Table, typename Sql, typename State>
class wave_table : public records_of<Table, State> {
public:
    using bound_table = typename Sql::bound_table;
    using mark_table = typename Sql::mark_table;
    using connection = typename Sql::connection;

    wave_table(bound_table const& table, mark_table const& marks)
        : records_of<Table, State>(table.of()), table_(&table), marks_(&marks) {}

    /// Whether the records cannot be changed without being read.
    [[nodiscard]] static bool must_read() noexcept { return false; }
    static void committed(connection const&) noexcept {}

protected:
    using array = typename Sql::array;

    /// Sorts the numbers of records by key. All programs lock the rows in this order.
    void sort_by_key(std::vector<std::size_t>& numbers) const {
        std::sort(numbers.begin(), numbers.end(), [&](std::size_t left, std::size_t right) {
            return this->records_[left].key < this->records_[right].key;
        });
    }

    bound_table const* table_;
    mark_table const* marks_;
};

} // namespace detail::sql
SETTLE_END
