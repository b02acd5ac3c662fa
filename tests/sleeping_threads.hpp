// SPDX-License-Identifier: BSL-1.0
// Threads that a test begins. The test can await that all of them wait.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <list>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

namespace settle_test {

class sleeping_threads {
public:
    sleeping_threads() = default;
    sleeping_threads(sleeping_threads const&) = delete;
    sleeping_threads& operator=(sleeping_threads const&) = delete;
    ~sleeping_threads() { join(); }

    template <typename Work>
    void begin(Work work) {
        auto& mine = all_.emplace_back();
        mine.thread = std::thread{[&mine, work = std::move(work)]() mutable {
            mine.number = ::gettid();
            work();
        }};
    }
    /// Waits until the system reports each thread as asleep, several times in a row. A thread that
    /// has ended, or is busy for a minute, fails the test.
    void wait_until_asleep() const {
        auto const end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
        for (int looks = 0; looks < 10;) {
            REQUIRE(std::chrono::steady_clock::now() < end);
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
            bool const asleep = std::all_of(all_.begin(), all_.end(), sleeps);
            looks = asleep ? looks + 1 : 0;
        }
    }
    void join() {
        for (auto& one : all_) {
            if (one.thread.joinable()) one.thread.join();
        }
    }

private:
    struct started {
        std::thread thread{};
        std::atomic<::pid_t> number{0}; ///< the system's, once the thread runs
    };

    /// Source:  proc(5), /proc/pid/stat: the state follows the name in parentheses
    static bool sleeps(started const& started) {
        if (started.number == 0) return false;
        std::ifstream file{"/proc/self/task/" + std::to_string(started.number) + "/stat"};
        std::string line;
        std::getline(file, line);
        auto const name_end = line.rfind(") ");
        return name_end != std::string::npos && line.compare(name_end + 2, 1, "S") == 0;
    }

    std::list<started> all_;
};

} // namespace settle_test
