// SPDX-License-Identifier: BSL-1.0
// The entries of a log, in the table settle_entry: inserted and changed by compare-and-set.
#pragma once

#include <settle/sqlite/connection/writer.hpp>
#include <settle/sqlite/log/entry_wave.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// Texts that entries refer to by a number. A rollback may remove a number, so the numbers are read
/// again after it.
class numbered_words {
public:
    /// Shape:   find, insert - statements with the same parameters
    numbered_words(writer const& writer, std::string_view find, std::string_view insert)
        : writer_(&writer), find_(writer.on(), find, "read a type or an owner of entries"),
          insert_(writer.on(), insert, "write a type or an owner of entries") {}

    /// Shape:   word - identifies the text in this process; columns - the values of its row
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
    explicit entry_table(writer& writer)
        : writer_(&writer),
          types_(writer, "SELECT number FROM settle_type WHERE name = ?1 AND definition = ?2",
                 "INSERT OR IGNORE INTO settle_type(name, definition) VALUES(?1, ?2)"),
          owners_(writer, "SELECT number FROM settle_owner WHERE name = ?1",
                  "INSERT OR IGNORE INTO settle_owner(name) VALUES(?1)"),
          insert_(writer.on(), insert_sql(), "insert entries"),
          number_(writer.on(), "SELECT number, state IN (3, 5) FROM settle_entry WHERE id = ?1",
                  "look for an entry"),
          erase_(writer.on(),
                 std::string{"DELETE FROM settle_entry WHERE number = ?1 AND "}.append(is_old),
                 "erase an entry"),
          erase_bar_(writer.on(),
                     "DELETE FROM settle_entry WHERE id = ?1 AND state = 7 AND epoch = ?2",
                     "replace a bar") {}
    entry_table(entry_table const&) = delete;
    entry_table& operator=(entry_table const&) = delete;

    /// Inserts entries, with a statement for each type; the results show which entries are new.
    void insert(std::span<sent_write> writes, write_context const& context);

    /// The log's answer to an insert if an entry with the id exists; else nothing.
    [[nodiscard]] std::optional<log_answer> refusal_of(transaction_id const& id) const;

    /// Changes entries, each by a compare-and-set.
    void change(std::span<sent_write const> writes, write_context const& context);

    /// Erases entries that are still finished and old; returns their number.
    /// Shape:   numbers - of entries that were finished and old when they were found
    std::uint64_t erase_old(std::span<std::int64_t const> numbers, timestamp before) const;

private:
    /// Shape:   writes - of one type
    void insert_of_type(std::span<sent_write const> writes, write_context const& context);
    /// The inserted row of a wave: ?1 its type, ?2 its owner, ?3 the time of the insert.
    static std::string insert_sql();
    /// The compare-and-set of a wave: ?1 its time, ?4 its owner if the action can change the owner.
    /// Shape:   stores_lists - a write of the wave stores images or results
    static std::string change_sql(step action, bool stores_lists);
    static std::string new_value(entry_field field, step action);
    [[nodiscard]] static bool may_take_owner(step action);

    /// The statement of a compare-and-set, which is prepared for the first write of its kind.
    statement const& change_by(step action, bool stores_lists);
    void change_in_place(step action, write_context const& context);

    /// The number of an entry; 0 if it does not exist.
    [[nodiscard]] std::int64_t number_of_row(transaction_id const& id) const {
        run row{number_, id};
        return row.next() ? row.integer(0) : 0;
    }

    std::int64_t number_of(transaction_descriptor const& descriptor);

    std::int64_t owner_number(write_context const& context) {
        return owners_.number_of(context.owner, context.owner);
    }

    struct known_type {
        transaction_descriptor const* type;
        std::string definition;
        std::string word;
    };

    writer* writer_;
    std::vector<known_type> type_rows_;
    numbered_words types_;
    numbered_words owners_;
    statement insert_;
    statement number_;
    statement erase_;
    statement erase_bar_;
    /// For each action, without and with lists.
    std::array<std::array<statement, 2>, static_cast<std::size_t>(step::commit_and_close) + 1>
        changes_by_;
    entry_values values_;
    entry_changes changes_{values_};
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/log/entry_table.ipp>
#endif
