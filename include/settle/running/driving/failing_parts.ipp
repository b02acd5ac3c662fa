// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that failing_parts.hpp declares.
#pragma once

#include <settle/running/driving/call_pauses.hpp>
#include <settle/running/driving/failing_parts.hpp>
#include <settle/running/driving/pauses.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION std::vector<failing_parts::part>::iterator failing_parts::find(std::size_t number) {
    return std::find_if(parts_.begin(), parts_.end(),
                        [&](part const& known) { return known.number == number; });
}

SETTLE_FUNCTION void failing_parts::note(std::size_t number, part_result const& result,
                                         std::uint32_t tries) {
    auto known = find(number);
    bool const failed = result.what == answer::unavailable || result.what == answer::unknown;
    if (!failed) {
        if (known != parts_.end()) parts_.erase(known);
        return;
    }
    if (known == parts_.end()) known = parts_.insert(known, part{number, tries, tries});
    if (!result.not_sent) ++known->tries;
    known->asked = std::chrono::milliseconds{result.retry_after_ms};
    known->problem = result.problem;
    known->is_paused = known->has_end = known->is_withheld = false;
}

SETTLE_FUNCTION void failing_parts::note_paused(std::size_t number) {
    auto const known = find(number);
    if (known != parts_.end()) known->is_paused = true;
}

SETTLE_FUNCTION std::uint32_t failing_parts::tries() const noexcept {
    std::uint32_t most = 0;
    for (part const& known : parts_) most = std::max(most, known.tries);
    return most;
}

SETTLE_FUNCTION error const* failing_parts::withholds(std::size_t number) const {
    for (part const& known : parts_) {
        if (known.number == number && known.is_withheld) return &known.problem;
    }
    return nullptr;
}

SETTLE_FUNCTION failing_parts::ends
failing_parts::withhold(transaction_descriptor const& type, void const* parameters,
                        options const& limits, std::chrono::nanoseconds now, std::uint64_t random) {
    ends all{std::chrono::nanoseconds::max(), now};
    type.for_each_part(parameters, [&](part_descriptor const& descriptor, std::size_t,
                                       std::size_t number) {
        auto const known = find(number);
        if (known == parts_.end()) return;
        // A pause that is over does not serve a part that was not sent after it.
        if (!std::exchange(known->has_end, true) || known->until <= now) {
            auto pauses = pauses_of(descriptor.stage != 0, limits);
            pauses.choose(descriptor);
            auto const grown = pauses.after(known->pauses++, random);
            std::chrono::nanoseconds const look_every = call_pauses::look_every;
            known->until = now + (known->is_paused ? look_every : std::max(grown, known->asked));
            known->is_withheld = true;
        }
        all.first = std::min(all.first, known->until);
        all.last = std::max(all.last, known->until);
    });
    return all;
}

SETTLE_FUNCTION void failing_parts::wake(std::chrono::nanoseconds now) {
    for (part& known : parts_) known.is_withheld = known.until > now;
}

} // namespace detail
SETTLE_END
