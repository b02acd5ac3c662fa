// SPDX-License-Identifier: BSL-1.0
// A store that leaves a part without an answer stops the process, in release too: no transaction
// is done without an effect.
#include <settle/running/driving/one_phase.hpp>

#include <doctest/doctest.h>

#include <array>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using settle::answer;

/// The signal that ends a child which would end a transaction as done with these answers, or 0.
int signal_of(std::array<answer, 2> const& answers) {
    pid_t const child = ::fork();
    if (child == 0) {
        std::array<settle::part_result, 2> results;
        for (std::size_t part = 0; part < results.size(); ++part)
            results[part].what = answers[part];
        // The runner of the tests would report the signal as a failure of its own.
        std::signal(SIGABRT, SIG_DFL);
        ::close(STDERR_FILENO);
        settle::detail::require_applied(results);
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

TEST_CASE("unset answers: only parts that were applied make a transaction done") {
    CHECK(signal_of({answer::applied, answer::applied}) == 0);
    for (answer const other : {answer::none, answer::nothing, answer::unavailable, answer::unknown,
                               answer::fenced, answer::busy}) {
        CAPTURE(settle::name_of(other));
        CHECK(signal_of({answer::applied, other}) == SIGABRT);
        CHECK(signal_of({other, answer::applied}) == SIGABRT);
    }
}
