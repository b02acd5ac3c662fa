// SPDX-License-Identifier: BSL-1.0
// Processes of one log that share the limits of their clients.
#include "engine_types.hpp"

#include <settle/running/calls/sharing.hpp>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace sharing_test {

using namespace engine_test;
using namespace std::chrono_literals;
using settle::detail::process_shares;
using moment = process_shares::moment;

/// The log of several processes, with the clock of the test.
struct shared_log {
    settle::memory::database db{};
    settle::detail::port_of_log<settle::memory::log_session<std::mutex>> log{db.bind_log()};
    moment now{1h};

    void say(process_shares& process) {
        REQUIRE(process.say(log, [this] { return now; }).has_value());
    }
    /// Lets a time pass, in which processes say each second that they go on.
    void pass(std::chrono::seconds time, std::vector<process_shares*> const& processes) {
        for (auto const end = now + time; now < end; now += 1s) {
            for (auto* const each : processes) say(*each);
        }
    }
    [[nodiscard]] std::size_t count(process_shares const& process) const {
        return process.count(now);
    }
};

TEST_CASE("sharing: a process waits until the others count it, and they take over its part") {
    shared_log log;
    process_shares first{"first"};
    CHECK(log.count(first) == 0);
    log.say(first);
    CHECK(log.count(first) == 0);
    log.pass(5s, {&first});
    CHECK(log.count(first) == 1);

    process_shares second{"second"};
    log.say(second);
    log.pass(1s, {&first, &second});
    CHECK(log.count(first) == 2);
    CHECK(log.count(second) == 0);
    log.pass(4s, {&first, &second});
    CHECK(log.count(second) == 2);

    // The second ends. Its part is free once it can have made no call for a while.
    log.pass(9s, {&first});
    CHECK(log.count(first) == 2);
    CHECK(log.count(second) == 0);
    log.pass(3s, {&first});
    CHECK(log.count(first) == 1);
}

TEST_CASE("sharing: a process that cannot reach the log makes no call, and begins anew") {
    shared_log log;
    process_shares first{"first"};
    process_shares second{"second"};
    log.pass(6s, {&first, &second});
    CHECK(log.count(first) == 2);
    log.pass(5s, {&second});
    CHECK(log.count(first) == 0);
    log.say(first);
    // The second may be about to forget it.
    CHECK(log.count(first) == 0);
    log.pass(4s, {&first, &second});
    CHECK(log.count(first) == 0);
    log.pass(2s, {&first, &second});
    CHECK(log.count(first) == 2);

    // It was forgotten meanwhile.
    log.pass(15s, {&second});
    CHECK(log.count(second) == 1);
    log.pass(5s, {&first, &second});
    CHECK(log.count(second) == 2);
    CHECK(log.count(first) == 2);
}

TEST_CASE("sharing: never are there more parts than one, whenever processes say what") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        shared_log log;
        std::vector<process_shares> processes;
        for (int name = 0; name < 4; ++name) processes.emplace_back(std::to_string(name));
        std::uint64_t random = seed;
        std::size_t most = 0;
        for (int step = 0; step < 4000; ++step) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            log.now += std::chrono::milliseconds{random >> 54U};
            // For a while some processes say nothing.
            auto const chosen = (random >> 33U) % 4;
            bool const is_silent =
                (static_cast<std::uint64_t>(step) / 64 * seed >> chosen & 1U) != 0;
            if (!is_silent) log.say(processes[chosen]);
            double parts = 0;
            for (auto const& each : processes) {
                auto const sharing = log.count(each);
                if (sharing != 0) parts += 1.0 / static_cast<double>(sharing);
                most = std::max(most, sharing);
            }
            REQUIRE(parts <= 1.0001);
        }
        CHECK(most == 4);
    }
}

TEST_CASE("sharing: a thread gives its clients their part, and none after its end") {
    struct client_of_test {
        std::mutex mutex{};
        std::condition_variable changed{};
        std::vector<std::size_t> seen{};
        void share(std::size_t processes, moment) {
            std::scoped_lock const guard{mutex};
            seen.push_back(processes);
            changed.notify_all();
        }
    } client;
    settle::memory::database db;
    settle::engine engine{db, settle::type<transfer_type>};
    {
        settle::sharing_thread const sharing{engine, client};
        std::unique_lock guard{client.mutex};
        CHECK(client.seen.front() == 0);
        CHECK(client.changed.wait_for(guard, 60s, [&] { return client.seen.back() == 1; }));
    }
    CHECK(client.seen.back() == 0);
}

} // namespace sharing_test
