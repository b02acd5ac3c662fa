// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_wave.hpp declares.
#pragma once

#include <settle/sqlite/entry_wave.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void new_entries::give(cell to, std::size_t row, int column) {
    entry_write const& write = *jobs_[row].write;
    transition const& wanted = write.change;
    switch (column) {
    case 0: return to.give(std::string_view{*write.id});
    case 1: return to.give(number_in(wanted.to));
    case 2: return to.give(number_in(wanted.to_epoch));
    case 3: return to.give(number_in(wanted.why));
    case 4: return to.give(number_in(write.created));
    case 5: return give_parameters(to, write);
    case 6: return to.give(named(write.failed()));
    case 7:
        if (auto const line = write.failed().line) to.give(number_in(*line));
        return;
    case 8: return give_images(to, write);
    case 9:
        if (!is_final(wanted.to)) to.give(std::int64_t{1});
        return;
    // As long as the epoch that takes its place: a row that grew would part its full page.
    default: to.give(is_final(wanted.to) ? 0 : -number_in(wanted.to_epoch));
    }
}

SETTLE_FUNCTION void new_entries::give_parameters(cell to, entry_write const& write) {
    if (!write.type->described) return;
    scratch_.clear();
    write.type->append_json(scratch_, write.parameters, secrets::written);
    to.give(std::string_view{scratch_});
}

SETTLE_FUNCTION void new_entries::give_images(cell to, entry_write const& write) {
    if (write.images == nullptr) return;
    images_.clear();
    append_images(images_, *write.images);
    to.give(std::string_view{images_});
}

SETTLE_FUNCTION bool entry_changes::execute(columns row) {
    auto const number = row.integer(0);
    while (next_ < all_.size() && all_[next_].row() < number) ++next_;
    for (std::size_t at = next_; at < all_.size() && all_[at].row() == number; ++at) {
        auto const& one = all_[at];
        if (one.result->reply == log_answer::taken ||
            row.integer(1) != number_in(one.wanted().from) ||
            row.integer(2) != number_in(one.wanted().from_epoch) ||
            row.integer(4) != number_in(one.wanted().from_revision) ||
            row.text(3) != *one.write->id) {
            continue;
        }
        one.result->reply = log_answer::taken;
        last_ = at;
        return true;
    }
    return false;
}

SETTLE_FUNCTION void entry_changes::put(cell to, columns row, int column) {
    entry_write const& write = *taken_at(row.integer(0)).write;
    transition const& wanted = write.change;
    switch (column) {
    case 0: return to.give(number_in(wanted.to));
    case 1: return to.give(number_in(wanted.to_epoch));
    case 2: return to.give(number_in(wanted.attempts));
    case 3: return to.give(number_in(wanted.why));
    case 4: return to.give(named(write.failed()));
    case 5:
        if (auto const line = write.failed().line) to.give(number_in(*line));
        return;
    case 6:
        if (write.images == nullptr) return;
        scratch_.clear();
        append_images(scratch_, *write.images);
        return to.give(std::string_view{scratch_});
    case 7: return to.give(std::int64_t{wanted.takes_owner});
    case 8: return to.give(number_in(wanted.to_revision));
    case 9: return to.give(number_in(wanted.stages_kept));
    default:
        if (write.results == nullptr) return;
        results_.clear();
        append_results(results_, *write.results);
        to.give(std::string_view{results_});
    }
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
