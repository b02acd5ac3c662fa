// SPDX-License-Identifier: BSL-1.0
// Parts that a store executes while the driver goes on with other transactions.
#pragma once

#include <settle/store/request.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

SETTLE_BEGIN

class call_under_way; // kinds/services/call_under_way.hpp

namespace detail {

/// Tells one thread that answers have come. Any thread may add one.
class answer_signal {
public:
    using moment = std::chrono::steady_clock::time_point;

    void add();
    /// Forgets the answers so far, which the caller is about to look for.
    void clear();
    /// Waits for answers, until a moment or a stop request.
    /// Shape:   count - of the answers since the last clear()
    /// Returns: true if there are as many
    bool wait(std::size_t count, std::optional<moment> const& until, std::stop_token const& stop);

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::size_t answers_ = 0;
    std::size_t awaited_ = 0; ///< the number that wakes the waiting thread
};

/// What stores have begun in one step, for all jobs.
struct started_parts {
    std::shared_ptr<answer_signal> signal;
    std::vector<std::shared_ptr<call_under_way>> calls{};
};

/// The parts of one job in one store, at one step. The destructor gives up what is under way.
class parts_under_way {
public:
    parts_under_way() = default;
    parts_under_way(parts_under_way const&) = delete;
    parts_under_way& operator=(parts_under_way const&) = delete;
    virtual ~parts_under_way() = default;

    /// True if the store has to wait for nothing.
    [[nodiscard]] virtual bool is_answered() const noexcept = 0;
    /// Takes the answers, and begins what comes next.
    /// Shape:   requests, results - those of the beginning, which may have moved
    /// Returns: false if every result is set, and nothing is under way
    virtual bool go_on(std::span<part_request const> requests, std::span<part_result> results,
                       started_parts& started) = 0;
    /// Waits for no answer any more.
    /// Shape:   limit - that ended the wait, as the subject of a sentence
    virtual void give_up(std::string_view limit) = 0;
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/store/parts_under_way.ipp>
#endif
