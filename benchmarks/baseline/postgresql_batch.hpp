// SPDX-License-Identifier: BSL-1.0
// The arrays of a batch of transfers for PostgreSQL: one change for each account, and the rows of
// the log.
#pragma once

#include "postgresql.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace baseline::postgresql {

/// The changes of accounts that a batch makes. The memory is reused.
class account_changes {
public:
    void clear() noexcept { all_.clear(); }
    void debit(bench::transfer const& one) {
        all_.push_back({one.source, -one.amount, one.amount});
    }
    void credit(bench::transfer const& one) { all_.push_back({one.destination, one.amount, 0}); }

    /// Queues "change_all" with one element for each account, in the order of the keys, so that two
    /// batches do not wait for each other.
    void send(connection const& on) {
        fold();
        auto keys = array::of_texts(all_.size());
        auto added = array::of_integers(all_.size());
        auto needed = array::of_integers(all_.size());
        for (change const& one : all_) {
            keys.add(one.key);
            added.add(one.added);
            needed.add(one.needed);
        }
        on.send("change_all", keys, added, needed, static_cast<std::int64_t>(all_.size()));
    }

private:
    struct change {
        std::string_view key;
        std::int64_t added;
        std::int64_t needed; ///< for all debits, whatever their order
    };

    /// Leaves one change for each account.
    void fold() {
        std::sort(all_.begin(), all_.end(),
                  [](change const& left, change const& right) { return left.key < right.key; });
        std::size_t count = 0;
        for (change const& one : all_) {
            if (count > 0 && all_[count - 1].key == one.key) {
                all_[count - 1].added += one.added;
                all_[count - 1].needed += one.needed;
            } else {
                all_[count++] = one;
            }
        }
        all_.resize(count);
    }

    std::vector<change> all_;
};

/// Queues "enter_all".
/// Shape:   json - memory that is reused
inline void send_entries(connection const& on, std::span<bench::request const> batch,
                         std::string& json) {
    auto ids = array::of_texts(batch.size());
    auto parameters = array::of_texts(batch.size());
    for (auto const& [id, transfer] : batch) {
        ids.add(id);
        write_json(json, transfer.source, transfer.destination, transfer.amount);
        parameters.add(json);
    }
    on.send("enter_all", ids, parameters, now());
}

} // namespace baseline::postgresql
