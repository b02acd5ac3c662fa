// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mark_bounds.hpp declares.
#pragma once

#include <settle/sqlite/mark_bounds.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION bool mark_bounds::take_out(mark_view const& removed) {
    bool fits = --marks >= 0;
    for (std::size_t i = 0; i < least.size(); ++i) {
        bool const past = __builtin_sub_overflow(least[i], removed.low(i), &least[i]) ||
                          __builtin_sub_overflow(most[i], removed.high(i), &most[i]);
        fits = fits && !past && least[i] <= 0 && most[i] >= 0;
        // Without marks the bounds must be zero.
        fits = fits && (marks > 0 || (least[i] == 0 && most[i] == 0));
    }
    return fits;
}

SETTLE_FUNCTION void bounds_table::damaged(std::string_view name, std::string_view key,
                                           std::string_view problem) {
    std::string text{"settle: the row of '"};
    text.append(key).append("' in '").append(name);
    text.append("' is damaged in the table settle_bound: ").append(problem);
    raise(errc::damaged, text.append(". Delete that row. See errors#damaged"));
}

SETTLE_FUNCTION mark_bounds bounds_table::read(run const& row) const {
    mark_bounds found;
    found.marks = row.integer(2);
    record_descriptor const& record = *of_->record;
    error wrong = decode_deltas(record, row.text(3), found.least);
    if (wrong.empty()) wrong = decode_deltas(record, row.text(4), found.most);
    if (!wrong.empty()) damaged(of_->name, row.text(0), wrong.text);
    bool possible = found.marks > 0;
    for (std::size_t i = 0; i < record.integers; ++i) {
        possible = possible && found.least[i] <= 0 && found.most[i] >= 0;
    }
    if (!possible) damaged(of_->name, row.text(0), "no marks have such bounds");
    return found;
}

} // namespace sqlite::detail
SETTLE_END
