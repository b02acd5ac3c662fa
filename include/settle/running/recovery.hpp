// SPDX-License-Identifier: BSL-1.0
// A thread that recovers and sweeps on a schedule, for as long as it lives.
#pragma once

#include <settle/running/engine.hpp>

#include <functional>
#include <thread>

SETTLE_BEGIN

struct recovery_schedule {
    std::chrono::milliseconds every = std::chrono::minutes{5};
    std::chrono::milliseconds older_than = std::chrono::minutes{30};
    /// A sweep looks at every mark, so it is done less often: once in so many rounds.
    std::uint32_t sweep_every = 12;
    /// Called after each round, on the thread of the schedule; as in any thread's function, what it
    /// throws ends the program.
    std::function<void(recovery_report const&, sweep_report const&)> report{};
};

/// Recovers at once and then on a schedule; stops when it is destroyed, as std::jthread does.
/// Shape:   engine - outlives this object and may be shared between threads
/// Example: samples/payment
template <typename Engine>
class recovery_thread {
public:
    explicit recovery_thread(Engine& engine, recovery_schedule schedule = {})
        : thread_([&engine, schedule = std::move(schedule)](std::stop_token const& stop) {
              system_environment const world;
              for (std::uint32_t round = 0; !stop.stop_requested(); ++round) {
                  recovery_report recovered;
                  sweep_report swept;
                  // What an observer throws must not end the process of who only keeps the log.
                  try {
                      recover_options wanted;
                      wanted.older_than = schedule.older_than;
                      wanted.stop = stop;
                      recovered = engine.recover(wanted);
                      if (schedule.sweep_every != 0 && round % schedule.sweep_every == 0) {
                          swept = engine.sweep(stop);
                      }
                  } catch (std::exception const& thrown) {
                      recovered.problem = {std::make_error_code(std::errc::interrupted),
                                           thrown.what()};
                  } catch (...) {
                      recovered.problem = {std::make_error_code(std::errc::interrupted),
                                           "settle: an observer threw what is no std::exception"};
                  }
                  if (schedule.report) schedule.report(recovered, swept);
                  world.pause(std::min<std::chrono::milliseconds>(schedule.every, for_ever), stop);
              }
          }) {}

private:
    /// Any clock can count so much more.
    static constexpr std::chrono::hours for_ever{24 * 365};

    std::jthread thread_;
};

SETTLE_END
