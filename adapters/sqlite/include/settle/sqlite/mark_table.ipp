// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mark_table.hpp declares.
#pragma once

#include <settle/sqlite/mark_table.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void mark_table::raise(part_key const& key, transaction_id const& id,
                                       part_number part, epoch to) const {
    run row{raise_};
    bind_key(row, key).bind(of_->name).bind(id);
    row.bind(part.participant).bind(part.line).bind(static_cast<std::int64_t>(to)).change();
}

SETTLE_FUNCTION bool mark_table::has(connection const& on, part_key const& key,
                                     transaction_id const& id, part_number part) const {
    statement const look{on,
                         "SELECT 1 FROM settle_mark WHERE "
                         "(collection, key, id, participant, line) = (?1, ?2, ?3, ?4, ?5)",
                         "look for a mark"};
    run row{look, of_->name};
    bind_key(row, key).bind(id).bind(part.participant).bind(part.line);
    return row.next();
}

SETTLE_FUNCTION std::int64_t mark_table::count_between(part_key const& first, part_key const& last,
                                                       std::int64_t limit) const {
    run row{between_};
    bind_key(bind_key(row, first), last).bind(limit).next();
    return row.integer(0);
}

SETTLE_FUNCTION mark_data mark_table::read(run const& row, any_slot const& slot) const {
    mark_data found;
    std::string_view problem = read_field(row, 0, found.id);
    if (problem.empty()) problem = read_field(row, 1, found.part.participant);
    if (problem.empty()) problem = read_field(row, 2, found.part.line);
    std::int64_t number = 0;
    if (problem.empty()) problem = read_field(row, 3, number);
    if (problem.empty() && number < 0) problem = "has a negative epoch";
    found.epoch_number = static_cast<epoch>(number);
    if (!problem.empty()) damaged(row, problem);
    mark_columns const columns{row.text(4), std::string{row.text(5)}, std::string{row.text(6)},
                               std::string{row.text(7)}};
    error const wrong = decode_mark(*of_->record, columns, slot.record(), found);
    if (!wrong.empty()) damaged(row, wrong.text);
    return found;
}

SETTLE_FUNCTION void mark_table::damaged(run const& row, std::string_view problem) const {
    std::string text{"settle: a mark of the transaction '"};
    text.append(row.text(0)).append("' on '").append(of_->name);
    text.append("' is damaged in the table settle_mark: ").append(problem);
    sqlite::detail::raise(errc::damaged, text.append(". See errors#damaged"));
}

SETTLE_FUNCTION std::vector<mark_locator>
mark_reader::read(std::optional<mark_locator> const& after, std::size_t limit) const {
    std::vector<mark_locator> found;
    if (limit == 0) return found;
    if (!after) {
        // No page can begin behind a damaged mark, so the last mark of a page has a locator.
        run rows{damaged_, as_limit(limit - 1)};
        while (rows.next()) found.push_back(read_locator(rows));
    }
    // The empty collection with the least key precedes every mark.
    mark_locator const behind =
        after.value_or(mark_locator{{}, std::numeric_limits<std::int64_t>::min(), {}, {}, 0});
    run rows{placed_, behind.id, behind.part.participant, behind.part.line};
    rows.bind(behind.collection);
    std::visit([&](auto const& key) { rows.bind(key); }, behind.key);
    rows.bind(as_limit(limit - found.size()));
    while (rows.next()) found.push_back(read_locator(rows));
    return found;
}

SETTLE_FUNCTION mark_locator mark_reader::read_locator(run const& row) {
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
    if (row.type(4) == SQLITE_INTEGER) {
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

} // namespace sqlite::detail
SETTLE_END
