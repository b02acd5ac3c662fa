// SPDX-License-Identifier: BSL-1.0
// Statements that are prepared when they are first needed, by a key that has few values.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail::sql {

/// Threads may share a cache.
/// Shape:   Statement - of a pool, which keeps it for its whole life
template <typename Key, typename Statement>
class statement_cache {
public:
    /// Shape:   prepare() - the statement of the key
    template <typename Prepare>
    [[nodiscard]] Statement const& of(Key const& key, Prepare&& prepare) {
        std::lock_guard const guard{mutex_};
        auto const known = std::find_if(all_.begin(), all_.end(),
                                        [&](auto const& each) { return each.first == key; });
        if (known != all_.end()) return *known->second;
        return *all_.emplace_back(key, &prepare()).second;
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<Key, Statement const*>> all_;
};

} // namespace detail::sql
SETTLE_END
