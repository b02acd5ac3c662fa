// SPDX-License-Identifier: BSL-1.0
// The changes of accounts that a batch of transfers makes: one for each account.
#pragma once

#include "../workload.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace baseline {

/// The memory is reused.
class account_changes {
public:
    struct change {
        std::string_view key;
        std::int64_t added;
        std::int64_t needed; ///< for all debits, whatever their order
    };

    void clear() noexcept { all_.clear(); }
    void debit(bench::transfer const& transfer) {
        all_.push_back({transfer.source, -transfer.amount, transfer.amount});
    }
    void credit(bench::transfer const& transfer) {
        all_.push_back({transfer.destination, transfer.amount, 0});
    }

    /// Leaves one change for each account, in the order of the keys, so that two batches do not
    /// wait for each other.
    [[nodiscard]] std::span<change const> fold() {
        std::sort(all_.begin(), all_.end(),
                  [](change const& left, change const& right) { return left.key < right.key; });
        std::size_t count = 0;
        for (change const& current : all_) {
            if (count > 0 && all_[count - 1].key == current.key) {
                all_[count - 1].added += current.added;
                all_[count - 1].needed += current.needed;
            } else {
                all_[count++] = current;
            }
        }
        all_.resize(count);
        return all_;
    }

private:
    std::vector<change> all_;
};

} // namespace baseline
