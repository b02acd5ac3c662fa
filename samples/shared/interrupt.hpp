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

/// While it lives, the first Ctrl-C (or SIGTERM) asks its token to stop and the second one ends the
/// process at once. Build it before any other thread starts: they take over its signal mask.
class interrupt {
public:
    interrupt() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        if (int const error = pthread_sigmask(SIG_BLOCK, &signals_, &before_)) {
            throw std::system_error(error, std::generic_category(), "pthread_sigmask");
        }
        // A thread that waits may do what a signal handler may not: take the stop source's lock.
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

    std::stop_token token() const { return asked_.get_token(); }
    bool asked() const { return asked_.stop_requested(); }

private:
    void wait() {
        for (;;) {
            int signal = 0;
            if (sigwait(&signals_, &signal) != 0) continue;
            if (closing_.stop_requested()) return;
            // Nothing is lost by leaving at once: the next run settles what was in flight.
            if (!asked_.request_stop()) ::_exit(128 + signal);
        }
    }

    sigset_t signals_{};
    sigset_t before_{};
    std::stop_source asked_;
    std::stop_source closing_;
    std::thread waiter_;
};

}  // namespace samples
