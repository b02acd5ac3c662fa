// SPDX-License-Identifier: BSL-1.0
// One engine and many threads: hot records, one id, workers, cancels, the recovery thread.
#include "engine_types.hpp"

#include <range/v3/iterator/operations.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

namespace engine_test {
namespace {

constexpr int thread_count = 8;

struct shared_bank {
    settle::memory::database database;
    settle::engine<settle::memory::database, settle::type_tag<transfer_type>> engine{
        database, settle::type<transfer_type>};

    shared_bank() { open_accounts(engine, {{"A", 1000}, {"B", 1000}, {"C", 1000}}); }

    std::int64_t sum() {
        return balance_of(engine, "A") + balance_of(engine, "B") + balance_of(engine, "C");
    }
};

/// Runs an action on every thread at once, and waits for all.
template <typename Action>
void on_threads(Action const& action) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < thread_count; ++i) threads.emplace_back([&action, i] { action(i); });
}

TEST_CASE("threads: hot records keep their sum, and every outcome agrees with its entry") {
    shared_bank b;
    constexpr int each = 200;
    std::array<std::string, 3> const names{"A", "B", "C"};
    std::array<std::atomic<std::int64_t>, 3> moved{};
    std::atomic<int> done{0};
    std::atomic<int> canceled{0};
    on_threads([&](int thread) {
        std::mt19937 chance{static_cast<unsigned>(thread)};
        for (int i = 0; i < each; ++i) {
            std::size_t const from = chance() % 3;
            std::size_t const to = (from + 1 + chance() % 2) % 3;
            auto const amount = static_cast<std::int64_t>(chance() % 700);
            auto const outcome = b.engine.run(transfer{names[from], names[to], amount});
            if (outcome.done()) {
                ++done;
                moved[from] -= amount;
                moved[to] += amount;
            } else if (outcome.canceled() && outcome.why == reason::guard_failed) {
                ++canceled;
            }
        }
    });
    CHECK(done + canceled == thread_count * each);
    CHECK(done > 0);
    CHECK(canceled > 0);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(balance_of(b.engine, names[i]) == 1000 + moved[i]);
        CHECK(balance_of(b.engine, names[i]) >= 0);
    }
    CHECK(b.sum() == 3000);
    CHECK(marks_in(b.engine) == 0);
    settle::entry_filter filter;
    filter.state = state::done;
    CHECK(ranges::distance(b.engine.list(filter)) == done);
}

TEST_CASE("threads: an id that all threads run has one effect and one outcome") {
    shared_bank b;
    for (int round = 0; round < 50; ++round) {
        std::string const id = "t" + std::to_string(round);
        std::atomic<int> done{0};
        on_threads([&](int) { done += b.engine.run(id, transfer{"A", "B", 1}).done() ? 1 : 0; });
        CHECK(done == thread_count);
    }
    CHECK(balance_of(b.engine, "A") == 950);
    CHECK(balance_of(b.engine, "B") == 1050);
    CHECK(marks_in(b.engine) == 0);
}

TEST_CASE("threads: workers share submitted transactions and run each once") {
    shared_bank b;
    constexpr int count = 300;
    for (int i = 0; i < count; ++i) {
        auto const outcome =
            b.engine.submit(std::to_string(i), transfer{"A", "B", i % 10 == 0 ? 5000 : 1});
        CHECK(outcome.problem.empty());
    }
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> canceled{0};
    std::atomic<std::uint64_t> problems{0};
    on_threads([&](int) {
        auto const report = b.engine.work();
        done += report.done;
        canceled += report.canceled;
        problems += report.undecided + report.skipped.size() + (report.problem.empty() ? 0U : 1U);
    });
    // A worker that finds another worker's transaction done counts it as well, so the sum may be
    // higher.
    CHECK(done >= 270);
    CHECK(canceled >= 30);
    CHECK(problems == 0);
    CHECK(balance_of(b.engine, "A") == 1000 - 270);
    CHECK(balance_of(b.engine, "B") == 1000 + 270);
    CHECK(marks_in(b.engine) == 0);
}

TEST_CASE("threads: run() and cancel() of one id agree on its outcome") {
    shared_bank b;
    std::int64_t expected = 1000;
    for (int round = 0; round < 100; ++round) {
        std::string const id = "t" + std::to_string(round);
        settle::outcome ran;
        settle::outcome canceled;
        {
            std::jthread const runner{[&] { ran = b.engine.run(id, transfer{"A", "B", 1}); }};
            std::jthread const canceler{[&] {
                settle::cancel_options even;
                even.even_if_unknown = round % 2 == 0;
                canceled = b.engine.cancel(id, even);
            }};
        }
        auto const kept = entry_of(b.engine, id);
        CHECK(settle::is_final(kept.state));
        CHECK(ran.done() == (kept.state == state::done));
        if (canceled.verdict == verdict::refused) CHECK(ran.done());
        else CHECK(canceled.verdict == ran.verdict);
        if (ran.done()) --expected;
    }
    // A run that wrote after its entry was canceled sweeps its marks before it returns.
    CHECK(marks_in(b.engine) == 0);
    CHECK(balance_of(b.engine, "A") == expected);
    CHECK(b.sum() == 3000);
}

TEST_CASE("threads: takeovers from active workers keep the sum") {
    shared_bank b;
    std::atomic<bool> over{false};
    std::jthread thief{[&] {
        while (!over) b.engine.recover({.older_than = std::chrono::milliseconds{-1000}});
    }};
    std::atomic<int> steps{0};
    std::atomic<int> taken_over{0};
    // At each ninth insert or apply, a worker stands still until the thief has settled its entry.
    auto const stall = [&](settle::event const& seen) {
        if (seen.taken != settle::step::insert && seen.taken != settle::step::apply) return;
        if (steps++ % 9 != 0) return;
        while (!settle::is_final(b.engine.find(seen.id).value().value().state)) {
            std::this_thread::yield();
        }
        ++taken_over;
    };
    settle::engine worker{b.database, settle::type<transfer_type>, settle::two_phases,
                          settle::observed_by(stall)};
    constexpr int each = 50;
    std::atomic<int> done{0};
    std::atomic<std::int64_t> moved{0};
    on_threads([&](int) {
        for (int i = 0; i < each; ++i) {
            bool const there = i % 2 == 0;
            if (!worker.run(transfer{there ? "A" : "B", there ? "B" : "A", 3}).done()) continue;
            ++done;
            moved += there ? 3 : -3;
        }
    });
    over = true;
    thief.join();
    CHECK(done > 0);
    // Each transaction has an insert.
    CHECK(taken_over >= thread_count * each / 9);
    b.engine.sweep();
    CHECK(marks_in(b.engine) == 0);
    CHECK(balance_of(b.engine, "A") == 1000 - moved);
    CHECK(balance_of(b.engine, "B") == 1000 + moved);
}

TEST_CASE("threads: the recovery thread starts at once, reports each round and stops at once") {
    shared_bank b;
    settle::system_environment const world;
    // Left behind by a worker long ago.
    plant<transfer_direction>(b.database, "t", transfer{"A", "B", 30}, "somebody",
                              world.now() - std::chrono::hours{1});
    std::mutex mutex;
    std::condition_variable changed;
    int rounds = 0;
    std::uint64_t done = 0;
    settle::recovery_schedule schedule;
    schedule.report = [&](settle::recovery_report const& recovered, settle::sweep_report const&) {
        std::lock_guard const guard{mutex};
        ++rounds;
        done += recovered.done;
        changed.notify_all();
    };
    auto const begun = std::chrono::steady_clock::now();
    SUBCASE("once an hour") {
        schedule.every = std::chrono::hours{1};
        settle::recovery_thread const recovering{b.engine, schedule};
        std::unique_lock lock{mutex};
        REQUIRE(changed.wait_for(lock, std::chrono::seconds{30}, [&] { return rounds == 1; }));
    }
    SUBCASE("infinite interval") {
        schedule.every = std::chrono::milliseconds::max();
        settle::recovery_thread const recovering{b.engine, schedule};
        std::unique_lock lock{mutex};
        REQUIRE(changed.wait_for(lock, std::chrono::seconds{30}, [&] { return rounds > 0; }));
        CHECK_FALSE(
            changed.wait_for(lock, std::chrono::milliseconds{50}, [&] { return rounds > 1; }));
    }
    SUBCASE("all the time") {
        schedule.every = std::chrono::milliseconds{1};
        settle::recovery_thread const recovering{b.engine, schedule};
        std::unique_lock lock{mutex};
        REQUIRE(changed.wait_for(lock, std::chrono::seconds{30}, [&] { return rounds > 20; }));
    }
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{30});
    CHECK(done == 1);
    CHECK(balance_of(b.engine, "B") == 1030);
    CHECK(marks_in(b.engine) == 0);
}

} // namespace
} // namespace engine_test
