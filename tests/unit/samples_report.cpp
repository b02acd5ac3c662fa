// SPDX-License-Identifier: BSL-1.0
// The samples' closing report, and their reaction to Ctrl-C.
#include <shared/interrupt.hpp>
#include <shared/report.hpp>

#include <contains.hpp>
#include <program.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using testing::contains;
using testing::scratch_folder;

samples::report bank_run() {
    samples::report run;
    run.done = 6000;
    run.canceled = 450;
    run.reasons["balance too low"] = 450;
    for (std::uint64_t line = 2; line < 23; ++line) run.refuse({line, "bad amount", "is bad"});
    run.sum_before = run.sum_after = 375800000;
    run.seconds = 2;
    return run;
}

/// Runs `work` in a child process, so that its signals do not reach the tests. Returns the child's
/// exit code, or minus the number of the signal that ended it.
template <class Work>
int exit_status_of(Work work) {
    pid_t const child = fork();
    if (child == 0) {
        // The test framework's handlers would report the signal as a crash.
        std::signal(SIGTERM, SIG_DFL);
        std::signal(SIGINT, SIG_DFL);
        work();
        _exit(99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace

TEST_SUITE("samples: report") {
    TEST_CASE("report: the text has every count, the first refusals and the money") {
        auto run = bank_run();
        auto const text = to_text(run, "payment orders");
        CHECK(text.starts_with("6,471 payment orders\n  done       6,000\n  canceled     450\n"));
        CHECK(contains(text, "  refused       21\nwhy not done\n  bad amount: 21\n"));
        CHECK(contains(text, "  line 2: is bad\n"));
        CHECK_FALSE(contains(text, "line 22:"));
        CHECK(text.ends_with("… and 1 more\n"
                             "money  3758000.00 before, 3758000.00 after: unchanged\n"
                             "time   2.0 s, 3225 a second\n"));
        run.sum_after -= 1;
        CHECK(contains(to_text(run, "orders"), "3757999.99 after: CHANGED"));
        for (std::uint64_t line = 2; line < 5002; ++line) run.refuse({line, "bad", "is bad"});
        CHECK(run.refused == 5021);
        CHECK(run.remarks.size() == 1000);
        CHECK(run.unnamed == 4021);
        samples::report long_run;
        long_run.note(1, std::string(1'000'000, 'x') + " is too long");
        CHECK(long_run.remarks[0].sentence.size() < 1010);
        CHECK(long_run.remarks[0].sentence.ends_with(" is too long"));
    }

    TEST_CASE("report: the exit code follows the gravest count") {
        samples::report run;
        run.canceled = 3;
        CHECK(run.ends_with() == samples::exit_code::settled);
        run.refuse({1, "x", "y"});
        CHECK(run.ends_with() == samples::exit_code::refused);
        run.undecided = 1;
        CHECK(run.ends_with() == samples::exit_code::unsettled);
        samples::report stopped;
        stopped.stopped = true;
        CHECK(stopped.ends_with() == samples::exit_code::unsettled);
    }

    TEST_CASE("report: the JSON file has the same content and replaces an older file") {
        scratch_folder const folder{"report"};
        std::filesystem::path const path{folder.write("report.json", std::string(10000, 'x'))};
        auto run = bank_run();
        run.note(7, "not text: \xFF");
        samples::check_report_path(path, {});
        write_report(run, path);
        auto const read = nlohmann::json::parse(std::ifstream{path});
        CHECK(read["done"] == 6000);
        CHECK(read["refused"] == 21);
        CHECK(read["reasons"]["balance too low"] == 450);
        CHECK(read["sum_after"] == 375800000);
        CHECK(read["seconds"] == 2.0);
        CHECK(read["remarks"].size() == 22);
        CHECK(read["remarks"][0]["line"] == 2);
        CHECK(read["more_remarks"] == 0);
    }

    TEST_CASE("report: a path that cannot take a report is refused before anything runs") {
        scratch_folder const folder{"report"};
        auto const file = folder.write("read.csv", "a,b\n");
        std::filesystem::create_symlink("read.csv", folder.at("link"));
        for (auto const& path : {folder.at("none/report.json"), folder.at("."), folder.at("link"),
                                 std::string{"/dev/stdout"}, std::string{"/dev/null"}}) {
            CHECK_THROWS_WITH_AS(samples::check_report_path(path, {}),
                                 (path + ": the report cannot be written there").c_str(),
                                 samples::input_error);
        }
        CHECK_THROWS_WITH_AS(samples::check_report_path(folder.at("x/../read.csv"), {file}),
                             doctest::Contains("would replace"), samples::input_error);
        CHECK(testing::read_file(file) == "a,b\n");
        CHECK_THROWS_AS(samples::write_report({}, "/dev/full"), samples::input_error);
    }
}

TEST_SUITE("samples: interrupt") {
    TEST_CASE("interrupt: the first signal requests a stop, the second ends the process") {
        for (int const signal : {SIGINT, SIGTERM}) {
            auto const status = exit_status_of([signal] {
                samples::interrupt const stop;
                if (stop.requested()) _exit(1);
                kill(getpid(), signal);
                while (!stop.token().stop_requested()) std::this_thread::yield();
                kill(getpid(), signal);
                std::this_thread::sleep_for(std::chrono::seconds(10));
            });
            CHECK(status == 128 + signal);
        }
    }

    TEST_CASE("interrupt: the earlier handler is restored afterwards") {
        auto const status = exit_status_of([] {
            {
                samples::interrupt const stop;
            }
            raise(SIGTERM);
        });
        CHECK(status == -SIGTERM);
    }
}
