// SPDX-License-Identifier: BSL-1.0
// Statements that are prepared when they are first needed.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail::sql {

/// Statements by a key that has few values. Threads may share a cache.
template <typename Key, typename Statement>
class statement_cache {
public:
    /// Shape:   prepare() - the statement of the key
    template <typename Prepare>
    [[nodiscard]] Statement const& of(Key const& key, Prepare&& prepare) {
        std::lock_guard const guard{mutex_};
        auto const known = std::find_if(statements_.begin(), statements_.end(),
                                        [&](auto const& pair) { return pair.first == key; });
        if (known != statements_.end()) return *known->second;
        return *statements_.emplace_back(key, &prepare()).second;
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<Key, Statement const*>> statements_;
};

} // namespace detail::sql
SETTLE_END
