// SPDX-License-Identifier: BSL-1.0
// Erases finished entries of a log.
#pragma once

#include <settle/mongodb/connection/bulk.hpp>
#include <settle/mongodb/log/entry_layout.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Erases at most `limit` finished entries unchanged since `before`, the oldest first.
/// Shape:   passed - the creation time of the last entry that the previous call erased
[[nodiscard]] inline result<purged> purge_entries(server& from, entry_layout const& entries,
                                                  timestamp before, std::size_t limit,
                                                  std::int64_t passed) {
    purged gone;
    gone.passed = passed;
    // The server treats a limit of 0 as no limit.
    if (limit == 0) return gone;
    try {
        auto client = from.connect();
        std::vector<document> filters;
        auto options = page_of("created", limit);
        options.object("projection", document{}.integer("created", 1));
        client.find(entries.collection, entries.query_of_finished(before, passed),
                    std::move(options), "look for old entries", [&](document const& stored) {
                        // Meanwhile the id may have been purged and submitted again.
                        auto same = entries.query_of_finished(before, passed);
                        filters.push_back(std::move(same.copy("_id", *stored.find("_id"))));
                        gone.passed = stored.find("created")->date().value_or(passed);
                    });
        bulk writes{client, entries.collection};
        for (auto const& filter : filters) writes.remove(filter);
        auto const erased = writes.execute("erase entries");
        if (!erased.problem.empty()) return erased.problem;
        gone.erased = static_cast<std::uint64_t>(erased.removed);
        gone.more = filters.size() == limit;
    } catch (failure const& caught) {
        return caught.problem();
    }
    return gone;
}

} // namespace mongodb::detail
SETTLE_END
