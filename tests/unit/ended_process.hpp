// SPDX-License-Identifier: BSL-1.0
// The owner of a real process that has ended.
#pragma once

#include <settle/running/construction/owner.hpp>

#include <doctest/doctest.h>

#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace ended_process {

/// A child that lives until `end()`, and its text as an owner.
class child {
public:
    child() {
        int to_parent[2];
        int to_child[2];
        REQUIRE(::pipe(to_parent) == 0);
        REQUIRE(::pipe(to_child) == 0);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            ::close(to_child[1]);
            std::string const self = settle::this_process() + '\n';
            bool const written = ::write(to_parent[1], self.data(), self.size()) ==
                                 static_cast<::ssize_t>(self.size());
            // Waits until the parent closes its end, however the parent ends.
            char byte = 0;
            while (::read(to_child[0], &byte, 1) > 0) {
            }
            ::_exit(written ? 0 : 1);
        }
        ::close(to_parent[1]);
        ::close(to_child[0]);
        alive_ = to_child[1];
        for (char byte = 0; ::read(to_parent[0], &byte, 1) == 1 && byte != '\n';) owner_ += byte;
        ::close(to_parent[0]);
        REQUIRE_FALSE(owner_.empty());
    }
    child(child const&) = delete;
    child& operator=(child const&) = delete;
    ~child() { end(); }

    [[nodiscard]] std::string const& owner() const { return owner_; }

    /// Ends the child. Its parent has not waited for it yet, so it is a zombie.
    void stop() {
        if (alive_ < 0) return;
        ::close(alive_);
        alive_ = -1;
        ::siginfo_t seen{};
        while (::waitid(P_PID, static_cast<::id_t>(pid_), &seen, WEXITED | WNOWAIT) != 0) {
        }
    }
    void end() {
        if (pid_ <= 0) return;
        stop();
        while (::waitpid(pid_, nullptr, 0) != pid_) {
        }
        pid_ = 0;
    }

private:
    ::pid_t pid_ = 0;
    int alive_ = -1;
    std::string owner_;
};

/// The owner of a process of this host that is gone.
[[nodiscard]] inline std::string owner() {
    child one;
    one.end();
    return one.owner();
}

} // namespace ended_process
