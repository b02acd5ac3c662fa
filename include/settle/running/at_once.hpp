// SPDX-License-Identifier: BSL-1.0
// What becomes of a transaction that settles at once, asked inside its native transaction.
#pragma once

#include <settle/running/options.hpp>
#include <settle/store/wave.hpp>

SETTLE_BEGIN
namespace detail {

/// What becomes of a transaction at once. Its age is asked inside the native transaction, where
/// nothing can come between that and the commit.
template <typename Environment>
class judge_at_once {
public:
    judge_at_once(Environment const& environment, options const& limits)
        : environment_(&environment), attempts_(limits.attempts), lifetime_(limits.lifetime) {}

    [[nodiscard]] bool operator()(job& work) const {
        bool const expired = environment_->now() - work.created > lifetime_;
        return work.coordinator.judge(attempts_, expired);
    }

private:
    Environment const* environment_;
    std::uint32_t attempts_;
    std::chrono::milliseconds lifetime_;
};

} // namespace detail

SETTLE_END
