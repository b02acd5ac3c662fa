// SPDX-License-Identifier: BSL-1.0
// A thread that recovers and sweeps on a schedule.
#pragma once

#include <settle/running/engine.hpp>

#include <functional>
#include <memory>
#include <thread>

SETTLE_BEGIN

struct recovery_schedule {
    time_limit every = std::chrono::minutes{5};
    time_limit older_than = std::chrono::minutes{30};
    /// A sweep looks at every mark, so it runs only once in so many rounds, or never (0).
    std::uint32_t sweep_every = 12;
    /// Called after each round, on the thread of the schedule. The next round reports its exception
    /// as a problem, unless that round has a problem of its own.
    std::function<void(recovery_report const&, sweep_report const&)> report{};
};

/// Recovers at once and then on a schedule. The destructor stops and joins the thread.
/// Shape:   engine - outlives this object and may be shared between threads
/// Errors:  the constructor throws errc::bad_option when `every` is not above 0
/// Example: samples/payment
template <typename Engine>
class recovery_thread {
public:
    explicit recovery_thread(Engine& engine, recovery_schedule schedule = {})
        : thread_(std::make_unique<std::jthread>(
              [&engine, schedule = checked(std::move(schedule))](std::stop_token const& stop) {
                  keep(engine, schedule, stop);
              })) {}
    recovery_thread(recovery_thread const&) = delete;
    recovery_thread& operator=(recovery_thread const&) = delete;
    ~recovery_thread() {
        // A forked child does not have the thread, and joining it would take for ever.
        if (!made_in_.is_here()) static_cast<void>(thread_.release());
    }

private:
    /// Errors:  throws errc::bad_option
    static recovery_schedule checked(recovery_schedule schedule) {
        if (schedule.every.count() > 0) return schedule;
        throw failure(detail::bad_limit("recovery_schedule::every", schedule.every, "more than 0",
                                        "See options#options"));
    }

    static void keep(Engine& engine, recovery_schedule const& schedule,
                     std::stop_token const& stop) {
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
                recovered = engine.recover(chosen);
            } catch (...) {
                recovered.problem = thrown_by_callback();
            }
            try {
                if (schedule.sweep_every != 0 && round % schedule.sweep_every == 0) {
                    swept = engine.sweep(stop);
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
            detail::pause_for(schedule.every, stop);
        }
    }

    /// The current exception as an error; called from a handler.
    static error thrown_by_callback() {
        std::string text = "settle: an observer or a report threw an object that is no "
                           "std::exception";
        try {
            throw;
        } catch (std::exception const& thrown) {
            text = thrown.what();
        } catch (...) {
        }
        return {std::make_error_code(std::errc::interrupted), std::move(text)};
    }

    static void forget_stop(recovery_report& recovered, sweep_report& swept) {
        if (recovered.problem.code == errc::stopped) recovered.problem = {};
        if (swept.problem.code == errc::stopped) swept.problem = {};
    }

    process_stamp made_in_;
    std::unique_ptr<std::jthread> thread_;
};

SETTLE_END
