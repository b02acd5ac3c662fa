// SPDX-License-Identifier: BSL-1.0
// A child of the test's process, which a test may kill at any moment.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace settle_test {

/// A child, whose texts the parent reads line by line.
class child {
public:
    /// Shape:   function - gets the descriptor to write to
    explicit child(std::function<void(int)> const& function) {
        int channel[2];
        REQUIRE(::pipe(channel) == 0);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            ::close(channel[0]);
            ::alarm(900);
            function(channel[1]);
            ::_exit(0);
        }
        ::close(channel[1]);
        from_ = channel[0];
    }
    child(child const&) = delete;
    child& operator=(child const&) = delete;
    ~child() {
        kill();
        ::close(from_);
    }

    void kill() {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) != pid_) {
        }
        pid_ = 0;
    }
    /// The next whole line; empty when the child has ended.
    std::string line() {
        std::string text;
        for (char byte = 0; ::read(from_, &byte, 1) == 1;) {
            if (byte == '\n') return text;
            text += byte;
        }
        return {};
    }

private:
    ::pid_t pid_ = 0;
    int from_ = -1;
};

inline void say(int to, std::string text) {
    text += '\n';
    if (::write(to, text.data(), text.size()) != static_cast<::ssize_t>(text.size())) ::_exit(1);
}

} // namespace settle_test
