// SPDX-License-Identifier: BSL-1.0
// A thread that recovers and sweeps on a schedule.
#pragma once

#include <settle/running/engine.hpp>

#include <functional>
#include <memory>

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

namespace detail {

/// The calls of an engine on a schedule, on a thread of their own.
class recovery_loop {
public:
    using recover_function = std::function<recovery_report(recover_options const&)>;
    using sweep_function = std::function<sweep_report(std::stop_token const&)>;

    /// Errors:  throws errc::bad_option
    recovery_loop(recovery_schedule schedule, recover_function recover, sweep_function sweep);
    recovery_loop(recovery_loop const&) = delete;
    recovery_loop& operator=(recovery_loop const&) = delete;
    ~recovery_loop();

private:
    struct loop;
    std::unique_ptr<loop> loop_;
};

} // namespace detail

/// Recovers at once and then on a schedule. The destructor stops and joins the thread.
/// Shape:   engine - outlives this object and may be shared between threads
/// Errors:  the constructor throws errc::bad_option when `every` is not above 0
/// Example: samples/payment
template <typename Engine>
class recovery_thread {
public:
    explicit recovery_thread(Engine& engine, recovery_schedule schedule = {})
        : loop_(
              std::move(schedule),
              [&engine](recover_options const& chosen) { return engine.recover(chosen); },
              [&engine](std::stop_token const& stop) { return engine.sweep(stop); }) {}

private:
    detail::recovery_loop loop_;
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/recovery.ipp>
#endif
