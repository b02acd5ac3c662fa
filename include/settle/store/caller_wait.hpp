// SPDX-License-Identifier: BSL-1.0
// How long the caller of an engine waits, for the stores that its thread asks.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

SETTLE_BEGIN

/// How long the caller of an engine waits.
struct wait_limits {
    std::stop_token stop{};
    std::optional<std::chrono::steady_clock::time_point> deadline{};

    [[nodiscard]] bool are_over() const {
        return stop.stop_requested() || (deadline && std::chrono::steady_clock::now() >= *deadline);
    }
    /// The limit as the subject of a sentence, once the limits are over.
    [[nodiscard]] std::string_view name() const {
        return stop.stop_requested() ? "a stop request" : "the deadline of the engine's caller";
    }
};

namespace detail {

/// While it lives, stores that this thread asks know how long the caller waits.
/// Shape:   limits - outlive the object
class caller_wait {
public:
    explicit caller_wait(wait_limits const& limits) noexcept
        : before_(std::exchange(current, &limits)) {}
    caller_wait(caller_wait const&) = delete;
    caller_wait& operator=(caller_wait const&) = delete;
    ~caller_wait() { current = before_; }

    /// Null if nobody has told.
    [[nodiscard]] static wait_limits const* limits() noexcept { return current; }

private:
    inline static thread_local wait_limits const* current = nullptr;
    wait_limits const* before_;
};

/// When a store gives up a wait for its database: at a limit of its own, or soon after its caller
/// has stopped waiting. What was sent then has an unknown outcome.
class store_wait {
public:
    using moment = std::chrono::steady_clock::time_point;

    /// A database that works answers within this time. So what was begun ends, and the connection
    /// stays.
    static constexpr std::chrono::milliseconds grace{80};

    /// Shape:   end - the store's own limit
    explicit store_wait(moment end) noexcept : end_(end), caller_(caller_wait::limits()) {
        if (caller_ != nullptr && caller_->deadline) cut(*caller_->deadline);
    }

    /// How long to sleep before the next look; nothing if the wait is over.
    [[nodiscard]] std::optional<std::chrono::milliseconds> left() {
        auto const now = moment::clock::now();
        if (caller_ != nullptr && !is_stopped_ && caller_->stop.stop_requested()) {
            is_stopped_ = true;
            cut(now);
        }
        if (now >= end_) return std::nullopt;
        auto const rest = std::chrono::ceil<std::chrono::milliseconds>(end_ - now);
        // A stop request wakes no socket.
        bool const may_stop = caller_ != nullptr && caller_->stop.stop_possible() && !is_stopped_;
        return may_stop ? std::min(rest, std::chrono::milliseconds{20}) : rest;
    }
    /// What has ended the wait, if it was the caller's limit; else an empty text.
    [[nodiscard]] std::string_view limit() const {
        return is_cut_ && caller_->are_over() ? caller_->name() : std::string_view{};
    }

private:
    void cut(moment at) noexcept {
        if (at > moment::max() - grace) return;
        auto const end = std::max(at, begin_) + grace;
        if (end >= end_) return;
        end_ = end;
        is_cut_ = true;
    }

    moment const begin_ = moment::clock::now();
    moment end_;
    wait_limits const* caller_;
    bool is_stopped_ = false;
    bool is_cut_ = false;
};

} // namespace detail
SETTLE_END
