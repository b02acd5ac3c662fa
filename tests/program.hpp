// SPDX-License-Identifier: BSL-1.0
// Starts a program as a person would, and returns its output and its exit code.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace testing {

/// A folder of a test's own below the build, empty at the beginning and removed at the end.
class scratch_folder {
public:
    explicit scratch_folder(std::string const& name)
        : path_(std::filesystem::path{SETTLE_SCRATCH_DIR} /
                (name + "-" + std::to_string(::getpid()))) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    scratch_folder(scratch_folder const&) = delete;
    scratch_folder& operator=(scratch_folder const&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] std::filesystem::path const& path() const { return path_; }
    [[nodiscard]] std::string at(std::string const& name) const { return (path_ / name).string(); }
    std::string write(std::string const& name, std::string const& text) const {
        std::ofstream{at(name), std::ios::binary} << text;
        return at(name);
    }

private:
    std::filesystem::path path_;
};

inline std::string read_file(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

struct ended {
    int code = -1; ///< the exit code; -1 when a signal ended it
    int signal = 0;
    std::string out;
    std::string err;
};

/// A program under way. Its output goes to files, so that it never waits for its reader.
class program {
public:
    /// Shape:   input - the file or terminal that it reads
    program(scratch_folder const& folder, std::vector<std::string> command,
            std::string const& input = "/dev/null") {
        static int count = 0;
        out_ = folder.at("out-" + std::to_string(++count));
        err_ = folder.at("err-" + std::to_string(count));
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
        posix_spawn_file_actions_addopen(&files, 0, input.c_str(), O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, 1, out_.c_str(), flags, 0600);
        posix_spawn_file_actions_addopen(&files, 2, err_.c_str(), flags, 0600);
        std::vector<char*> arguments;
        for (auto& argument : command) arguments.push_back(argument.data());
        arguments.push_back(nullptr);
        int const failed =
            posix_spawn(&pid_, arguments[0], &files, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&files);
        REQUIRE_MESSAGE(failed == 0, "cannot start " << command.front());
    }
    program(program const&) = delete;
    program& operator=(program const&) = delete;
    ~program() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        wait();
    }

    void signal(int number) const { ::kill(pid_, number); }

    /// Its output so far.
    [[nodiscard]] std::string printed() const { return read_file(out_); }
    /// Its errors so far.
    [[nodiscard]] std::string complained() const { return read_file(err_); }

    /// True if it has ended by itself or by a signal; wait() returns how.
    [[nodiscard]] bool has_ended() const {
        siginfo_t how{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOHANG | WNOWAIT);
        return how.si_pid == pid_;
    }

    ended wait() {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        ended how;
        if (WIFEXITED(status)) how.code = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) how.signal = WTERMSIG(status);
        how.out = read_file(out_);
        how.err = read_file(err_);
        return how;
    }

private:
    pid_t pid_ = -1;
    std::string out_;
    std::string err_;
};

/// Runs a sample to its end.
inline ended run_sample(scratch_folder const& folder, std::string const& name,
                        std::vector<std::string> command) {
    command.insert(command.begin(), std::string{SETTLE_BIN_DIR} + "/" + name);
    return program{folder, std::move(command)}.wait();
}

inline std::string data_file(std::string const& name) {
    return std::string{SETTLE_DATA_DIR} + "/" + name;
}

} // namespace testing
