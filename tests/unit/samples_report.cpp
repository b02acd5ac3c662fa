// SPDX-License-Identifier: BSL-1.0
// The samples' closing report, their progress line, and their reaction to Ctrl-C.
#include <shared/input_error.hpp>
#include <shared/interrupt.hpp>
#include <shared/line_reader.hpp>
#include <shared/progress.hpp>
#include <shared/report.hpp>

#include <contains.hpp>
#include <program.hpp>

#include <settle/base/utf8.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
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
    for (std::uint64_t line = 2; line < 23; ++line) {
        run.refuse(line, "bad amount", "the amount '1.234' has more than two decimals");
    }
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
        auto const text = to_text(bank_run(), "payment orders");
        CHECK(contains(text, "6,471 payment orders\n"));
        CHECK(contains(text, "  done       6,000\n  canceled     450\n"));
        CHECK(contains(text, "  refused       21\n"));
        CHECK(contains(text, "  balance too low: 450\n"));
        CHECK(contains(text, "  line 2: the amount '1.234' has more than two decimals\n"));
        CHECK(contains(text, "line 21:"));
        CHECK_FALSE(contains(text, "line 22:"));
        CHECK(contains(text, "… and 1 more\n"));
        CHECK(contains(text, "money  3758000.00 before, 3758000.00 after: unchanged\n"));
        CHECK(contains(text, "time   2.0 s, 3225 a second\n"));
    }

    TEST_CASE("report: all refusals are counted and the first are kept") {
        samples::report run;
        for (std::uint64_t line = 2; line < 5002; ++line) run.refuse(line, "bad", "is bad");
        CHECK(run.refused == 5000);
        CHECK(run.remarks.size() == 1000);
        CHECK(run.unnamed == 4000);
        CHECK(contains(to_text(run, "orders"), "… and 4,980 more\n"));
    }

    TEST_CASE("report: a changed sum of money is reported") {
        auto run = bank_run();
        run.sum_after -= 1;
        CHECK(contains(to_text(run, "orders"), "3757999.99 after: CHANGED"));
    }

    TEST_CASE("report: the exit code follows the gravest count") {
        samples::report run;
        run.canceled = 3;
        CHECK(run.ends_with() == samples::exit_code::settled);
        run.refuse(1, "x", "y");
        CHECK(run.ends_with() == samples::exit_code::refused);
        run.undecided = 1;
        CHECK(run.ends_with() == samples::exit_code::unsettled);
        samples::report stopped;
        stopped.stopped = true;
        CHECK(stopped.ends_with() == samples::exit_code::unsettled);
    }

    TEST_CASE("report: the JSON file has the same content and replaces an older file whole") {
        scratch_folder const folder{"report"};
        auto const path = folder.path() / "report.json";
        std::ofstream{path} << std::string(10000, 'x');
        auto run = bank_run();
        run.note(7, "not text: \xFF");
        write_report(run, path);
        auto const read = nlohmann::json::parse(std::ifstream{path});
        CHECK(read["done"] == 6000);
        CHECK(read["canceled"] == 450);
        CHECK(read["undecided"] == 0);
        CHECK(read["refused"] == 21);
        CHECK(read["reasons"]["balance too low"] == 450);
        CHECK(read["reasons"]["bad amount"] == 21);
        CHECK(read["sum_before"] == 375800000);
        CHECK(read["sum_after"] == 375800000);
        CHECK(read["seconds"] == 2.0);
        CHECK(read["remarks"].size() == 22);
        CHECK(read["remarks"][0]["line"] == 2);
        CHECK(read["more_remarks"] == 0);
        auto files = std::filesystem::directory_iterator{folder.path()};
        CHECK(std::distance(begin(files), end(files)) == 1);
    }

    TEST_CASE("report: a failed write is reported with its path and leaves nothing behind") {
        scratch_folder const folder{"report"};
        auto const nowhere = folder.path() / "none" / "report.json";
        CHECK_THROWS_WITH_AS(
            samples::write_report({}, nowhere),
            (nowhere.string() + ": cannot be written: No such file or directory").c_str(),
            samples::input_error);
        CHECK_THROWS_AS(samples::write_report({}, folder.path()), samples::input_error);
        CHECK(std::filesystem::is_empty(folder.path()));
    }

    TEST_CASE("report: an unwritable path is refused before anything runs") {
        scratch_folder const folder{"report"};
        CHECK_THROWS_AS(samples::check_report_path(folder.path() / "none" / "report.json"),
                        samples::input_error);
        CHECK_THROWS_AS(samples::check_report_path(folder.path()), samples::input_error);
        samples::check_report_path("/dev/null");
        samples::check_report_path(folder.path() / "report.json");
        CHECK(std::filesystem::is_empty(folder.path()));
    }

    TEST_CASE("report: a file that is replaced keeps its mode, and a read-only file is refused") {
        scratch_folder const folder{"report"};
        auto const path = folder.path() / "report.json";
        using std::filesystem::perms;
        for (auto const mode : {perms{0600}, perms{0640}, perms{0666}}) {
            std::ofstream{path} << "old";
            std::filesystem::permissions(path, mode);
            samples::check_report_path(path);
            samples::write_report(bank_run(), path);
            CHECK(std::filesystem::status(path).permissions() == mode);
            CHECK(std::filesystem::file_size(path) > 3);
        }
        std::filesystem::permissions(path, perms{0444});
        std::filesystem::permissions(folder.path(), perms::all);
        // Root may write to any file, so a child without root's rights tries.
        auto const status = exit_status_of([&] {
            if (::geteuid() == 0 && ::setuid(65534) != 0) _exit(3);
            try {
                samples::check_report_path(path);
            } catch (samples::input_error const& problem) {
                bool const named = std::string_view{problem.what()}.ends_with("Permission denied");
                _exit(named ? 42 : 2);
            }
            _exit(1);
        });
        CHECK(status == 42);
        auto files = std::filesystem::directory_iterator{folder.path()};
        CHECK(std::distance(begin(files), end(files)) == 1);
    }

    TEST_CASE("report: a long quoted sentence keeps its beginning and its end") {
        CHECK(samples::shortened("short") == "short");
        for (std::string const piece : {"x", "é", "€", "😀"}) {
            std::string long_text = "id ";
            while (long_text.size() < 1'000'000) long_text += piece;
            auto const text = samples::shortened(long_text + " is too long");
            CHECK(text.size() <= 1010);
            CHECK(text.starts_with("id " + piece));
            CHECK(text.ends_with(piece + " is too long"));
            CHECK(settle::is_utf8(text));
        }
    }
}

TEST_SUITE("samples: progress") {
    TEST_CASE("progress: nothing is drawn without a terminal") {
        auto* const file = std::tmpfile();
        REQUIRE(file != nullptr);
        {
            samples::progress line{"orders", file};
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
            line.at(10, 0.5);
        }
        CHECK(std::ftell(file) == 0);
        std::fclose(file);
    }
}

TEST_SUITE("samples: interrupt") {
    TEST_CASE("interrupt: the first signal requests a stop, and the process continues") {
        for (int const signal : {SIGINT, SIGTERM}) {
            auto const status = exit_status_of([signal] {
                samples::interrupt stop;
                if (stop.requested()) _exit(1);
                kill(getpid(), signal);
                while (!stop.token().stop_requested()) std::this_thread::yield();
                _exit(stop.requested() ? 42 : 1);
            });
            CHECK(status == 42);
        }
    }

    /// True if a program that gets one SIGTERM while a function blocks goes on, and the function
    /// then returns true.
    template <typename Function>
    bool goes_on(Function const& blocks) {
        auto const status = exit_status_of([&] {
            samples::interrupt stop;
            std::jthread const sender{[] {
                std::this_thread::sleep_for(std::chrono::milliseconds{300});
                kill(getpid(), SIGTERM);
            }};
            bool const right = blocks();
            _exit(right && stop.requested() ? 42 : 1);
        });
        return status == 42;
    }

    /// True if a function throws the exception of a stop.
    template <typename Exception, typename Function>
    bool says(std::string_view text, Function const& function) {
        try {
            function();
        } catch (Exception const& problem) {
            return contains(problem.what(), text);
        }
        return false;
    }

    TEST_CASE("interrupt: the first signal ends a read and an open that block") {
        scratch_folder const folder{"interrupt"};
        auto const fifo = folder.path() / "fifo";
        REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
        auto const read_nothing = [&] {
            return says<std::runtime_error>("the program was stopped before anything was read",
                                            [&] {
                                                samples::line_reader reader{fifo};
                                                samples::numbered_line line;
                                                reader.next(line);
                                            });
        };
        SUBCASE("an input without a writer") { CHECK(goes_on(read_nothing)); }
        SUBCASE("a report without a reader") {
            CHECK(goes_on([&] {
                return says<samples::input_error>("cannot be written",
                                                  [&] { samples::write_report({}, fifo); });
            }));
        }
        // The test is the writer.
        int const writer = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
        SUBCASE("an input whose writer writes nothing") { CHECK(goes_on(read_nothing)); }
        SUBCASE("an input whose writer stops in the middle of a line") {
            REQUIRE(::write(writer, "whole\ntor", 9) == 9);
            CHECK(goes_on([&] {
                samples::line_reader reader{fifo};
                samples::numbered_line line;
                bool const whole = reader.next(line) && line.text == "whole\n";
                return whole && !reader.next(line);
            }));
        }
        ::close(writer);
    }

    TEST_CASE("interrupt: the first signal ends a process whose output nobody reads") {
        for (int const output : {STDOUT_FILENO, STDERR_FILENO}) {
            CAPTURE(output);
            std::array<int, 2> pipe{};
            REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
            auto const status = exit_status_of([&] {
                ::dup2(pipe[1], output);
                samples::interrupt stop;
                std::jthread const sender{[] {
                    std::this_thread::sleep_for(std::chrono::milliseconds{300});
                    kill(getpid(), SIGTERM);
                }};
                std::string const text(std::size_t{1} << 20U, 'x'); // more than a pipe takes
                std::ignore = ::write(output, text.data(), text.size());
                _exit(1);
            });
            CHECK(status == 128 + SIGTERM);
            for (int const end : pipe) ::close(end);
        }
    }

    TEST_CASE("interrupt: the second signal ends the process") {
        auto const status = exit_status_of([] {
            samples::interrupt stop;
            kill(getpid(), SIGINT);
            while (!stop.requested()) std::this_thread::yield();
            kill(getpid(), SIGINT);
            std::this_thread::sleep_for(std::chrono::seconds(10));
        });
        CHECK(status == 128 + SIGINT);
    }

    TEST_CASE("interrupt: the earlier handler is restored afterwards") {
        auto const status = exit_status_of([] {
            {
                samples::interrupt stop;
            }
            raise(SIGTERM);
        });
        CHECK(status == -SIGTERM);
    }
}
