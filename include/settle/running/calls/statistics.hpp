// SPDX-License-Identifier: BSL-1.0
// The figures of an engine for a metrics system, and its list of stuck transactions.
#pragma once

#include <settle/kinds/services/service_session.hpp>

#include <atomic>
#include <memory>
#include <vector>

SETTLE_BEGIN

/// The figures of one engine since its construction.
struct statistics {
    /// The transactions that got stuck in calls of this engine and, as far as this engine knows,
    /// are unfinished. engine.stuck() lists the stuck transactions of all processes.
    std::size_t stuck = 0;
    std::vector<call_counts> calls{}; ///< for each service, in the order of the engine's arguments

    friend bool operator==(statistics const&, statistics const&) = default;
};

namespace detail {

/// The stuck transactions in the calls of an engine. Threads may share an object.
/// Cost:    an id is in memory while its transaction is stuck
class stuck_transactions {
public:
    stuck_transactions();
    ~stuck_transactions();
    stuck_transactions(stuck_transactions const&) = delete;
    stuck_transactions& operator=(stuck_transactions const&) = delete;

    [[nodiscard]] std::size_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }
    /// True if the id is new.
    bool add(transaction_id const& id);
    void remove(transaction_id const& id) {
        if (count() != 0) remove_stuck(id);
    }
    [[nodiscard]] std::vector<transaction_id> ids() const;

private:
    struct guarded_ids;

    void remove_stuck(transaction_id const& id);

    std::unique_ptr<guarded_ids> ids_;
    std::atomic<std::size_t> count_{0};
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/statistics.ipp>
#endif
