// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_table.hpp declares.
#pragma once

#include <settle/sqlite/log/entry_table.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void entry_table::insert(std::span<sent_write> writes,
                                         write_context const& context) {
    auto const in_time =
        std::stable_partition(writes.begin(), writes.end(), [&](sent_write const& write) {
            return !write.write->is_late(context);
        });
    for (auto one = in_time; one != writes.end(); ++one)
        one->result->reply = log_answer::unavailable;
    writes = {writes.begin(), in_time};
    for (sent_write const& sent : writes) {
        if (!sent.write->replaces_bar()) continue;
        run{erase_bar_, *sent.write->id, number_in(sent.write->change.from_epoch)}.change();
    }
    auto const before = [](sent_write const& left, sent_write const& right) {
        return std::less<>{}(left.write->type, right.write->type);
    };
    if (!std::is_sorted(writes.begin(), writes.end(), before)) {
        std::stable_sort(writes.begin(), writes.end(), before);
    }
    for (auto begin = writes.begin(); begin != writes.end();) {
        auto const end = std::upper_bound(begin, writes.end(), *begin, before);
        insert_of_type({begin, end}, context);
        begin = end;
    }
}

SETTLE_FUNCTION void entry_table::insert_of_type(std::span<sent_write const> writes,
                                                 write_context const& context) {
    auto const& descriptor = *writes.front().write->type;
    std::optional<std::int64_t> type;
    if (descriptor.described) type = number_of(descriptor);
    new_entries rows{writes, context, values_};
    run statement{insert_, type, owner_number(context), number_in(context.now)};
    auto const shown = writer_->rows().show_rows(rows);
    auto const count = statement.change();
    if (count == 0) {
        for (auto const& one : writes) one.result->reply = log_answer::conflict;
        return;
    }
    // The new entries have the numbers after this number, in their order.
    auto before = sqlite3_last_insert_rowid(writer_->on().get()) - count;
    bool const all_new = count == static_cast<std::int64_t>(writes.size());
    for (auto const& write : writes) {
        auto const number = all_new ? before + 1 : number_of_row(*write.write->id);
        write.result->reply = number > before ? log_answer::taken : log_answer::conflict;
        if (number > before) write.result->row = before = number;
    }
}

SETTLE_FUNCTION std::optional<log_answer> entry_table::refusal_of(transaction_id const& id) const {
    run row{number_, id};
    if (!row.next()) return std::nullopt;
    return row.integer(1) != 0 ? log_answer::ended : log_answer::conflict;
}

SETTLE_FUNCTION void entry_table::change(std::span<sent_write const> writes,
                                         write_context const& context) {
    changes_.clear(context);
    for (auto const& write : writes) {
        write.result->reply = log_answer::conflict;
        auto& added = changes_.add(write);
        added.looked_up = added.row() == 0;
        if (added.looked_up) added.row() = number_of_row(*write.write->id);
    }
    step const action = writes.front().write->action;
    changes_.keep([](auto const& change) { return change.row() != 0; });
    change_in_place(action, context);
    // A row number may be left over from an insert that was undone.
    changes_.keep([&](auto& change) {
        bool const taken = change.result->reply == log_answer::taken;
        if (taken || std::exchange(change.looked_up, true)) return false;
        auto const before = std::exchange(change.row(), number_of_row(*change.write->id));
        return change.row() != 0 && change.row() != before;
    });
    if (!changes_.empty()) change_in_place(action, context);
}

SETTLE_FUNCTION std::uint64_t entry_table::erase_old(std::span<std::int64_t const> numbers,
                                                     timestamp before) const {
    std::uint64_t erased = 0;
    for (auto const one : numbers) {
        erased += run{erase_, one, number_in(before)}.change() == 1 ? 1U : 0U;
    }
    return erased;
}

SETTLE_FUNCTION std::string entry_table::insert_sql() {
    std::string names;
    std::string values;
    for (auto const field : settle::detail::fields_inserted()) {
        // A row has the number of its type, which names the definition.
        if (field == entry_field::definition) continue;
        if (!names.empty()) {
            names += ", ";
            values += ", ";
        }
        names += name_of(field);
        std::string const value = "c" + std::to_string(static_cast<int>(field));
        if (field == entry_field::type) values += "?1";
        else if (field == entry_field::owner) values += "?2";
        else if (field == entry_field::modified) values += "?3";
        else if (field == entry_field::attempts) values += "0";
        else values += value;
    }
    return "INSERT OR FAIL INTO settle_entry(" + names + ") SELECT " + values +
           " FROM settle_wave WHERE true ON CONFLICT(id) DO NOTHING";
}

SETTLE_FUNCTION std::string entry_table::change_sql(step action, bool stores_lists) {
    std::string sql{"UPDATE OR FAIL settle_entry SET"};
    for (auto const field : settle::detail::fields_changed_by(action)) {
        bool const is_list = field == entry_field::images || field == entry_field::results;
        if (is_list && !stores_lists) continue;
        if (!sql.ends_with("SET")) sql += ',';
        sql.append(" ").append(name_of(field)).append(" = ").append(new_value(field, action));
    }
    return sql + " WHERE number BETWEEN ?2 AND ?3 AND "
                 "settle_expects(number, state, epoch, id, revision)";
}

SETTLE_FUNCTION std::string entry_table::new_value(entry_field field, step action) {
    std::string value = "settle_value(number, " + std::to_string(static_cast<int>(field)) + ")";
    switch (field) {
    case entry_field::modified: return "?1";
    case entry_field::owner: return "iif(" + value + " IS NULL, owner, ?4)";
    case entry_field::open: return value;
    case entry_field::committed: return "epoch";
    case entry_field::state:
        // These states need no value of the wave.
        if (action == step::commit) return "2";
        if (action == step::commit_and_close) return "3";
        if (action == step::close) return "iif(state = 2, 3, 5)";
        [[fallthrough]];
    // Without a value of the wave, the row keeps its own value.
    default: return "coalesce(" + value + ", " + std::string{name_of(field)} + ")";
    }
}

SETTLE_FUNCTION bool entry_table::may_take_owner(step action) {
    auto const fields = settle::detail::fields_changed_by(action);
    return std::find(fields.begin(), fields.end(), entry_field::owner) != fields.end();
}

SETTLE_FUNCTION statement const& entry_table::change_by(step action, bool stores_lists) {
    statement& kept = changes_by_[static_cast<std::size_t>(action)][stores_lists ? 1 : 0];
    if (!kept) kept = {writer_->on(), change_sql(action, stores_lists), "change entries"};
    return kept;
}

SETTLE_FUNCTION void entry_table::change_in_place(step action, write_context const& context) {
    auto const shown = writer_->rows().show_changes(changes_);
    statement const& change = change_by(action, changes_.store_lists());
    changes_.for_each_range([&](std::int64_t first, std::int64_t last) {
        run statement{change, number_in(context.now), first, last};
        if (may_take_owner(action)) statement.bind(owner_number(context));
        statement.change();
    });
}

SETTLE_FUNCTION std::int64_t entry_table::number_of(transaction_descriptor const& descriptor) {
    for (auto const& one : type_rows_) {
        if (one.type != &descriptor) continue;
        return types_.number_of(one.word, descriptor.name(), one.definition);
    }
    // Two definitions of one name have two numbers, so the key holds both.
    std::string const definition = settle::detail::hex_of(descriptor.definition());
    type_rows_.push_back({&descriptor, definition, definition + descriptor.name()});
    return number_of(descriptor);
}

} // namespace sqlite::detail
SETTLE_END
