// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that failing_parts.hpp declares.
#pragma once

#include <settle/running/driving/call_pauses.hpp>
#include <settle/running/driving/failing_parts.hpp>
#include <settle/running/driving/pauses.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

template <typename Parts>
auto failing_parts::lower_bound(Parts& parts, std::size_t number) {
    return std::lower_bound(
        parts.begin(), parts.end(), number,
        [](part const& known, std::size_t wanted) { return known.number < wanted; });
}

template <typename Parts>
auto failing_parts::find(Parts& parts, std::size_t number) {
    auto const place = lower_bound(parts, number);
    return place == parts.end() || place->number != number ? nullptr : &*place;
}

SETTLE_FUNCTION void failing_parts::note(std::size_t number, part_result const& result,
                                         bool is_call, std::uint32_t tries) {
    auto* known = find(parts_, number);
    bool const failed = result.what == answer::unavailable || result.what == answer::unknown;
    if (!failed) {
        if (known != nullptr) parts_.erase(lower_bound(parts_, number));
        return;
    }
    if (known == nullptr) {
        auto const earlier = is_call ? tries_of(number, tries) : 0;
        known = &*parts_.insert(lower_bound(parts_, number), part{number, earlier, earlier});
    }
    known->was_sent = !result.not_sent;
    if (is_call && known->was_sent) ++known->tries;
    known->asked = std::chrono::milliseconds{result.retry_after_ms};
    known->problem = result.problem;
    known->is_paused = known->has_end = known->is_withheld = false;
}

SETTLE_FUNCTION void failing_parts::note_paused(std::size_t number) {
    if (auto* const known = find(parts_, number)) known->is_paused = true;
}

SETTLE_FUNCTION std::uint32_t failing_parts::tries_of(std::size_t number,
                                                      std::uint32_t tries) const {
    auto const* const known = find(parts_, number);
    return known != nullptr ? known->tries : begins_anew_ ? 0 : tries;
}

SETTLE_FUNCTION bool failing_parts::has_failed(std::size_t number, std::uint32_t tries) const {
    auto const* const known = find(parts_, number);
    return known != nullptr && known->was_sent && known->tries >= tries;
}

SETTLE_FUNCTION std::uint32_t failing_parts::tries() const noexcept {
    std::uint32_t most = 0;
    for (part const& known : parts_) most = std::max(most, known.tries);
    return most;
}

SETTLE_FUNCTION error const* failing_parts::withholds(std::size_t number) const {
    auto const* const known = find(parts_, number);
    return known != nullptr && known->is_withheld ? &known->problem : nullptr;
}

SETTLE_FUNCTION failing_parts::ends
failing_parts::withhold(transaction_descriptor const& type, void const* parameters,
                        options const& limits, std::chrono::nanoseconds now, std::uint64_t random) {
    ends pause_ends{std::chrono::nanoseconds::max(), now};
    type.for_each_part(parameters, [&](part_descriptor const& descriptor, std::size_t,
                                       std::size_t number) {
        auto* const known = find(parts_, number);
        if (known == nullptr) return;
        // A pause that is over does not serve a part that could be sent after it, and was not.
        bool const was_passed = !known->is_withheld && known->until <= now;
        if (!std::exchange(known->has_end, true) || was_passed) {
            auto pauses = pauses_of(descriptor.stage != 0, limits);
            pauses.choose(descriptor);
            auto const grown = pauses.after(known->pauses, random);
            if (!known->is_paused) ++known->pauses;
            std::chrono::nanoseconds const look_every = call_pauses::look_every;
            known->until = now + (known->is_paused ? look_every : std::max(grown, known->asked));
            known->is_withheld = true;
        }
        pause_ends.first = std::min(pause_ends.first, known->until);
        pause_ends.last = std::max(pause_ends.last, known->until);
    });
    return pause_ends;
}

SETTLE_FUNCTION void failing_parts::wake(std::chrono::nanoseconds now) {
    for (part& known : parts_) known.is_withheld = known.until > now;
}

} // namespace detail
SETTLE_END
