// SPDX-License-Identifier: BSL-1.0
// A mark as a row of the table settle_mark, for databases of tables.
#pragma once

#include <settle/adapter/mark_columns.hpp>
#include <settle/adapter/row_values.hpp>
#include <settle/store/look.hpp>

SETTLE_BEGIN
namespace detail {

/// Reads a mark.
/// Shape:   row - id, participant, line, epoch, effect, confirm, undo, image; slot - its record's
/// Errors:  throws errc::damaged, naming the mark
template <typename Row>
[[nodiscard]] mark_data read_mark(collection_descriptor const& collection, Row const& row,
                                  any_slot& slot) {
    auto const damaged = [&](std::string_view problem) {
        std::string text{"settle: a mark of the transaction '"};
        text.append(row.text(0)).append("' on '").append(collection.name);
        text.append("' is damaged in the table settle_mark: ").append(problem);
        throw failure({make_error_code(errc::damaged), text.append(". See errors#damaged")});
    };
    mark_data mark;
    std::string_view problem = read_field(row, 0, mark.id);
    if (problem.empty()) problem = read_field(row, 1, mark.part.participant);
    if (problem.empty()) problem = read_field(row, 2, mark.part.line);
    std::int64_t number = 0;
    if (problem.empty()) problem = read_field(row, 3, number);
    if (problem.empty() && number < 0) problem = "has a negative epoch";
    mark.epoch_number = static_cast<epoch>(number);
    if (!problem.empty()) damaged("a column " + std::string{problem});
    mark_columns const columns{row.text(4), std::string{row.text(5)}, std::string{row.text(6)},
                               std::string{row.text(7)}};
    error const wrong = decode_mark(*collection.record, columns, slot.record(), mark);
    if (!wrong.empty()) damaged(wrong.text);
    return mark;
}

/// The columns of a look, after those of read_mark(): of the mark's entry, or nothing without the
/// log; and of the record, with its version, or nothing where there is none.
inline constexpr int look_state = 8; ///< then epoch, and committed epoch
inline constexpr int look_exists = 11;
inline constexpr int look_version = 12;
inline constexpr int look_members = 13;

/// Adds an entry to a look.
/// Shape:   row - from a column on: state, epoch, and committed epoch
template <typename Row>
void read_standing(Row const& row, transaction_id const& id, int column, store_look& into) {
    standing entry;
    entry.state = static_cast<state>(row.integer(column));
    entry.epoch_number = static_cast<epoch>(row.integer(column + 1));
    entry.committed = static_cast<epoch>(row.integer(column + 2));
    into.entries.insert_or_assign(id, entry);
}

/// Reads a row of a look: a row for each mark, or one without a mark.
/// Shape:   read(row, record) - reads the members
/// Errors:  as read_mark(), and those of `read`
template <typename Row, typename Read>
void read_look(collection_descriptor const& collection, Row const& row, any_slot& slot,
               store_look& into, Read&& read) {
    bool const exists = row.kind(look_exists) == value_kind::integer;
    if (exists && !slot.has_record()) read(row, slot.emplace());
    if (row.kind(0) == value_kind::null) return;
    auto mark = read_mark(collection, row, slot);
    if (into.has_entries && row.kind(look_state) == value_kind::integer) {
        read_standing(row, mark.id, look_state, into);
    }
    slot.insert(std::move(mark));
}

/// Builds the slots of a collection from the rows of a look: first the records, then the marks.
class collection_look {
public:
    explicit collection_look(collection_descriptor const& collection) : of_(&collection) {}

    /// Shape:   read(record) - reads the members
    template <typename Read>
    void add_record(Read&& read) {
        any_slot slot{*of_->record};
        read(slot.emplace());
        auto const key = owned(of_->key_of(slot.record()));
        slots_.insert_or_assign(key, std::move(slot));
    }
    /// Shape:   row - as in read_look(); key - of the mark's record
    /// Errors:  as read_mark()
    template <typename Row>
    void add_mark(Row const& row, key_value key, store_look& into) {
        auto& slot = slots_.try_emplace(std::move(key), *of_->record).first->second;
        read_look(*of_, row, slot, into, [](Row const&, void*) {});
    }
    void end(store_look& into) && {
        for (auto& each : slots_) into.slots.push_back(std::move(each.second).take());
        into.ends.push_back(into.slots.size());
    }

private:
    collection_descriptor const* of_;
    std::map<key_value, any_slot> slots_{};
};

/// Reads a mark of a listing. Texts are not checked, so that a page can begin after a text that is
/// not UTF-8.
/// Shape:   row - id, participant, line, collection, key, epoch
template <typename Row>
[[nodiscard]] mark_locator read_locator(Row const& row) {
    mark_locator locator;
    std::string ignored;
    std::int64_t number = 0;
    std::string_view problem = read_field(row, 0, ignored);
    locator.id = row.text(0); // converts the column, so its type is read before
    auto const read = [&](int column, auto& into) {
        auto const found = read_field(row, column, into);
        if (problem.empty()) problem = found;
    };
    read(1, locator.part.participant);
    read(2, locator.part.line);
    read(3, locator.collection);
    if (row.kind(4) == value_kind::integer) {
        locator.key = row.integer(4);
    } else {
        read(4, ignored);
        locator.key = std::string{row.text(4)};
    }
    read(5, number);
    if (problem.empty() && number < 0) problem = "has a negative epoch";
    locator.epoch_number = static_cast<epoch>(number);
    if (problem.empty()) return locator;
    std::string text{"settle: a mark of the transaction '"};
    text.append(locator.id).append("' is damaged in the table settle_mark: a column ");
    text.append(problem).append(". Repair that row. See errors#damaged");
    locator.fault = {make_error_code(errc::damaged), std::move(text)};
    return locator;
}

} // namespace detail
SETTLE_END
