// SPDX-License-Identifier: BSL-1.0
// Lists the transactions that were begun long ago and have no end.
#pragma once

#include <settle/base/saturating.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/driving/ports.hpp>

#include <algorithm>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// The unfinished entries whose age_of() exceeds a limit, by their creation. A claim changes the
/// last change of an entry, so that time does not show how old a transaction is.
/// Shape:   clocks - options::clocks; also - ids of entries that are listed at any age
inline result<std::vector<entry>> unfinished_entries(log_port& log, patience& patience,
                                                     std::chrono::milliseconds older_than,
                                                     timestamp now,
                                                     std::chrono::milliseconds clocks,
                                                     std::vector<transaction_id> const& also = {}) {
    constexpr std::size_t page = 256;
    std::vector<entry> old;
    for (transaction_id after;;) {
        auto entries = patience([&] { return log.list({.unfinished = true}, after, page); });
        if (!entries.has_value()) return entries.problem();
        for (entry& unfinished : entries.value()) {
            after = unfinished.id;
            bool const is_listed = age_of(unfinished.created, now, clocks) > older_than ||
                                   std::find(also.begin(), also.end(), unfinished.id) != also.end();
            if (is_listed) old.push_back(std::move(unfinished));
        }
        if (entries.value().size() < page) return old;
    }
}

} // namespace detail
SETTLE_END
