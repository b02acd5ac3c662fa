// SPDX-License-Identifier: BSL-1.0
// How many calls a second a service gets, and fewer while it fails.
//
// A service that has failed often in a row is asked by a few calls, not by every transaction that
// waits for it. The first answer of any other kind ends this.
#pragma once

#include <settle/kinds/services/service.hpp>

#include <algorithm>
#include <chrono>

SETTLE_BEGIN

struct pace_limits {
    std::size_t calls_per_second = 0;               ///< 0: no limit
    std::size_t calls_per_second_while_failing = 0; ///< 0: no other limit
};

/// The pace of the calls of one client. One thread uses it at a time.
class call_pace {
public:
    using moment = std::chrono::steady_clock::time_point;

    /// So many failed answers in a row make a service count as failing.
    static constexpr std::size_t failures_to_slow = 20;

    explicit call_pace(pace_limits limits) : limits_(limits) {}

    /// True if the last answers were all failures.
    [[nodiscard]] bool is_failing() const noexcept {
        return limits_.calls_per_second_while_failing != 0 && failures_ >= failures_to_slow;
    }
    /// When the next call may be made; a time that has passed for "now".
    [[nodiscard]] moment next() const noexcept { return rate() == 0 ? moment{} : next_; }
    /// Notes a call that is made.
    /// Shape:   processes - that share the limits
    void note_call(moment now, std::size_t processes = 1) {
        if (rate() == 0) return;
        using std::chrono::nanoseconds, std::chrono::seconds;
        nanoseconds const apart = nanoseconds{seconds{1}} * static_cast<std::int64_t>(processes) /
                                  static_cast<std::int64_t>(rate());
        // After a rest, calls of a tenth of a second may come together. Several processes could do
        // so at the same time.
        nanoseconds const together = std::chrono::milliseconds{processes > 1 ? 0 : 100};
        next_ = std::max(next_, now - together) + apart;
    }
    /// Notes the answer to a call that was made.
    void note_answer(call_status status) noexcept {
        bool const has_failed =
            status == call_status::unavailable || status == call_status::unknown;
        failures_ = has_failed ? failures_ + 1 : 0;
    }

private:
    /// Calls a second; 0 for any number.
    [[nodiscard]] std::size_t rate() const noexcept {
        std::size_t const usual = limits_.calls_per_second;
        if (!is_failing()) return usual;
        std::size_t const slow = limits_.calls_per_second_while_failing;
        return usual == 0 ? slow : std::min(usual, slow);
    }

    pace_limits limits_;
    std::size_t failures_ = 0; ///< since the last other answer
    moment next_{};
};

SETTLE_END
