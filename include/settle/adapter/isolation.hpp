// SPDX-License-Identifier: BSL-1.0
// Isolates the elements of a wave whose records another native transaction has locked. The rest of
// the wave then takes effect without them.
#pragma once

#include <settle/adapter/native_wave.hpp>

#include <atomic>
#include <mutex>
#include <set>

SETTLE_BEGIN
namespace detail {

/// Calls `attempt(part)` for the whole span; where it returns false, for each half.
/// Shape:   attempt - returns true for a single element
template <typename T, typename Attempt>
void in_halves(std::span<T> elements, Attempt&& attempt) {
    if (elements.empty() || attempt(elements)) return;
    auto const half = elements.size() / 2;
    in_halves(elements.first(half), attempt);
    in_halves(elements.subspan(half), attempt);
}

/// Transactions that failed at a held record. Each is tried alone until it succeeds, so that it
/// splits no further wave. Threads may share an object.
class held_up {
public:
    [[nodiscard]] bool contains(transaction_id const& id) {
        if (count_.load(std::memory_order_relaxed) == 0) return false;
        std::lock_guard const guard{mutex_};
        return ids_.contains(id);
    }
    void note(transaction_id const& id, bool is_held_up) {
        if (!is_held_up && count_.load(std::memory_order_relaxed) == 0) return;
        std::lock_guard const guard{mutex_};
        // Transactions whose callers gave up would otherwise stay in the set for ever.
        if (ids_.size() == most) ids_.clear();
        if (is_held_up) ids_.insert(id);
        else ids_.erase(id);
        count_.store(ids_.size(), std::memory_order_relaxed);
    }

    /// Calls `attempt(some, first)` for runs of a wave without held-up transactions, for each
    /// held-up transaction alone, and for the halves of each run that failed.
    /// Shape:   T - has a member `id`; attempt - returns false when nothing was done and each half
    ///          is to be tried alone, and true for a single element; first - no element of the run
    ///          is known to be held
    template <typename T, typename Attempt>
    void isolate(std::span<T> all, Attempt&& attempt) {
        for_each_run(
            all, [&](T const& one) { return contains(*one.id); },
            [&](std::span<T> some, bool held) {
                bool first = !held;
                in_halves(some, [&](std::span<T> half) {
                    return attempt(half, std::exchange(first, false));
                });
            });
    }

private:
    static constexpr std::size_t most = 1000;
    std::mutex mutex_;
    std::set<transaction_id> ids_;
    std::atomic<std::size_t> count_{0};
};

} // namespace detail
SETTLE_END
