// SPDX-License-Identifier: BSL-1.0
// Shows the progress of long work on a terminal.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace samples {

/// Rewrites one line of stderr a few times a second; silent if stderr is no terminal.
class progress {
public:
    explicit progress(std::string name, std::FILE* stream = stderr)
        : name_(std::move(name)), stream_(stream), shown_(isatty(fileno(stream)) != 0) {}

    ~progress() { clear(); }

    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;

    /// Shows `count` finished pieces and the `share` of the file (0 to 1).
    void at(std::uint64_t count, double share) {
        if (!shown_) return;
        auto const now = clock::now();
        if (now - last_ < std::chrono::milliseconds(200)) return;
        last_ = now;
        auto const seconds = std::chrono::duration<double>(now - began_).count();
        auto const rate = seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
        // A lost terminal must not stop the work.
        std::fputs(fmt::format("\r\033[K{}: {} ({:.0f} %), {:.0f} a second", name_, count,
                               share * 100, rate)
                       .c_str(),
                   stream_);
        std::fflush(stream_);
        drawn_ = true;
    }

    /// Clears the line for the output that follows.
    void clear() noexcept {
        if (!drawn_) return;
        std::fputs("\r\033[K", stream_);
        std::fflush(stream_);
        drawn_ = false;
    }

private:
    using clock = std::chrono::steady_clock;

    std::string name_;
    std::FILE* stream_;
    bool shown_;
    bool drawn_ = false;
    clock::time_point began_ = clock::now();
    clock::time_point last_ = began_;
};

} // namespace samples
