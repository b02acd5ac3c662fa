// SPDX-License-Identifier: BSL-1.0
// The unit of work of a database of tables: its tables in one native transaction.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/adapter/sql/conditional_table.hpp>
#include <settle/adapter/sql/record_table.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// The tables of a session's collections in one native transaction.
/// Shape:   Table - record_table or conditional_table
template <typename Table>
class unit_of_work : public detail::unit_of_work<Table> {
    using connection = typename Table::connection;

public:
    unit_of_work(std::span<std::shared_ptr<typename Table::bound_table> const> tables,
                 typename Table::mark_table const& marks) {
        for (auto const& one : tables) this->add(std::make_unique<Table>(*one, marks));
    }

    /// Queues the reads of the announced requests: all rows are locked before any mark is read.
    void send_reads(connection& session) {
        this->for_each([&](Table& table) { table.send_locks(session); });
        this->for_each([&](Table& table) { table.send_marks(session); });
    }
    void receive(connection const& session) {
        this->for_each([&](Table& table) { table.receive(session); });
    }
    /// Queues the writes of all changes.
    void send_changes(connection& session) {
        this->for_each([&](Table& table) { table.send_changes(session); });
    }
    void committed(connection const& session) const {
        this->for_each([&](Table const& table) { table.committed(session); });
    }
    /// Whether the records cannot be changed without being read.
    [[nodiscard]] bool must_read() const {
        bool is_needed = false;
        this->for_each([&](Table const& table) { is_needed = is_needed || table.must_read(); });
        return is_needed;
    }
};

} // namespace detail::sql
SETTLE_END
