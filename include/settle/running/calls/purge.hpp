// SPDX-License-Identifier: BSL-1.0
// Erases old entries of a log, a step at a time.
#pragma once

#include <settle/running/calls/patience.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/unfinished.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/store/action_names.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

[[nodiscard]] inline std::size_t step_of(purge_options const& options) {
    constexpr std::size_t largest_step = 100'000;
    return std::clamp<std::size_t>(options.step, 1, largest_step);
}

/// Shape:   before - old entries were both created and last changed before this time
inline purge_report purge_log(log_port& log, patience& patience, timestamp before,
                              purge_options const& call_options) {
    std::size_t const step = step_of(call_options);
    purge_report report;
    std::int64_t passed = purged::nothing;
    for (bool more = call_options.limit != 0; more;) {
        if (call_options.stop.stop_requested()) {
            report.problem = stopped_early();
            return report;
        }
        auto const most = std::min<std::size_t>(step, call_options.limit - report.erased);
        auto const gone = patience([&] { return log.purge(before, most, passed); });
        if (!gone.has_value()) {
            report.problem = gone.problem();
            return report;
        }
        passed = gone.value().passed;
        report.erased += gone.value().erased;
        more = gone.value().more && report.erased < call_options.limit;
    }
    return report;
}

/// Erases what the log keeps of old actions.
[[nodiscard]] inline error purge_actions(log_port& log, patience& patience, timestamp before) {
    auto const old = actions_before(action_time(before));
    // A log without old actions needs no right to erase.
    auto const listed = patience([&] { return log.list_metadata(old, 1); });
    if (!listed.has_value()) return listed.problem();
    if (listed.value().empty()) return {};
    auto const erased = patience([&] { return log.erase_metadata(old); });
    return erased.has_value() ? error{} : erased.problem();
}

/// The error of a database whose clock differs too much from the worker's: the dates of receipts
/// that other programs have written may be as wrong. Empty if the clocks agree.
[[nodiscard]] inline error compare_clocks(result<timestamp> const& there, timestamp now,
                                          std::chrono::milliseconds clocks) {
    if (!there.has_value()) return there.problem();
    // The answer takes a moment, also where the clocks are the same.
    auto const most = later(now, clocks) + std::chrono::minutes{1};
    auto const least = earlier(now, clocks) - std::chrono::minutes{1};
    if (least <= there.value() && there.value() <= most) return {};
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(there.value() - now);
    return {make_error_code(errc::unfit_store),
            "settle: no receipt was erased, since the clock of a database that prepares is " +
                std::to_string(std::chrono::abs(seconds).count()) + " s " +
                (seconds.count() < 0 ? "behind" : "ahead of") +
                " this program's, more than options::clocks. Set the clocks right, and purge "
                "again. See prepared#receipts"};
}

/// Erases the receipts of finished transactions in the stores that keep receipts. If an old entry
/// is unfinished, it may still need its receipts, so none is erased.
/// Shape:   before - `given.older_than` ago; clocks - the difference between the clock of a worker,
///          which dates an entry, and the clock of a store, which dates a receipt
inline error purge_stores(engine_ports const& ports, patience& patience, timestamp now,
                          timestamp before, purge_options const& call_options,
                          std::chrono::milliseconds clocks) {
    auto const forgets = [](store_port const* store) { return store->capabilities().forgets; };
    if (std::none_of(ports.stores.begin(), ports.stores.end(), forgets)) return {};
    auto const old = unfinished_entries(ports.log, patience,
                                        time_between(later(before, clocks), now), now, clocks);
    if (!old.has_value()) return old.problem();
    if (!old.value().empty()) return {};
    for (store_port* const store : ports.stores) {
        if (!forgets(store)) continue;
        if (store->capabilities().compares_clocks) {
            auto problem = compare_clocks(patience([&] { return store->time(); }), now, clocks);
            if (!problem.empty()) return problem;
        }
        for (bool more = true; more;) {
            if (call_options.stop.stop_requested()) return stopped_early();
            auto const gone =
                patience([&] { return store->forget(before, step_of(call_options)); });
            if (!gone.has_value()) return gone.problem();
            more = gone.value() >= step_of(call_options);
        }
    }
    return {};
}

} // namespace detail
SETTLE_END
