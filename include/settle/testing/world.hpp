// SPDX-License-Identifier: BSL-1.0
// One state of a search: records, entries, workers, and operations whose outcome nobody knows.
#pragma once

#include <settle/testing/model.hpp>

SETTLE_BEGIN
namespace testing {

enum class role : std::uint8_t { idle, caller, recoverer, canceler, sweeper };

/// One worker of a search, and what it remembers.
struct model_worker {
    role what = role::idle;
    std::uint8_t transaction = 0;
    std::uint8_t part = 0;    ///< of the mark that a sweeper looks at
    bool judged = false;      ///< a sweeper has read the entry and found the mark stray
    epoch marked = 0;         ///< the epoch of that mark
    coordinator mind;

    friend bool operator==(model_worker const&, model_worker const&) = default;

    [[nodiscard]] std::size_t hash() const {
        if (what == role::idle) return 1;
        std::size_t const seed =
            hash_mix(static_cast<std::size_t>(what),
                     std::uint64_t{transaction} | std::uint64_t{part} << 8U |
                         (judged ? 1U : 0U) << 16U);
        return hash_mix(hash_mix(seed, marked), mind.hash());
    }
};

/// An operation that was sent, whose worker was told that its outcome is unknown.
struct flight {
    std::uint8_t transaction = 0;
    std::uint8_t part = 0;
    step at = step::end;
    state inserts = state::initial;
    epoch under = 0;
    epoch committed = 0;
    transition change{};

    friend bool operator==(flight const& left, flight const& right) {
        return left.key() == right.key();
    }
    friend bool operator<(flight const& left, flight const& right) {
        return left.key() < right.key();
    }
    [[nodiscard]] std::size_t hash() const {
        std::size_t const seed =
            hash_mix(static_cast<std::size_t>(at),
                     std::uint64_t{transaction} | std::uint64_t{part} << 8U |
                         static_cast<std::uint64_t>(inserts) << 16U |
                         static_cast<std::uint64_t>(change.to) << 24U);
        return hash_mix(hash_mix(hash_mix(seed, under), committed),
                        change.from_epoch << 1U ^ change.to_epoch);
    }

private:
    [[nodiscard]] std::tuple<std::uint8_t, std::uint8_t, step, state, epoch, epoch, state, epoch,
                             state, epoch>
    key() const {
        return {transaction, part, at, inserts, under, committed,
                change.from, change.from_epoch, change.to, change.to_epoch};
    }
};

template <typename Records>
struct world {
    Records data;
    std::vector<model_entry> entries;
    std::vector<model_worker> workers;
    std::vector<flight> flights;
    std::uint8_t late = 0;      ///< late writes so far
    std::uint8_t begun = 0;     ///< calls of the same id beyond the first, so far

    friend bool operator==(world const&, world const&) = default;

    [[nodiscard]] std::size_t hash() const {
        std::size_t seed = data.hash();
        for (auto const& one : entries) seed = hash_mix(seed, one.hash());
        for (auto const& one : workers) seed = hash_mix(seed, one.hash());
        for (auto const& one : flights) seed = hash_mix(seed, one.hash());
        return hash_mix(seed, late | std::uint64_t{begun} << 8U);
    }

    /// Calls `function(epoch&)` for every epoch of one transaction.
    template <typename Function>
    void visit_epochs(std::size_t transaction, transaction_id const& id, Function&& function) {
        auto& here = entries[transaction];
        function(here.now.epoch_number);
        function(here.now.committed);
        for (auto& one : workers) {
            if (one.what == role::idle || one.transaction != transaction) continue;
            function(one.marked);
            one.mind.visit_epochs(function);
        }
        for (auto& one : flights) {
            if (one.transaction != transaction) continue;
            function(one.under);
            function(one.committed);
            function(one.change.from_epoch);
            function(one.change.to_epoch);
            function(one.change.committed);
        }
        data.for_each_table([&](auto& table) {
            for (auto& slot : table.slots) slot.marks.visit_epochs_of(id, function);
        });
    }

    /// Renames epochs so that states which differ in absolute numbers alone become one. What counts
    /// is their order, and which is the next number after which, since a claim adds one.
    void rename_epochs(std::size_t transaction, transaction_id const& id) {
        std::vector<epoch> seen;
        visit_epochs(transaction, id, [&](epoch& one) {
            if (one != 0) seen.push_back(one);
        });
        std::sort(seen.begin(), seen.end());
        seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
        std::vector<epoch> renamed(seen.size());
        for (std::size_t i = 0; i < seen.size(); ++i) {
            if (i == 0) renamed[i] = 1;
            else renamed[i] = renamed[i - 1] + (seen[i] == seen[i - 1] + 1 ? 1 : 2);
        }
        visit_epochs(transaction, id, [&](epoch& one) {
            if (one == 0) return;
            auto const at = std::lower_bound(seen.begin(), seen.end(), one) - seen.begin();
            one = renamed[static_cast<std::size_t>(at)];
        });
    }
};

} // namespace testing
SETTLE_END
