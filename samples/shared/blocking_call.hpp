// SPDX-License-Identifier: BSL-1.0
// Lets Ctrl-C and SIGTERM end a system call that could block for ever.
#pragma once

#include <atomic>
#include <csignal>

#include <pthread.h>

namespace samples {

/// A system call that could block for ever, such as the read of a FIFO. A signal that arrives
/// meanwhile ends it with EINTR. One thread makes such calls.
class blocking_call {
public:
    blocking_call() {
        thread_ = pthread_self();
        number_ = current_ = next_++;
    }
    ~blocking_call() { current_ = 0; }
    blocking_call(blocking_call const&) = delete;
    blocking_call& operator=(blocking_call const&) = delete;

    /// True if a signal arrived during the call.
    [[nodiscard]] bool is_to_end() const { return to_end_ == number_; }
    /// True if a signal arrived at any time.
    [[nodiscard]] static bool is_stopped() { return stopped_; }

    /// Lets a signal interrupt a system call, which is not restarted.
    static void prepare() {
        struct sigaction ignored{};
        ignored.sa_handler = [](int) {};
        sigaction(SIGUSR1, &ignored, nullptr);
    }
    /// Notes a signal; true if a call is to end.
    static bool stop() {
        stopped_ = true;
        to_end_ = current_.load();
        return to_end_ != 0;
    }
    /// Interrupts the call that is to end. A signal before the call blocks has no effect, so the
    /// caller repeats this until it is false.
    static bool interrupt() {
        if (current_ == 0 || current_ != to_end_) return false;
        pthread_kill(thread_, SIGUSR1);
        return true;
    }
    static void reset() { stopped_ = false; }

private:
    static inline std::atomic<unsigned> next_{1};
    static inline std::atomic<unsigned> current_{0}; // under way, or 0
    static inline std::atomic<unsigned> to_end_{0};
    static inline std::atomic<bool> stopped_{false};
    static inline std::atomic<pthread_t> thread_{};

    unsigned number_ = 0;
};

} // namespace samples
