// SPDX-License-Identifier: BSL-1.0
// The rounds: settle and its baseline take turns, and the ratio is the median of the ratios of
// neighbouring rounds, so that a slow machine slows both.
#include "bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace bench {

namespace {

struct unit {
    std::string name;
    double in_a_second;
};

/// The unit follows the baseline's figure, so that both figures of a row have one unit.
unit unit_of(double seconds) {
    if (seconds < 1e-6) return {"ns", 1e9};
    if (seconds < 1e-3) return {"us", 1e6};
    if (seconds < 1) return {"ms", 1e3};
    return {"s", 1};
}

/// The seconds of each side for one round. Each side is the first in turn, since it may leave work
/// to the disk or to a server.
std::vector<double> seconds_of(std::vector<side const*> const& sides, std::size_t slices,
                               std::size_t number = 0) {
    std::vector<double> seconds(sides.size());
    auto const in_turn = [&](std::size_t turn, auto const& run) {
        for (std::size_t i = 0; i < sides.size(); ++i) run((turn + i) % sides.size());
    };
    if (slices == 0) {
        in_turn(number, [&](std::size_t which) { seconds[which] = sides[which]->round(); });
        return seconds;
    }
    std::vector<sliced_round> begun;
    for (auto const* const each : sides) begun.push_back(each->begin());
    for (std::size_t slice = 0; slice < slices; ++slice) {
        in_turn(number + slice, [&](std::size_t which) {
            double const passed = begun[which].run(slice);
            // In the first slice, statements are prepared and caches are warmed up.
            if (slice > 0) seconds[which] += passed;
        });
    }
    for (auto const& round : begun) round.check();
    return seconds;
}

/// The fastest side, by the better of two rounds: the first round may warm caches up.
side const& fastest(comparison const& comparison) {
    if (comparison.baselines.size() == 1) {
        seconds_of({&comparison.baselines.front()}, comparison.slices);
        return comparison.baselines.front();
    }
    side const* best = nullptr;
    double least = 0;
    for (side const& baseline : comparison.baselines) {
        auto const run = [&] { return seconds_of({&baseline}, comparison.slices).front(); };
        double const first = run();
        double const seconds = std::min(first, run());
        fmt::print(stderr, "    {:.0f} a second {}\n", comparison.operations / seconds,
                   baseline.name);
        if (best == nullptr || seconds < least) {
            best = &baseline;
            least = seconds;
        }
    }
    return *best;
}

class scratch_file {
public:
    explicit scratch_file(std::string path)
        : path_(std::move(path)), handle_(open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    ~scratch_file() {
        if (handle_ >= 0) close(handle_);
        unlink(path_.c_str());
    }

    /// Appends a page and waits until the disk has it, as a commit does to a new write-ahead log.
    void append_and_sync() {
        std::array<char, 4096> const page{};
        if (handle_ < 0 || pwrite(handle_, page.data(), page.size(), end_) != ssize_t{4096} ||
            fdatasync(handle_) != 0) {
            throw wrong_result("cannot write to " + path_);
        }
        end_ += ssize_t{4096};
    }

private:
    std::string path_;
    int handle_;
    off_t end_ = 0;
};

} // namespace

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    std::size_t const middle = values.size() / 2;
    if (values.size() % 2 == 1) return values[middle];
    return (values[middle - 1] + values[middle]) / 2;
}

std::chrono::nanoseconds context::sync_cost() {
    if (!sync_cost_) {
        scratch_file file{this->file("sync")};
        std::vector<double> seconds;
        for (int i = 0; i < 200; ++i) {
            stopwatch const watch;
            file.append_and_sync();
            seconds.push_back(watch.seconds());
        }
        sync_cost_ = std::chrono::nanoseconds{
            static_cast<std::chrono::nanoseconds::rep>(median(std::move(seconds)) * 1e9)};
    }
    return *sync_cost_;
}

void context::add(row const& row) {
    rows_.push_back(row);
    fmt::print(stderr, "  {}: {:.3f}\n", row.name, row.ratio);
}

double context::compare(comparison const& comparison) {
    side const& baseline_side = fastest(comparison);
    seconds_of({&comparison.settle}, comparison.slices);
    std::size_t const rounds = comparison.rounds != 0 ? comparison.rounds : size(9, 3);
    std::vector<double> settle;
    std::vector<double> baseline;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rounds; ++i) {
        auto const seconds = seconds_of({&comparison.settle, &baseline_side}, comparison.slices, i);
        settle.push_back(seconds[0] / comparison.operations);
        baseline.push_back(seconds[1] / comparison.operations);
        ratios.push_back(seconds[0] / seconds[1]);
    }
    auto const [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    row row;
    row.name = comparison.name;
    row.baseline = median(baseline);
    row.settle = median(settle);
    row.least = *least;
    row.most = *most;
    row.ratio = median(ratios);
    double const seconds = row.settle;
    auto const [unit, factor] = unit_of(row.baseline);
    row.unit = unit;
    row.baseline *= factor;
    row.settle *= factor;
    row.budget = comparison.budget;
    row.against = baseline_side.name;
    add(row);
    return seconds;
}

std::vector<benchmark_case>& all_cases() {
    static std::vector<benchmark_case> all;
    return all;
}

} // namespace bench
