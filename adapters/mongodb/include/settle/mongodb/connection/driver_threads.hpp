// SPDX-License-Identifier: BSL-1.0
// Calls of the driver that go on when their callers wait no longer. Nothing can interrupt a call of
// the driver before socketTimeoutMS.
#pragma once

#include <settle/adapter/kept_threads.hpp>

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

SETTLE_BEGIN
namespace mongodb::detail {

/// Threads for the calls whose callers may stop waiting. Each call holds a client of the pool, so
/// there are at most maxPoolSize threads.
class driver_threads {
public:
    /// True if the engine's caller on this thread has a deadline, or may ask to stop.
    [[nodiscard]] static bool are_needed() noexcept;

    /// Runs a call until it ends, or until half a second after the engine's caller waits no longer.
    /// Then the call goes on.
    /// Shape:   call - owns what it uses
    /// Returns: the limit that ended the wait, as the subject of a sentence, or an empty text
    /// Errors:  throws what the call throws
    [[nodiscard]] std::string_view run(std::function<void()> call);

private:
    struct task {
        std::function<void()> call;
        std::exception_ptr thrown{};
        bool is_over = false;
        std::condition_variable ended{};
    };
    void perform(task& next);

    std::mutex mutex_;
    settle::detail::kept_threads threads_; ///< end first, with the calls that nobody waits for
};

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/driver_threads.ipp>
#endif
