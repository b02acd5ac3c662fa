// SPDX-License-Identifier: BSL-1.0
// Turns Ctrl-C and SIGTERM into a request to stop after the transactions in flight.
#pragma once

#include "blocking_call.hpp"

#include <array>
#include <csignal>
#include <ctime>
#include <stop_token>
#include <system_error>
#include <thread>

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

namespace samples {

/// During its lifetime the first Ctrl-C (or SIGTERM) stops its token and ends a blocking_call, and
/// the second ends the process at once. So does the first if nobody reads the program's output for
/// a second. Construct it before any other thread starts: threads inherit its signal mask.
class interrupt {
public:
    interrupt() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        if (int const error = pthread_sigmask(SIG_BLOCK, &signals_, &before_)) {
            throw std::system_error(error, std::generic_category(), "pthread_sigmask");
        }
        blocking_call::reset();
        blocking_call::prepare();
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
        constexpr timespec soon{0, 20'000'000};
        constexpr int most_full = 50; // a second
        int first = 0;                // the signal that requested the stop, or 0
        int full = 0;                 // looks in a row at which the output was full
        bool blocked = false;         // a call is to end
        for (;;) {
            int const signal = first != 0 ? sigtimedwait(&signals_, nullptr, &soon)
                                          : sigwaitinfo(&signals_, nullptr);
            if (closing_.stop_requested()) return;
            // Ending at once loses nothing: the next run settles the transactions in flight.
            if (signal > 0 && !stop_.request_stop()) ::_exit(128 + signal);
            if (signal > 0) {
                first = signal;
                blocked = blocking_call::stop();
            }
            if (first == 0) continue;
            blocked = blocked && blocking_call::interrupt();
            full = output_is_full() ? full + 1 : 0;
            if (full == most_full) ::_exit(128 + first);
        }
    }

    /// Whether a write to standard output or standard error would block: its reader does not read.
    static bool output_is_full() {
        std::array<pollfd, 2> outputs{pollfd{STDOUT_FILENO, POLLOUT, 0},
                                      pollfd{STDERR_FILENO, POLLOUT, 0}};
        int const ready = ::poll(outputs.data(), outputs.size(), 0);
        return ready >= 0 && ready < static_cast<int>(outputs.size());
    }

    sigset_t signals_{};
    sigset_t before_{};
    std::stop_source stop_;
    std::stop_source closing_;
    std::thread waiter_;
};

} // namespace samples
