// SPDX-License-Identifier: BSL-1.0
// The parts of a benchmark case: sides that do the same work, and the row of its result.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Ends the benchmark: a case cannot run, or a wrong result makes its figures meaningless.
struct wrong_result : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One row of the table, and one object of the JSON file.
struct row {
    std::string name;
    std::string unit;
    double settle = 0;
    double baseline = 0;
    double ratio = 0;
    std::optional<double> least{}; ///< the least ratio of a pair of rounds
    std::optional<double> most{};
    std::optional<double> budget{};
    std::string against; ///< the baseline, in a few words

    [[nodiscard]] bool holds() const { return !budget || ratio <= *budget; }
};

/// A round whose work is done in slices, so that the slices of two sides can alternate.
struct sliced_round {
    std::function<double(std::size_t slice)> run; ///< returns the seconds of a slice
    std::function<void()> check;                  ///< checks the result of all slices
};

/// One way to do the work of a case.
struct side {
    std::string name;
    /// Does the whole work once from a fresh start, checks the result, and returns the
    /// seconds of the work alone.
    std::function<double()> round;
    /// Begins such a round in slices. It takes the place of `round` in a comparison by slices.
    std::function<sliced_round()> begin{};
};

/// The same work done by settle and by hand.
struct comparison {
    std::string name;
    double operations = 1; ///< the number of transactions in a round
    side settle;
    std::vector<side> baselines; ///< the fastest baseline is compared with settle
    std::optional<double> budget{};
    std::size_t rounds = 0; ///< 0 takes the usual number
    std::size_t slices = 0; ///< of a round; the first is not timed. 0 compares whole rounds
};

/// The options of a case, and the rows that it adds.
class context {
public:
    context(bool quick, std::filesystem::path folder) : quick_(quick), folder_(std::move(folder)) {}

    [[nodiscard]] bool quick() const noexcept { return quick_; }
    /// A size of the work: the full size, or the smaller size of a quick run.
    [[nodiscard]] std::size_t size(std::size_t full, std::size_t quick) const noexcept {
        return quick_ ? quick : full;
    }
    /// A file in the folder of --folder.
    [[nodiscard]] std::string file(std::string const& name) const {
        return (folder_ / name).string();
    }
    /// The duration of one sync in that folder, measured once.
    [[nodiscard]] std::chrono::nanoseconds sync_cost();

    /// Runs both sides in pairs of rounds, and adds the row of their medians.
    /// Returns the seconds of settle for one transaction.
    double compare(comparison const& comparison);
    void add(row const& row);
    [[nodiscard]] std::vector<row> const& rows() const noexcept { return rows_; }

private:
    bool quick_;
    std::filesystem::path folder_;
    std::optional<std::chrono::nanoseconds> sync_cost_;
    std::vector<row> rows_;
};

/// A case and its name. All cases at namespace scope form the benchmark.
struct benchmark_case {
    int position; ///< in the table
    std::string name;
    std::function<void(context&, std::string const& name)> run;
};

[[nodiscard]] std::vector<benchmark_case>& all_cases();

struct add_case {
    add_case(int position, std::string name,
             std::function<void(context&, std::string const& name)> run) {
        all_cases().push_back({position, std::move(name), std::move(run)});
    }
};

/// The seconds since its construction.
class stopwatch {
public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    }

private:
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// The middle value; of an even number, the mean of the two middle values.
[[nodiscard]] double median(std::vector<double> values);

/// The row of a case that has a limit and no baseline: the limit takes the place of the baseline.
[[nodiscard]] row row_of_limit(std::string name, std::string unit, double used, double allowed);

/// Prints the rows as one table to standard output.
void print_table(std::vector<row> const& rows);
/// Errors:  throws when the file cannot be written
void write_json(std::vector<row> const& rows, std::filesystem::path const& path);

} // namespace bench
