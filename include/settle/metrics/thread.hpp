// SPDX-License-Identifier: BSL-1.0
// A thread that asks the log and the stores of an engine what waits there, for settle::metrics.
#pragma once

#include <settle/metrics.hpp>
#include <settle/running/engine.hpp>

#include <map>
#include <thread>
#include <tuple>

SETTLE_BEGIN

struct metrics_schedule {
    time_limit every = std::chrono::seconds{15};
    /// How long a round asks at most, apart from the call that is under way then. The next round
    /// goes on where this round has stopped, so a log with many unfinished entries takes rounds.
    time_limit within = std::chrono::seconds{1};
};

namespace detail {

/// Counts the unfinished entries of a log, a page at a time.
class unfinished_count {
public:
    using page_function = function_view<result<std::vector<entry>>(
        entry_filter const&, transaction_id const& after, std::size_t limit)>;

    /// Goes on for one page; true if the last page was read, so that all() is complete.
    /// Errors:  gives the log's error; the count goes on with the next call
    result<bool> next(page_function page);

    /// By type and state.
    [[nodiscard]] std::vector<waiting_count> all() const;
    /// By type, state and stage.
    [[nodiscard]] std::vector<waiting_count> by_stage() const;

private:
    static constexpr std::size_t page_size = 256;

    std::map<std::tuple<std::string, state, stage_number>, waiting_count> counts_{};
    transaction_id after_{};
    bool submitted_ = false; ///< counts entries that wait for a worker, after the others
};

/// Counts marks by their collections.
[[nodiscard]] std::vector<waiting_count> counts_of(std::vector<mark_locator> const& marks);

} // namespace detail

/// Asks at once and then on a schedule. The destructor stops and joins the thread.
/// Shape:   engine - outlives this object and may be shared between threads
/// Errors:  the constructor throws errc::bad_option when `every` or `within` is not above 0. While
/// a
///          log or a store cannot be asked, the figures of its last look stay, and so does the time
///          of that look
template <typename Engine>
class metrics_thread {
public:
    metrics_thread(Engine& engine, metrics const& into, metrics_schedule const& schedule = {})
        : thread_(std::make_unique<std::jthread>(
              [&engine, into, schedule = checked(schedule)](std::stop_token const& stop) {
                  keep(engine, *into.figures_, schedule, stop);
              })) {}
    metrics_thread(metrics_thread const&) = delete;
    metrics_thread& operator=(metrics_thread const&) = delete;
    ~metrics_thread() {
        // A forked child does not have the thread, and joining it would take for ever.
        if (!made_in_.is_here()) static_cast<void>(thread_.release());
    }

private:
    /// Errors:  throws errc::bad_option
    static metrics_schedule checked(metrics_schedule const& schedule) {
        auto const expect = [](std::string_view name, time_limit given) {
            if (given.count() <= 0)
                throw failure(detail::bad_limit(name, given, "more than 0", "See metrics#gauges"));
        };
        expect("metrics_schedule::every", schedule.every);
        expect("metrics_schedule::within", schedule.within);
        return schedule;
    }

    static void keep(Engine& engine, detail::figures& figures, metrics_schedule const& schedule,
                     std::stop_token const& stop) {
        detail::unfinished_count count;
        while (!stop.stop_requested()) {
            auto const ends = system_environment{}.elapsed() + schedule.within;
            call_options const call{schedule.within, stop};
            auto const page = [&](entry_filter const& filter, transaction_id const& after,
                                  std::size_t limit) {
                return engine.page(filter, after, limit, call);
            };
            do {
                auto const is_last = count.next(page);
                if (!is_last.has_value()) break;
                if (!is_last.value()) continue;
                figures.set_unfinished(count.all(), system_environment{}.now());
                count = {};
                break;
            } while (!stop.stop_requested() && system_environment{}.elapsed() < ends);
            if (auto const in_doubt = engine.count_in_doubt(call); in_doubt.has_value()) {
                std::vector<detail::waiting_count> counts;
                for (doubt_count const& of : in_doubt.value()) {
                    counts.push_back({of.store, state::initial, of.count, of.oldest});
                }
                figures.set_in_doubt(counts, system_environment{}.now());
            }
            auto const early = engine.marks_without_entry(std::chrono::minutes{1}, call);
            if (early.has_value()) {
                figures.set_early(detail::counts_of(early.value()), system_environment{}.now());
            }
            detail::pause_for(schedule.every, stop);
        }
    }

    process_stamp made_in_;
    std::unique_ptr<std::jthread> thread_;
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/metrics/thread.ipp>
#endif
