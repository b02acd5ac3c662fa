// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that thread.hpp declares.
#pragma once

#include <settle/metrics/thread.hpp>
#include <settle/protocol/fresh.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION result<bool> unfinished_count::next(page_function page) {
    entry_filter filter;
    if (submitted_) filter.state = state::initial;
    else filter.unfinished = true;
    auto const entries = page(filter, after_, page_size);
    if (!entries.has_value()) return entries.problem();
    for (entry const& stored : entries.value()) {
        auto const stage = stored.stages_kept;
        auto& count = counts_[{stored.type, stored.state, stage}];
        if (count.count++ == 0) count = {stored.type, stored.state, 1, stored.created, stage};
        count.oldest = std::min(count.oldest, stored.created);
        after_ = stored.id;
    }
    if (entries.value().size() == page_size) return false;
    after_.clear();
    return std::exchange(submitted_, true);
}

SETTLE_FUNCTION std::vector<waiting_count> unfinished_count::by_stage() const {
    std::vector<waiting_count> counts;
    counts.reserve(counts_.size());
    for (auto const& [key, count] : counts_) counts.push_back(count);
    return counts;
}

SETTLE_FUNCTION std::vector<waiting_count> unfinished_count::all() const {
    std::vector<waiting_count> counts;
    for (auto const& [key, count] : counts_) {
        bool const is_new = counts.empty() || counts.back().name != count.name ||
                            counts.back().state != count.state;
        if (is_new) {
            counts.push_back(count);
            continue;
        }
        counts.back().count += count.count;
        counts.back().oldest = std::min(counts.back().oldest, count.oldest);
    }
    return counts;
}

SETTLE_FUNCTION std::vector<waiting_count> counts_of(std::vector<mark_locator> const& marks) {
    std::vector<waiting_count> counts;
    for (mark_locator const& mark : marks) {
        auto const born = time_of_mark(mark.epoch_number);
        auto const known = std::find_if(counts.begin(), counts.end(), [&](auto const& each) {
            return each.name == mark.collection;
        });
        if (known == counts.end()) {
            counts.push_back({mark.collection, state::initial, 1, born});
        } else {
            ++known->count;
            known->oldest = std::min(known->oldest, born);
        }
    }
    return counts;
}

} // namespace detail
SETTLE_END
