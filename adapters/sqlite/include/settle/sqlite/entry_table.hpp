// SPDX-License-Identifier: BSL-1.0
// The entries of a log, in the table settle_entry: inserted and changed by compare-and-set.
#pragma once

#include <settle/sqlite/entry_wave.hpp>
#include <settle/sqlite/writer.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// Words that entries name by a number. What was undone may have had a number that is no more.
class numbered_words {
public:
    /// Shape:   find, insert - statements with the same parameters
    numbered_words(writer const& on, std::string_view find, std::string_view insert)
        : writer_(&on), find_(on.on(), find, "read a type or an owner of entries"),
          insert_(on.on(), insert, "write a type or an owner of entries") {}

    /// Shape:   word - what it is known by in this process; columns - what its row holds
    template <typename... Columns>
    std::int64_t number_of(std::string_view word, Columns const&... columns) {
        if (std::exchange(as_of_, writer_->undone()) != writer_->undone()) known_.clear();
        for (auto const& [known, number] : known_) {
            if (known == word) return number;
        }
        std::int64_t const number = look_up(columns...);
        known_.emplace_back(word, number);
        return number;
    }

private:
    template <typename... Columns>
    std::int64_t look_up(Columns const&... columns) const {
        run{insert_, columns...}.change();
        run row{find_, columns...};
        row.next();
        return row.integer(0);
    }

    writer const* writer_;
    statement find_;
    statement insert_;
    std::vector<std::pair<std::string, std::int64_t>> known_;
    std::uint64_t as_of_ = 0;
};

/// Statements of the writer's connection. The caller holds its mutex and a native transaction.
class entry_table {
public:
    explicit entry_table(writer& on)
        : writer_(&on),
          types_(on, "SELECT number FROM settle_type WHERE name = ?1 AND definition = ?2",
                 "INSERT OR IGNORE INTO settle_type(name, definition) VALUES(?1, ?2)"),
          owners_(on, "SELECT number FROM settle_owner WHERE name = ?1",
                  "INSERT OR IGNORE INTO settle_owner(name) VALUES(?1)"),
          insert_(on.on(),
                  "INSERT OR FAIL INTO settle_entry(type, owner, modified, attempts, id, state, "
                  "epoch, reason, created, parameters, participant, line, images, open, committed) "
                  "SELECT ?1, ?2, ?3, 0, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 "
                  "FROM settle_wave WHERE true ON CONFLICT(id) DO NOTHING",
                  "insert entries"),
          number_(on.on(), "SELECT number, state IN (3, 5) FROM settle_entry WHERE id = ?1",
                  "look for an entry"),
          commit_(on.on(),
                  change_sql("state = 2, committed = epoch, "
                             "images = coalesce(settle_value(number, 6), images)"),
                  "change entries"),
          close_(on.on(), change_sql("state = iif(state = 2, 3, 5), open = NULL"),
                 "change entries"),
          // Right of an assignment stands what was there before: the first reason is kept.
          change_(on.on(),
                  change_sql("state = settle_value(number, 0), epoch = settle_value(number, 1), "
                             "attempts = settle_value(number, 2), "
                             "owner = coalesce(iif(settle_value(number, 7), ?4, NULL), owner), "
                             "reason = iif(reason = 0, settle_value(number, 3), reason), "
                             "participant = iif(reason = 0, settle_value(number, 4), participant), "
                             "line = iif(reason = 0, settle_value(number, 5), line), "
                             "images = coalesce(settle_value(number, 6), images), "
                             "open = iif(settle_value(number, 0) IN (3, 5), NULL, 1)"),
                  "change entries"),
          claim_(on.on(),
                 change_sql("state = settle_value(number, 0), epoch = settle_value(number, 1), "
                            "attempts = settle_value(number, 2), owner = ?4"),
                 "change entries"),
          erase_(on.on(),
                 std::string{"DELETE FROM settle_entry WHERE number = ?1 AND "}.append(is_old),
                 "erase an entry") {}

    /// Inserts the entries of some jobs; the answer tells which entries are new.
    /// Shape:   jobs - all of one direction
    void insert(std::span<job* const> jobs, write_context const& at) {
        auto const& given = *jobs.front()->direction;
        std::optional<std::int64_t> type;
        if (given.described) type = number_of(given);
        new_entries rows{jobs, scratch_};
        run statement{insert_, type, owner_number(at), number_in(at.now)};
        auto const shown = writer_->rows().show_rows(rows);
        auto const count = statement.change();
        if (count == 0) return say(jobs, log_answer::conflict);
        // The new entries have the numbers after this number, in their order.
        auto before = sqlite3_last_insert_rowid(writer_->on().get()) - count;
        bool const all = count == static_cast<std::int64_t>(jobs.size());
        for (auto* const work : jobs) {
            auto const number = all ? before + 1 : number_of_row(work->id);
            work->reply = number > before ? log_answer::taken : log_answer::conflict;
            if (number > before) work->row = before = number;
        }
    }

    /// What an insert of a job's entry would answer if the entry is there; nothing when it is not.
    [[nodiscard]] std::optional<log_answer> refusal_of(job const& work) const {
        run row{number_, work.id};
        if (!row.next()) return std::nullopt;
        return row.integer(1) != 0 ? log_answer::ended : log_answer::conflict;
    }

    /// Changes the entries of some jobs, each by a compare-and-set.
    template <step Step>
    void change(std::span<job* const> jobs, write_context const& at) {
        changes_.clear();
        for (auto* const work : jobs) {
            work->reply = log_answer::conflict;
            auto& one = changes_.add(*work, Step);
            one.looked_up = work->row == 0;
            if (one.looked_up) work->row = number_of_row(work->id);
        }
        changes_.keep([](auto const& one) { return *one.row != 0; });
        change_in_place<Step>(at);
        // A row number may be left over from an insert that was undone.
        changes_.keep([&](auto& one) {
            if (*one.reply == log_answer::taken || std::exchange(one.looked_up, true)) return false;
            auto const before = std::exchange(*one.row, number_of_row(*one.id));
            return *one.row != 0 && *one.row != before;
        });
        if (!changes_.empty()) change_in_place<Step>(at);
    }

    /// Erases entries that are still finished and old; returns their number.
    /// Shape:   numbers - of entries that were so when they were found
    std::uint64_t erase_old(std::span<std::int64_t const> numbers, timestamp before) const {
        std::uint64_t erased = 0;
        for (auto const one : numbers) {
            erased += run{erase_, one, number_in(before)}.change() == 1 ? 1U : 0U;
        }
        return erased;
    }

private:
    /// Shape:   assignments - may use settle_value, and ?4 as the owner
    static std::string change_sql(std::string_view assignments) {
        std::string sql{"UPDATE OR FAIL settle_entry SET modified = ?1, "};
        return sql.append(assignments)
            .append(" WHERE number BETWEEN ?2 AND ?3 AND settle_met(number, state, epoch, id)");
    }

    template <step Step>
    void change_in_place(write_context const& at) {
        auto const shown = writer_->rows().show_changes(changes_);
        changes_.for_each_run([&](std::int64_t first, std::int64_t last) {
            constexpr bool commits = Step == step::commit;
            run statement{commits               ? commit_
                          : Step == step::close ? close_
                          : Step == step::claim ? claim_
                                                : change_,
                          number_in(at.now), first, last};
            if constexpr (!commits && Step != step::close) statement.bind(owner_number(at));
            statement.change();
        });
    }

    static void say(std::span<job* const> jobs, log_answer reply) {
        for (auto* const work : jobs) work->reply = reply;
    }

    /// The number of an entry; 0 if it does not exist.
    [[nodiscard]] std::int64_t number_of_row(transaction_id const& id) const {
        run row{number_, id};
        return row.next() ? row.integer(0) : 0;
    }

    std::int64_t number_of(erased_direction const& given) {
        for (auto const& one : directions_) {
            if (one.direction != &given) continue;
            return types_.number_of(one.word, given.name(), one.definition);
        }
        // Two definitions of one name have two numbers, so the key holds both.
        std::string const definition = settle::detail::hex_of(given.definition());
        directions_.push_back({&given, definition, definition + given.name()});
        return number_of(given);
    }

    std::int64_t owner_number(write_context const& at) {
        return owners_.number_of(at.owner, at.owner);
    }

    struct known_direction {
        erased_direction const* direction;
        std::string definition;
        std::string word;
    };

    writer* writer_;
    std::vector<known_direction> directions_;
    numbered_words types_;
    numbered_words owners_;
    statement insert_;
    statement number_;
    statement commit_;
    statement close_;
    statement change_;
    statement claim_;
    statement erase_;
    std::string scratch_; ///< JSON for a statement; kept for its capacity
    entry_changes changes_;
};

} // namespace sqlite::detail
SETTLE_END
