// SPDX-License-Identifier: BSL-1.0
// Threads that run transactions between two files at once: one drives the transactions of several.
#include "two_files.hpp"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

using namespace two_files_test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

/// Accounts beside the log in one file, vaults in another, on the machine's clock.
struct shared_files {
    folder own{};
    settle::sqlite::database books{own.file("books")};
    settle::sqlite::database cellar{own.file("cellar")};

    template <typename... More>
    auto make(More const&... more) {
        return settle::engine{books, settle::bind(vaults, cellar), settle::type<deposit_type>,
                              more...};
    }
    shared_files() {
        auto engine = make();
        open_accounts(engine, {{"A", 1'000}, {"B", 1'000}});
        engine.create(vaults, {"V", 0}).value();
    }
    [[nodiscard]] std::int64_t gold() { return make().at(vaults, "V").gold; }
    [[nodiscard]] std::int64_t marks() { return static_cast<std::int64_t>(make().marks().value()); }
};

} // namespace

TEST_CASE("shared windows: every caller gets its own outcome, and the sum is right") {
    shared_files files;
    auto engine = files.make();
    constexpr int thread_count = 16;
    constexpr int each = 25;
    std::atomic<std::int64_t> paid = 0;
    std::atomic<int> canceled = 0;
    std::atomic<int> wrong = 0;
    on_threads(thread_count, [&](int thread) {
        for (int number = 0; number < each; ++number) {
            bool const is_refused = number % 5 == 0;
            auto const amount = is_refused ? 5'000 : 1 + thread % 3;
            std::string const id = std::to_string(thread) + "-" + std::to_string(number);
            auto const ended = engine.run(id, deposit{thread % 2 == 0 ? "A" : "B", "V", amount});
            if (ended.done()) paid += amount;
            if (ended.canceled() && ended.why == reason::guard_failed) ++canceled;
            if (ended.id != id || ended.done() == is_refused) ++wrong;
        }
    });
    CHECK(wrong == 0);
    CHECK(canceled == thread_count * each / 5);
    CHECK(files.gold() == paid);
    CHECK(balance_of(engine, "A") + balance_of(engine, "B") == 2'000 - paid);
    CHECK(files.marks() == 0);
}

TEST_CASE("shared windows: an id that all threads run has one effect") {
    shared_files files;
    auto engine = files.make();
    std::atomic<int> done = 0;
    for (int round = 0; round < 10; ++round) {
        on_threads(8, [&](int) {
            done += engine.run("deposit-" + std::to_string(round), deposit{"A", "V", 1}).done();
        });
    }
    CHECK(done == 80);
    CHECK(files.gold() == 10);
}

TEST_CASE("shared windows: no caller waits longer than it wants while a store hangs") {
    shared_files files;
    auto engine = files.make();
    holding_program other{files.own.file("cellar")};
    std::atomic<int> late = 0;
    std::atomic<int> undecided = 0;
    std::stop_source stop;
    std::jthread const stopping{[&] {
        std::this_thread::sleep_for(milliseconds{100});
        stop.request_stop();
    }};
    on_threads(9, [&](int thread) {
        settle::call_options limits;
        if (thread % 2 == 0) limits.deadline = milliseconds{100};
        else limits.stop = stop.get_token();
        auto const begun = steady_clock::now();
        auto const ended = engine.run(deposit{"A", "V", 1}, limits);
        // Without limits they would wait for options::patience, half a minute.
        if (steady_clock::now() - begun > std::chrono::seconds{20}) ++late;
        if (ended.verdict == settle::verdict::undecided) ++undecided;
    });
    CHECK(late == 0);
    CHECK(undecided == 9);
    other.let_go();
    // Nothing of them is left once a recovery has looked at what they had begun.
    std::ignore = engine.recover({.older_than = milliseconds{0}});
    CHECK(files.marks() == 0);
    CHECK(balance_of(engine, "A") == 1'000 - files.gold());
}

TEST_CASE("shared windows: an observer's exception reaches the caller whose transaction it saw") {
    shared_files files;
    auto const throwing = [](settle::event const& seen) {
        if (seen.id.starts_with("bad")) throw std::runtime_error{"seen " + seen.id};
    };
    auto engine = files.make(settle::observed_by(throwing));
    std::atomic<int> thrown = 0;
    std::atomic<int> wrong = 0;
    on_threads(8, [&](int thread) {
        for (int number = 0; number < 10; ++number) {
            bool const is_bad = thread % 4 == 0;
            auto const id =
                (is_bad ? "bad-" : "good-") + std::to_string(thread) + "-" + std::to_string(number);
            try {
                if (!engine.run(id, deposit{"A", "V", 1}).done() || is_bad) ++wrong;
            } catch (std::runtime_error const& seen) {
                if (seen.what() == "seen " + id) ++thrown;
            }
        }
    });
    CHECK(thrown == 20);
    CHECK(wrong == 0);
    CHECK(files.gold() == 80);
}

TEST_CASE("shared windows: a callback runs transactions of its own") {
    shared_files files;
    std::function<void(settle::event const&)> follow;
    auto engine = files.make(settle::observed_by([&](settle::event const& seen) { follow(seen); }));
    std::atomic<int> done = 0;
    follow = [&](settle::event const& seen) {
        if (seen.taken != settle::step::end || seen.id.starts_with("then-")) return;
        done += engine.run("then-" + std::string{seen.id}, deposit{"B", "V", 1}).done();
    };
    on_threads(8, [&](int thread) {
        for (int number = 0; number < 10; ++number) {
            auto const id = std::to_string(thread) + "-" + std::to_string(number);
            done += engine.run(id, deposit{"A", "V", 1}).done();
        }
    });
    CHECK(done == 160);
    CHECK(files.gold() == 160);
}

TEST_CASE("shared windows: a thread that fails leaves no other caller without an outcome") {
    shared_files files;
    std::atomic<int> crashed = 0;
    // As an exception of the library or the system ends the thread that drives a window.
    auto const crashing = [](settle::event const& seen) {
        if (seen.id.starts_with("bad") && seen.taken == settle::step::confirm) {
            throw settle::testing::crash{};
        }
    };
    auto engine = files.make(settle::observed_by(crashing));
    std::atomic<int> done = 0;
    std::atomic<int> failed = 0;
    on_threads(12, [&](int thread) {
        for (int number = 0; number < 10; ++number) {
            bool const is_bad = thread == 0 && number == 5;
            auto const id =
                (is_bad ? "bad-" : "good-") + std::to_string(thread) + "-" + std::to_string(number);
            try {
                auto const ended = engine.run(id, deposit{"A", "V", 1});
                if (ended.done()) ++done;
                else if (ended.verdict == settle::verdict::undecided) ++failed;
            } catch (settle::testing::crash const&) {
                ++crashed;
            }
        }
    });
    CHECK(crashed <= 1);
    CHECK(done + failed + crashed == 120);
    std::ignore = files.make().recover({.older_than = milliseconds{0}});
    CHECK(files.marks() == 0);
    CHECK(files.gold() == 1'000 - balance_of(engine, "A"));
    CHECK(files.gold() >= done);
}
