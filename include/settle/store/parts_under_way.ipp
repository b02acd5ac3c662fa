// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that parts_under_way.hpp declares.
#pragma once

#include <settle/store/parts_under_way.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION void answer_signal::add() {
    std::scoped_lock const guard{mutex_};
    // A wake-up for each of a thousand answers would cost more than the answers.
    if (++answers_ == awaited_) changed_.notify_all();
}

SETTLE_FUNCTION void answer_signal::clear() {
    std::scoped_lock const guard{mutex_};
    answers_ = 0;
}

SETTLE_FUNCTION bool answer_signal::wait(std::size_t count, std::optional<moment> const& until,
                                         std::stop_token const& stop) {
    std::unique_lock guard{mutex_};
    awaited_ = count;
    auto const has_answers = [&] { return answers_ >= count; };
    if (until) changed_.wait_until(guard, stop, *until, has_answers);
    else changed_.wait(guard, stop, has_answers);
    awaited_ = 0;
    return has_answers();
}

} // namespace detail
SETTLE_END
