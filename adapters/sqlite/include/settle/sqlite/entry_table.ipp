// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_table.hpp declares.
#pragma once

#include <settle/sqlite/entry_table.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void entry_table::insert(std::span<entry_job const> jobs, write_context const& at) {
    auto const& given = *jobs.front().write->type;
    std::optional<std::int64_t> type;
    if (given.described) type = number_of(given);
    new_entries rows{jobs, scratch_};
    run statement{insert_, type, owner_number(at), number_in(at.now)};
    auto const shown = writer_->rows().show_rows(rows);
    auto const count = statement.change();
    if (count == 0) {
        for (auto const& one : jobs) one.result->reply = log_answer::conflict;
        return;
    }
    // The new entries have the numbers after this number, in their order.
    auto before = sqlite3_last_insert_rowid(writer_->on().get()) - count;
    bool const all = count == static_cast<std::int64_t>(jobs.size());
    for (auto const& one : jobs) {
        auto const number = all ? before + 1 : number_of_row(*one.write->id);
        one.result->reply = number > before ? log_answer::taken : log_answer::conflict;
        if (number > before) one.result->row = before = number;
    }
}

SETTLE_FUNCTION std::optional<log_answer> entry_table::refusal_of(transaction_id const& id) const {
    run row{number_, id};
    if (!row.next()) return std::nullopt;
    return row.integer(1) != 0 ? log_answer::ended : log_answer::conflict;
}

SETTLE_FUNCTION void entry_table::change(std::span<entry_job const> jobs, write_context const& at) {
    changes_.clear();
    for (auto const& one : jobs) {
        one.result->reply = log_answer::conflict;
        auto& added = changes_.add(one);
        added.looked_up = added.row() == 0;
        if (added.looked_up) added.row() = number_of_row(*one.write->id);
    }
    step const action = jobs.front().write->action;
    changes_.keep([](auto const& one) { return one.row() != 0; });
    change_in_place(action, at);
    // A row number may be left over from an insert that was undone.
    changes_.keep([&](auto& one) {
        bool const taken = one.result->reply == log_answer::taken;
        if (taken || std::exchange(one.looked_up, true)) return false;
        auto const before = std::exchange(one.row(), number_of_row(*one.write->id));
        return one.row() != 0 && one.row() != before;
    });
    if (!changes_.empty()) change_in_place(action, at);
}

SETTLE_FUNCTION std::uint64_t entry_table::erase_old(std::span<std::int64_t const> numbers,
                                                     timestamp before) const {
    std::uint64_t erased = 0;
    for (auto const one : numbers) {
        erased += run{erase_, one, number_in(before)}.change() == 1 ? 1U : 0U;
    }
    return erased;
}

SETTLE_FUNCTION std::string entry_table::change_sql(std::string_view assignments) {
    std::string sql{"UPDATE OR FAIL settle_entry SET modified = ?1, "};
    return sql.append(assignments)
        .append(" WHERE number BETWEEN ?2 AND ?3 AND settle_met(number, state, epoch, id, "
                "revision)");
}

SETTLE_FUNCTION void entry_table::change_in_place(step action, write_context const& at) {
    auto const shown = writer_->rows().show_changes(changes_);
    changes_.for_each_run([&](std::int64_t first, std::int64_t last) {
        bool const commits = action == step::commit;
        run statement{commits                 ? commit_
                      : action == step::close ? close_
                      : action == step::claim ? claim_
                                              : change_,
                      number_in(at.now), first, last};
        if (!commits && action != step::close) statement.bind(owner_number(at));
        statement.change();
    });
}

SETTLE_FUNCTION std::int64_t entry_table::number_of(transaction_descriptor const& given) {
    for (auto const& one : type_rows_) {
        if (one.type != &given) continue;
        return types_.number_of(one.word, given.name(), one.definition);
    }
    // Two definitions of one name have two numbers, so the key holds both.
    std::string const definition = settle::detail::hex_of(given.definition());
    type_rows_.push_back({&given, definition, definition + given.name()});
    return number_of(given);
}

} // namespace sqlite::detail
SETTLE_END
