// SPDX-License-Identifier: BSL-1.0
// The unit of work of a database of tables: its tables in one native transaction, and the reads
// that look for the cause of a failed one.
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
    unit_of_work(std::span<std::unique_ptr<typename Table::bound_table> const> tables,
                 typename Table::mark_table const& marks) {
        for (auto const& one : tables) this->add(std::make_unique<Table>(*one, marks));
    }

    /// Queues the reads of the announced requests: all rows are locked before any mark is read.
    void send_reads(connection& on) {
        this->for_each([&](Table& table) { table.send_locks(on); });
        this->for_each([&](Table& table) { table.send_marks(on); });
    }
    void receive(connection const& on) {
        this->for_each([&](Table& table) { table.receive(on); });
    }
    /// Queues the writes of all changes.
    void send_changes(connection& on) {
        this->for_each([&](Table& table) { table.send_changes(on); });
    }
};

template <typename Sql>
using tables_of = std::span<std::unique_ptr<typename Sql::bound_table> const>;

/// True if a part to be ended has no mark at its record, whose row cannot be read: an undo of
/// a part that was never applied must not wait for the row's repair.
template <typename Sql>
bool has_no_mark(typename Sql::pool& with, tables_of<Sql> tables,
                 typename Sql::mark_table const& marks, part_request const& one) {
    bool found = true;
    typename Sql::native_transaction native{with};
    auto const ended = native.perform(
        [&](typename Sql::connection& on) {
            unit_of_work<record_table<Sql>> unit{tables, marks};
            unit.expect(one);
            auto& table = unit.of(one);
            table.send_marks(on);
            on.sync();
            table.receive(on);
            found = table.may_have_mark(one);
        },
        Sql::longest_repetition);
    return ended.status == commit_status::committed && !found;
}

/// Reads the record of each part alone, so that the entry names the part that cannot be read.
/// False if each can be read now.
template <typename Sql>
bool find_unreadable(typename Sql::pool& with, tables_of<Sql> tables,
                     typename Sql::mark_table const& marks, one_phase_request& request) {
    bool some = false;
    for (std::size_t number = 0; number < request.parts.size(); ++number) {
        typename Sql::native_transaction native{with};
        auto const ended = native.perform(
            [&](typename Sql::connection& on) {
                unit_of_work<record_table<Sql>> unit{tables, marks};
                unit.expect(request.parts[number]);
                unit.send_reads(on);
            },
            Sql::longest_repetition);
        if (!Sql::is_of_one_record(ended.problem.code)) continue;
        request.results[number].fail(answer::record_unusable, ended.problem);
        some = true;
    }
    return some;
}

} // namespace detail::sql
SETTLE_END
