// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that recovery.hpp declares.
#pragma once

#include <settle/running/calls/recovery.hpp>

#include <thread>
#include <utility>

SETTLE_BEGIN
namespace detail {

struct recovery_loop::loop {
    loop(recovery_schedule of, recover_function recovers, sweep_function sweeps)
        : schedule(std::move(of)), recover(std::move(recovers)), sweep(std::move(sweeps)) {
        if (schedule.every.count() <= 0) {
            throw failure(bad_limit("recovery_schedule::every", schedule.every, "more than 0",
                                    "See options#options"));
        }
        thread = std::jthread{[this](std::stop_token const& stop) { run(stop); }};
    }

    void run(std::stop_token const& stop) const {
        error unreported;
        for (std::uint32_t round = 0; !stop.stop_requested(); ++round) {
            recovery_report recovered;
            sweep_report swept;
            // An exception of a callback must not end the process. The sweep has its turn all the
            // same.
            try {
                recover_options chosen;
                chosen.older_than = schedule.older_than;
                chosen.stop = stop;
                recovered = recover(chosen);
            } catch (...) {
                recovered.problem = thrown_by_callback();
            }
            try {
                if (schedule.sweep_every != 0 && round % schedule.sweep_every == 0) {
                    swept = sweep(stop);
                }
            } catch (...) {
                swept.problem = thrown_by_callback();
            }
            // The end of the schedule is not a problem to report.
            if (stop.stop_requested()) forget_stop(recovered, swept);
            if (recovered.problem.empty()) recovered.problem = std::exchange(unreported, {});
            try {
                if (schedule.report) schedule.report(recovered, swept);
            } catch (...) {
                unreported = thrown_by_callback();
            }
            pause_for(schedule.every, stop);
        }
    }

    /// The current exception as an error; called from a handler.
    static error thrown_by_callback() {
        auto const code = std::make_error_code(std::errc::interrupted);
        try {
            throw;
        } catch (std::exception const& thrown) {
            return {code, thrown.what()};
        } catch (...) {
            return {code, "settle: an observer or a report threw an object that is no "
                          "std::exception"};
        }
    }

    static void forget_stop(recovery_report& recovered, sweep_report& swept) {
        if (recovered.problem.code == errc::stopped) recovered.problem = {};
        if (swept.problem.code == errc::stopped) swept.problem = {};
    }

    recovery_schedule schedule;
    recover_function recover;
    sweep_function sweep;
    process_stamp made_in{};
    std::jthread thread{};
};

SETTLE_FUNCTION recovery_loop::recovery_loop(recovery_schedule schedule, recover_function recover,
                                             sweep_function sweep)
    : loop_(std::make_unique<loop>(std::move(schedule), std::move(recover), std::move(sweep))) {}

SETTLE_FUNCTION recovery_loop::~recovery_loop() {
    // A forked child does not have the thread, and joining it would take for ever.
    if (!loop_->made_in.is_here()) static_cast<void>(loop_.release());
}

} // namespace detail
SETTLE_END
