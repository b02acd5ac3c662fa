// SPDX-License-Identifier: BSL-1.0
// Programs that the benchmark runs: compilers, and the transfer application.
#pragma once

#include "bench.hpp"

#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
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
[[nodiscard]] inline child_usage run_child(std::vector<std::string> const& words) {
    std::vector<char*> arguments;
    for (auto const& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int const failed = posix_spawnp(&child, arguments.front(), &files, nullptr, arguments.data(),
                                    environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw wrong_result("cannot run " + words.front());

    int status = 0;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child) throw wrong_result("lost " + words.front());
    auto const seconds = [](timeval const& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    child_usage usage;
    usage.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    usage.processor_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    usage.peak_mebibytes = static_cast<double>(used.ru_maxrss) / 1024;
    return usage;
}

/// The row of a case that has a limit and no baseline: the limit takes the place of the baseline.
[[nodiscard]] inline row row_of_limit(std::string name, std::string unit, double used,
                                      double allowed, bool counts) {
    row made;
    made.name = std::move(name);
    made.unit = std::move(unit);
    made.settle = used;
    made.baseline = allowed;
    made.ratio = used / allowed;
    if (counts) made.budget = 1.0;
    made.against = "the limit";
    return made;
}

} // namespace bench
