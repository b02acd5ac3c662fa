// SPDX-License-Identifier: BSL-1.0
// Turns Ctrl-C and SIGTERM into a request to stop after the transactions in flight.
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <system_error>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace samples {

/// During the lifetime of such an object the main thread waits for a file, or for the reader of its
/// output: a request to stop ends its system call with EINTR.
class file_wait {
public:
    file_wait() { waits_ = true; }
    ~file_wait() { waits_ = false; }
    file_wait(file_wait const&) = delete;
    file_wait& operator=(file_wait const&) = delete;

    [[nodiscard]] static bool is_under_way() { return waits_; }

private:
    static inline std::atomic<bool> waits_{false};
};

/// During its lifetime the first Ctrl-C (or SIGTERM) stops its token, and the second ends the
/// process at once. The main thread constructs it before any other thread starts: threads inherit
/// its signal mask.
class interrupt {
public:
    interrupt() {
        struct sigaction ends_call{};
        ends_call.sa_handler = [](int) {};
        sigaction(SIGUSR1, &ends_call, nullptr);
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        if (int const error = pthread_sigmask(SIG_BLOCK, &signals_, &before_)) {
            throw std::system_error(error, std::generic_category(), "pthread_sigmask");
        }
        // A waiting thread may lock the stop source; a signal handler may not.
        waiter_ = std::thread([this] { wait(); });
    }

    ~interrupt() {
        closing_.request_stop();
        pthread_kill(waiter_.native_handle(), SIGTERM);
        waiter_.join();
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    interrupt(interrupt const&) = delete;
    interrupt& operator=(interrupt const&) = delete;

    std::stop_token token() const { return stop_.get_token(); }
    bool requested() const { return stop_.stop_requested(); }

private:
    void wait() {
        for (;;) {
            // A signal before the system call begins has no effect, so it is sent again.
            timespec const pause{0, 100'000'000};
            int const signal = requested() ? sigtimedwait(&signals_, nullptr, &pause)
                                           : sigwaitinfo(&signals_, nullptr);
            if (closing_.stop_requested()) return;
            // Ending at once loses nothing: the next run settles the transactions in flight.
            if (signal > 0 && !stop_.request_stop()) ::_exit(128 + signal);
            if (requested() && file_wait::is_under_way()) pthread_kill(main_, SIGUSR1);
        }
    }

    sigset_t signals_{};
    sigset_t before_{};
    pthread_t main_ = pthread_self();
    std::stop_source stop_;
    std::stop_source closing_;
    std::thread waiter_;
};

} // namespace samples
