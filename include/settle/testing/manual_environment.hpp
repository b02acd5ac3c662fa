// SPDX-License-Identifier: BSL-1.0
// A clock that a test advances, and random numbers from a seed.
#pragma once

#include <settle/base/environment.hpp>
#include <settle/protocol/state.hpp>

#include <memory>

SETTLE_BEGIN
namespace testing {

/// Copies share one clock, so that several engines, each `with_environment(copy)`, see the same
/// time. A pause takes no real time: it advances the clock. Thread-safe.
class manual_environment {
public:
    explicit manual_environment(std::uint64_t seed = 1) : world_(std::make_shared<world>()) {
        world_->chance = seed;
    }

    [[nodiscard]] timestamp now() const {
        std::lock_guard const guard{world_->mutex};
        return timestamp{std::chrono::milliseconds{1800000000000}} +
               std::chrono::duration_cast<std::chrono::milliseconds>(world_->elapsed);
    }
    [[nodiscard]] std::chrono::nanoseconds elapsed() const {
        std::lock_guard const guard{world_->mutex};
        return world_->elapsed;
    }
    [[nodiscard]] std::uint64_t random() const {
        std::lock_guard const guard{world_->mutex};
        world_->chance += 0x9e3779b97f4a7c15U;
        return hash_mix(0, world_->chance);
    }
    void pause(std::chrono::nanoseconds duration, std::stop_token const& stop) const {
        {
            std::lock_guard const guard{world_->mutex};
            ++world_->pauses;
        }
        if (!stop.stop_requested()) advance(duration);
    }
    /// The number of pauses so far.
    [[nodiscard]] std::size_t pauses() const {
        std::lock_guard const guard{world_->mutex};
        return world_->pauses;
    }

    void advance(std::chrono::nanoseconds duration) const {
        std::lock_guard const guard{world_->mutex};
        world_->elapsed += duration;
    }

private:
    struct world {
        std::mutex mutex;
        std::chrono::nanoseconds elapsed{};
        std::uint64_t chance = 0;
        std::size_t pauses = 0;
    };
    std::shared_ptr<world> world_;
};

} // namespace testing
SETTLE_END
