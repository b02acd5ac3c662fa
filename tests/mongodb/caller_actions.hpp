// SPDX-License-Identifier: BSL-1.0
// A caller's actions on a transfer, and the steps at which an earlier worker left it.
#pragma once

#include "bank.hpp"

#include <settle/testing/faults.hpp>

namespace settle_test {

enum class caller_action {
    run,
    work,    ///< on a submitted transfer
    recover, ///< on a transfer that an earlier worker left unfinished
    cancel,  ///< on a transfer that an earlier worker left unfinished
    reverse, ///< on a transfer that is done
    sweep    ///< on the marks of a transfer that a worker left, and whose entry is gone
};

enum class left_at { inserted, half_applied, applied, committed, half_confirmed, canceling };

/// Lets a worker end before a call of that name.
inline settle::testing::fault_plan ends_before(std::string_view step) {
    return [=](settle::testing::call const& call) {
        using settle::testing::fault_kind;
        return settle::testing::fault{call.what == step ? fault_kind::crash_before
                                                        : fault_kind::none};
    };
}
/// Ends the worker after the request for the first part of that step.
inline settle::testing::fault_plan ends_within(std::string_view step) {
    constexpr std::uint64_t second = 0b10;
    return [=, over = false](settle::testing::call const& call) mutable {
        using settle::testing::fault_kind;
        if (over) return settle::testing::fault{fault_kind::crash_before};
        over = call.what == step;
        return over ? settle::testing::fault{fault_kind::unknown_before, second}
                    : settle::testing::fault{};
    };
}

[[nodiscard]] inline settle::testing::fault_plan ends_at(left_at where) {
    switch (where) {
    case left_at::inserted: return ends_before("apply");
    case left_at::half_applied: return ends_within("apply");
    case left_at::applied:
    case left_at::canceling: return ends_before("commit");
    case left_at::committed: return ends_before("confirm");
    case left_at::half_confirmed: return ends_within("confirm");
    }
    return {};
}

/// A worker begins a transfer, and ends there.
inline void leave(settle::mongodb::database& database, std::string const& id,
                  transfer const& parameters, left_at where) {
    settle::testing::faulty fragile{database};
    auto engine = bank_on(fragile, settle::two_phases);
    fragile.plan(ends_at(where));
    CHECK_THROWS_AS(static_cast<void>(engine.run(id, parameters)), settle::testing::crash);
    if (where != left_at::canceling) return;
    fragile.plan(ends_before("compensate"));
    CHECK_THROWS_AS(static_cast<void>(engine.cancel(id)), settle::testing::crash);
}

} // namespace settle_test
