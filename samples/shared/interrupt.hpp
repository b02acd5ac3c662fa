// SPDX-License-Identifier: BSL-1.0
// Turns Ctrl-C and SIGTERM into a request to stop after the transactions in flight.
#pragma once

#include <csignal>
#include <stop_token>
#include <system_error>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace samples {

/// During its lifetime the first Ctrl-C (or SIGTERM) stops its token, and the second ends the
/// process at once. Construct it before any other thread starts: threads inherit its signal mask.
class interrupt {
public:
    interrupt() {
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
            int const signal = sigwaitinfo(&signals_, nullptr);
            if (closing_.stop_requested()) return;
            // Ending at once loses nothing: the next run settles the transactions in flight.
            if (signal > 0 && !stop_.request_stop()) ::_exit(128 + signal);
        }
    }

    sigset_t signals_{};
    sigset_t before_{};
    std::stop_source stop_;
    std::stop_source closing_;
    std::thread waiter_;
};

} // namespace samples
