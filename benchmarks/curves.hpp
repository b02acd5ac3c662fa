// SPDX-License-Identifier: BSL-1.0
// Points of curves as benchmarks of Google's library, and the files that they are written to.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// One point: its x value, and a round that returns its seconds.
struct point {
    std::string curve;
    std::string line;
    double x;
    double operations;
    std::function<double()> round;
};

inline void add_point(point const& point) {
    auto const measure = [point](benchmark::State& state) {
        while (state.KeepRunning()) {
            try {
                state.SetIterationTime(point.round());
            } catch (std::exception const& problem) {
                state.SkipWithError(problem.what());
                return;
            }
        }
        state.counters["x"] = point.x;
        state.counters["a second"] =
            benchmark::Counter(point.operations, benchmark::Counter::kIsIterationInvariantRate);
    };
    std::string const name = point.curve + '/' + point.line + '/' + std::to_string(point.x);
    benchmark::RegisterBenchmark(name.c_str(), measure)->UseManualTime()->Iterations(1);
}

/// Keeps the medians, and writes a file for each curve: a block for each line, its name on top.
class curve_writer : public benchmark::ConsoleReporter {
public:
    explicit curve_writer(std::filesystem::path folder)
        : ConsoleReporter(OO_Tabular), folder_(std::move(folder)) {}

    [[nodiscard]] bool failed() const noexcept { return failed_; }

    void ReportRuns(std::vector<Run> const& runs) override {
        ConsoleReporter::ReportRuns(runs);
        for (Run const& run : runs) {
            if (run.error_occurred) failed_ = true;
            if (run.aggregate_name != "median") continue;
            std::string const& name = run.run_name.function_name;
            auto const first = name.find('/');
            auto const last = name.rfind('/');
            curves_[name.substr(0, first)][name.substr(first + 1, last - first - 1)].emplace(
                run.counters.at("x"), run.counters.at("a second"));
        }
    }

    void Finalize() override {
        for (auto const& [curve, lines] : curves_) {
            std::ofstream file{folder_ / (curve + ".dat")};
            for (auto const& [line, points] : lines) {
                file << '"' << line << "\"\n";
                for (auto const& [x, y] : points) file << x << ' ' << y << '\n';
                file << "\n\n";
            }
            if (!file.flush()) failed_ = true;
        }
    }

private:
    std::filesystem::path folder_;
    std::map<std::string, std::map<std::string, std::map<double, double>>> curves_;
    bool failed_ = false;
};

/// Usage:   settle_curves FOLDER [an option of Google's library]...
template <typename AddPoints>
int draw_curves(int argc, char** argv, AddPoints const& add_points) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s FOLDER [--benchmark_...]\n", argv[0]);
        return 2;
    }
    std::string const folder = argv[1];
    std::filesystem::create_directories(folder);
    std::vector<char*> arguments(argv, argv + argc);
    arguments.erase(arguments.begin() + 1);
    // The repetitions of all points are mixed, so that a slow minute of the machine bends no curve.
    std::string mixed = "--benchmark_enable_random_interleaving=true";
    arguments.insert(arguments.begin() + 1, mixed.data());
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
    add_points(folder);
    curve_writer writer{folder};
    benchmark::RunSpecifiedBenchmarks(&writer);
    return writer.failed() ? 1 : 0;
}

} // namespace bench
