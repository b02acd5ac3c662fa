// SPDX-License-Identifier: BSL-1.0
// Programs that the benchmark runs: compilers, the transfer application, and services.
#pragma once

#include "bench.hpp"

#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

struct child_usage {
    int exit_code = -1;
    double processor_seconds = 0; ///< of the program and of its own children
    double peak_mebibytes = 0;    ///< of the largest of them
};

/// Runs a program to its end, and returns its usage. Its output is discarded.
/// Errors:  throws wrong_result when it cannot be run
[[nodiscard]] inline child_usage run_child(std::vector<std::string> const& command) {
    std::vector<char*> arguments;
    for (auto const& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int const failed =
        posix_spawnp(&child, arguments.front(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw wrong_result("cannot run " + command.front());

    int status = 0;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child) throw wrong_result("lost " + command.front());
    auto const seconds = [](timeval const& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    child_usage usage;
    usage.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    usage.processor_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    usage.peak_mebibytes = static_cast<double>(used.ru_maxrss) / 1024;
    return usage;
}

/// A program that answers lines until its input ends, which is when this object ends.
class talking_child {
public:
    /// Errors:  throws wrong_result when it cannot be run
    explicit talking_child(std::string const& program) : name_(program) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            throw wrong_result("no socket for " + program);
        }
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
        char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
        int const failed =
            posix_spawn(&child_, program.c_str(), &files, nullptr, arguments, environ);
        posix_spawn_file_actions_destroy(&files);
        close(ends[1]);
        socket_ = ends[0];
        if (failed != 0) {
            close(socket_);
            throw wrong_result("cannot run " + program);
        }
    }
    talking_child(talking_child const&) = delete;
    talking_child& operator=(talking_child const&) = delete;
    ~talking_child() {
        close(socket_);
        waitpid(child_, nullptr, 0);
    }

    void write_line(std::string line) const {
        line += '\n';
        auto const sent = send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
        if (sent != static_cast<ssize_t>(line.size())) throw wrong_result("lost " + name_);
    }
    [[nodiscard]] std::string read_line() const {
        std::string line;
        for (char one = 0; recv(socket_, &one, 1, 0) == 1;) {
            if (one == '\n') return line;
            line += one;
        }
        throw wrong_result("lost " + name_);
    }

private:
    std::string name_;
    pid_t child_ = 0;
    int socket_ = -1;
};

} // namespace bench
