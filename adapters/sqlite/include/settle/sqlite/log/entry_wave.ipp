// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_wave.hpp declares.
#pragma once

#include <settle/sqlite/log/entry_wave.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void entry_values::give(cell to, entry_write const& write,
                                        write_context const& context, int field) {
    auto& text = texts_[static_cast<std::size_t>(field)];
    text.clear();
    settle::detail::with_stored_value(static_cast<entry_field>(field), write, context, text,
                                      [&]<typename Value>(Value value) {
                                          if constexpr (!std::is_same_v<Value, bool>)
                                              to.give(value);
                                          else if (value) to.give(std::int64_t{1});
                                      });
}

SETTLE_FUNCTION void new_entries::give(cell to, std::size_t row, int field) {
    entry_write const& write = *all_[row].write;
    transition const& change = write.change;
    switch (static_cast<entry_field>(field)) {
    // A negative number as long as the epoch that will replace it: a row that grew would split its
    // full page.
    case entry_field::committed:
        if (change.committed != 0) return to.give(number_in(change.committed));
        return to.give(is_final(change.to) ? 0 : -number_in(change.to_epoch));
    // These columns are never NULL.
    case entry_field::reason: return to.give(number_in(change.why));
    case entry_field::stages_kept: return to.give(number_in(change.stages_kept));
    default: return values_.give(to, write, at_, field);
    }
}

SETTLE_FUNCTION bool entry_changes::execute(columns row) {
    auto const number = row.integer(0);
    while (next_ < all_.size() && all_[next_].row() < number) ++next_;
    for (std::size_t index = next_; index < all_.size() && all_[index].row() == number; ++index) {
        auto const& change = all_[index];
        if (change.result->reply == log_answer::taken ||
            row.integer(1) != number_in(change.transition_of().from) ||
            row.integer(2) != number_in(change.transition_of().from_epoch) ||
            row.integer(4) != number_in(change.transition_of().from_revision) ||
            row.text(3) != *change.write->id) {
            continue;
        }
        change.result->reply = log_answer::taken;
        last_ = index;
        return true;
    }
    return false;
}

SETTLE_FUNCTION entry_changes::one_change const& entry_changes::taken_at(std::int64_t number) {
    if (all_[last_].row() != number) {
        last_ = static_cast<std::size_t>(
            std::partition_point(all_.begin(), all_.end(),
                                 [&](auto const& one) { return one.row() < number; }) -
            all_.begin());
    }
    while (all_[last_].result->reply != log_answer::taken) ++last_;
    return all_[last_];
}

} // namespace sqlite::detail
SETTLE_END
