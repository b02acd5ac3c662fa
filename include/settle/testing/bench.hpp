// SPDX-License-Identifier: BSL-1.0
// Measures a user's own type on the user's own store: throughput, latencies, and the share of each
// step.
//
//   std::cout << settle::testing::bench(
//       [&](auto const& observer) { return settle::engine{db, settle::type<my_type>, observer}; },
//       [](std::uint64_t number) { return parameters_of(number); });
#pragma once

#include <settle/running/calls/outcome.hpp>
#include <settle/running/construction/binding.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/running/driving/observer.hpp>

#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <exception>
#include <iomanip>
#include <mutex>
#include <ostream>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// How much a bench runs.
struct bench_limits {
    std::uint32_t transactions = 2000; ///< of each part
    std::size_t window = 1000;         ///< transactions in flight in the batch
    std::size_t threads = 8;           ///< threads that call `run` at once
};

/// One kind of step of all transactions of a part.
struct step_share {
    step taken = step::end;
    std::uint64_t count = 0; ///< how often a transaction took the step
    /// The time that transactions spent in the step and waiting for it, of the time of all.
    double share = 0;
};

/// The transactions that ran in one way.
struct bench_part {
    std::string how;                ///< "one at a time", "in a batch of 1000", "8 threads"
    std::uint64_t transactions = 0; ///< all of them ended `done`
    std::chrono::nanoseconds elapsed{0};
    std::chrono::nanoseconds p50{0}; ///< half of the transactions took at most so long
    std::chrono::nanoseconds p99{0};
    std::chrono::nanoseconds longest{0};
    std::vector<step_share> steps; ///< in the order in which each was first taken
    double rest = 0;               ///< the share of the time after the last step

    [[nodiscard]] double per_second() const {
        auto const seconds = std::chrono::duration<double>{elapsed}.count();
        return seconds > 0 ? static_cast<double>(transactions) / seconds : 0;
    }

    friend std::ostream& operator<<(std::ostream& out, bench_part const& part) {
        auto const milliseconds = [](std::chrono::nanoseconds time) {
            return std::chrono::duration<double, std::milli>{time}.count();
        };
        std::ostringstream text;
        text << std::fixed << std::setprecision(0) << part.how << ": " << part.transactions
             << " done, " << part.per_second() << " a second; p50 " << std::setprecision(3)
             << milliseconds(part.p50) << " ms, p99 " << milliseconds(part.p99) << " ms, longest "
             << milliseconds(part.longest) << " ms\n   ";
        text << std::setprecision(1);
        for (auto const& each : part.steps) {
            text << ' ' << name_of(each.taken) << ' ' << each.share * 100 << " %,";
        }
        text << " rest " << part.rest * 100 << " %";
        return out << text.str();
    }
};

/// The result of bench().
struct bench_report {
    std::vector<bench_part> parts; ///< one at a time, in a batch, in threads
    std::string problem;           ///< why it stopped early, or empty

    [[nodiscard]] explicit operator bool() const noexcept { return problem.empty(); }

    friend std::ostream& operator<<(std::ostream& out, bench_report const& report) {
        for (auto const& part : report.parts) out << part << '\n';
        return out << report.problem;
    }
};

namespace detail {

/// Divides the time of each transaction among its steps. The events of a transaction follow each
/// other, on any thread.
class step_times {
public:
    using clock = std::chrono::steady_clock;

    /// Shape:   prefix - of the ids; the transaction's number follows
    step_times(std::string prefix, std::uint64_t transactions)
        : prefix_{std::move(prefix)}, begun_(transactions), last_(transactions),
          latencies_(transactions) {}

    /// Later numbers have greater ids, as the ids that an engine makes.
    [[nodiscard]] std::string id_of(std::uint64_t number) const {
        return prefix_ + std::to_string(first_number + number);
    }

    void begin(std::uint64_t number) { begun_[number] = last_[number] = clock::now(); }
    void end(std::uint64_t number) { latencies_[number] = clock::now() - begun_[number]; }

    void note(event const& seen) {
        std::string_view const id{seen.id};
        std::uint64_t number = 0;
        if (!id.starts_with(prefix_)) return; // of another caller on the same engine
        std::from_chars(id.data() + prefix_.size(), id.data() + id.size(), number);
        number -= first_number;
        auto const now = clock::now();
        auto const place = static_cast<std::size_t>(seen.taken);
        if (counts_[place].fetch_add(1, std::memory_order_relaxed) == 0) {
            order_[order_size_.fetch_add(1, std::memory_order_relaxed)] = seen.taken;
        }
        times_[place].fetch_add((now - std::exchange(last_[number], now)).count(),
                                std::memory_order_relaxed);
    }

    [[nodiscard]] bench_part part(std::string how, std::chrono::nanoseconds elapsed) {
        bench_part result;
        result.how = std::move(how);
        result.transactions = latencies_.size();
        result.elapsed = elapsed;
        double sum = 0;
        for (auto const latency : latencies_) sum += static_cast<double>(latency.count());
        std::ranges::sort(latencies_);
        auto const below = [&](std::size_t percent) {
            return latencies_[(latencies_.size() * percent + 99) / 100 - 1];
        };
        result.p50 = below(50);
        result.p99 = below(99);
        result.longest = latencies_.back();
        result.rest = 1;
        for (std::size_t index = 0; index < order_size_; ++index) {
            auto const place = static_cast<std::size_t>(order_[index]);
            if (order_[index] == step::end) continue;
            auto const share = static_cast<double>(times_[place]) / sum;
            result.steps.push_back({order_[index], counts_[place], share});
            result.rest -= share;
        }
        return result;
    }

private:
    static constexpr std::uint64_t first_number = 1'000'000'000;
    static constexpr std::size_t steps = static_cast<std::size_t>(step::refuse) + 1;

    std::string prefix_;
    std::vector<clock::time_point> begun_;
    std::vector<clock::time_point> last_; ///< the last event of each transaction
    std::vector<std::chrono::nanoseconds> latencies_;
    std::array<std::atomic<std::uint64_t>, steps> counts_{};
    std::array<std::atomic<std::int64_t>, steps> times_{};
    std::array<step, steps> order_{}; ///< the steps, as each was first taken
    std::atomic<std::size_t> order_size_ = 0;
};

/// The observer of a bench: it sees the part under way.
struct bench_observer {
    step_times* const* part;
    void operator()(event const& seen) const {
        if (*part != nullptr) (*part)->note(seen);
    }
};

/// The first problem of several threads.
class first_problem {
public:
    /// True if the transaction is done.
    bool accepts(outcome const& ended) {
        if (ended.done()) return true;
        std::ostringstream text;
        text << "settle: the bench stopped at a transaction that is not done: " << ended
             << ". Give records and parameters with which each transaction ends done";
        keep(text.str());
        return false;
    }
    void keep(std::string text) {
        std::lock_guard const guard{mutex_};
        if (text_.empty()) text_ = std::move(text);
    }
    void keep(std::exception_ptr thrown) {
        std::lock_guard const guard{mutex_};
        if (!thrown_) thrown_ = std::move(thrown);
    }
    [[nodiscard]] bool any() const {
        std::lock_guard const guard{mutex_};
        return thrown_ || !text_.empty();
    }
    /// Errors:  throws what a thread has thrown
    [[nodiscard]] std::string take() {
        if (thrown_) std::rethrow_exception(thrown_);
        return std::move(text_);
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
    std::exception_ptr thrown_;
};

/// The transactions of a bench, on one engine.
template <typename Engine, typename Parameters>
class bench_runs {
public:
    bench_runs(Engine& engine, step_times*& part, Parameters& parameters,
               bench_limits const& limits)
        : engine_(engine), part_(part), parameters_(parameters), limits_(limits) {}

    bench_report run() {
        measure("one at a time", [this](step_times& times) {
            for (std::uint64_t number = 0; number < limits_.transactions; ++number) {
                if (!run_one(times, number)) return;
            }
        });
        measure("in a batch of " + std::to_string(limits_.window),
                [this](step_times& times) { run_batch(times); });
        measure(std::to_string(limits_.threads) + " threads",
                [this](step_times& times) { run_threads(times); });
        return std::move(report_);
    }

private:
    template <typename Work>
    void measure(std::string how, Work const& work) {
        if (!report_) return;
        auto const now = std::chrono::system_clock::now().time_since_epoch();
        step_times times{"bench-" + std::to_string(now / std::chrono::microseconds{1}) + "-",
                         limits_.transactions};
        part_ = &times;
        auto const begun = step_times::clock::now();
        work(times);
        auto const elapsed = step_times::clock::now() - begun;
        part_ = nullptr;
        report_.problem = problem_.take();
        if (report_) report_.parts.push_back(times.part(std::move(how), elapsed));
        first_ += limits_.transactions;
    }

    bool run_one(step_times& times, std::uint64_t number) {
        auto const input = parameters_(first_ + number);
        auto const id = times.id_of(number);
        times.begin(number);
        auto const ended = engine_.run(id, input);
        times.end(number);
        return problem_.accepts(ended);
    }

    void run_batch(step_times& times) {
        auto const orders = ranges::views::iota(std::uint32_t{0}, limits_.transactions) |
                            ranges::views::transform([&](std::uint32_t number) {
                                std::pair order{times.id_of(number), parameters_(first_ + number)};
                                times.begin(number);
                                return order;
                            });
        std::stop_source stop;
        auto const ended = [&](std::size_t number, outcome const& outcome) {
            times.end(number);
            if (!problem_.accepts(outcome)) stop.request_stop();
        };
        batch_options options;
        options.window = limits_.window;
        options.stop = stop.get_token();
        auto const report = engine_.run_all(orders, ended, options);
        if (report.problem) problem_.keep(report.problem.text);
    }

    void run_threads(step_times& times) {
        std::atomic<std::uint64_t> next = 0;
        std::vector<std::jthread> callers;
        for (std::size_t count = 0; count < limits_.threads; ++count) {
            callers.emplace_back([&] {
                try {
                    for (auto number = next++; number < limits_.transactions; number = next++) {
                        if (problem_.any() || !run_one(times, number)) return;
                    }
                } catch (...) {
                    problem_.keep(std::current_exception());
                }
            });
        }
    }

    Engine& engine_;
    step_times*& part_;
    Parameters& parameters_;
    bench_limits limits_;
    std::uint64_t first_ = 0; ///< the number of the part's first transaction
    first_problem problem_;
    bench_report report_;
};

} // namespace detail

/// Runs transactions of a type one at a time, in a batch and in threads, and measures them.
/// Shape:   make - a function of an argument for an engine, an observer; returns an engine with it
///          parameters - a function of a number, from 0, that gives the parameters of that
///          transaction; threads call it at once
/// Errors:  a transaction that is not done ends the bench with a sentence in the report, beside
///          the parts that ended before; throws what both functions throw
/// Cost:    three times limits.transactions transactions, which stay in the log
template <typename Make, typename Parameters>
[[nodiscard]] bench_report bench(Make&& make, Parameters&& parameters,
                                 bench_limits const& limits = {}) {
    using observer = observer_binding<detail::bench_observer>;
    static_assert(std::is_invocable_v<Make&, observer const&>,
                  "settle: a bench cannot call the function that makes its engine. Write "
                  "[&](auto const& observer) { return settle::engine{…, observer}; }. "
                  "See recipes#measure-a-type");
    static_assert(std::is_invocable_v<Parameters&, std::uint64_t>,
                  "settle: a bench cannot call the function that gives parameters. Write "
                  "[](std::uint64_t number) { return …; }. See recipes#measure-a-type");
    if (limits.transactions == 0 || limits.window == 0 || limits.threads == 0) {
        return {{},
                "settle: a bench needs a transaction, a window and a thread at least; a limit "
                "of it is 0"};
    }
    detail::step_times* part = nullptr;
    auto engine = make(observed_by(detail::bench_observer{&part}));
    return detail::bench_runs<decltype(engine), Parameters>{engine, part, parameters, limits}.run();
}

} // namespace testing
SETTLE_END
