// SPDX-License-Identifier: BSL-1.0
// What a reader makes of the input, and the report of a run: text for people, JSON for programs.
#pragma once

#include "text.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// A transaction in the input.
template <typename Parameters>
struct request {
    std::uint64_t line = 0; // its first line in the file
    std::string id;
    Parameters parameters;
};

/// A piece of the input that cannot be run.
struct refusal {
    std::uint64_t line = 0;
    std::string reason;   // a few words, equal for all of its kind, for counting
    std::string sentence; // the fault of this piece
};

/// Counts of one run. Every request and refusal is in exactly one of the first five counts.
struct report {
    struct remark {
        std::uint64_t line = 0; // 0 without a line
        std::string sentence;
    };

    std::uint64_t done = 0;
    std::uint64_t canceled = 0;
    std::uint64_t undecided = 0;
    std::uint64_t refused = 0;
    std::uint64_t repeated = 0;                   // repeats an earlier line's transaction
    std::uint64_t earlier = 0;                    // settled before this run began
    std::map<std::string, std::uint64_t> reasons; // why transactions are not done
    std::vector<remark> remarks;                  // the first remarks; the counts include all
    std::uint64_t unnamed = 0;                    // the number of further remarks
    bool stopped = false;                         // the run ended before the input did
    std::uint64_t left_over = 0; // entries of earlier runs that this run did not settle
    double seconds = 0;
    std::int64_t sum_before = 0; // hundredths
    std::int64_t sum_after = 0;
    bool sum_is_known = true; // the money could be summed after the last transaction

    std::uint64_t total() const { return done + canceled + undecided + refused + repeated; }

    void refuse(refusal const& no);
    /// Keeps a sentence; the middle of a long one is cut out. After 1,000 sentences it only counts.
    void note(std::uint64_t line, std::string sentence);
    exit_code ends_with() const;
};

/// The reasons, and the first remarks.
std::string remarks_text(report const& shown, std::size_t most);

/// The report as text.
/// Shape:   name - of the input: "payment orders"
std::string to_text(report const& shown, std::string_view name);

/// Checks, before the run, whether a report can be written there.
/// Shape:   read - files that the program reads, with the database
/// Errors:  input_error, when it cannot, or when it would replace one of those files
void check_report_path(std::filesystem::path const& path,
                       std::vector<std::filesystem::path> const& read);

/// Writes the report as JSON; sums are whole hundredths.
/// Errors:  input_error, when the file cannot be written there
void write_report(report const& shown, std::filesystem::path const& path);

} // namespace samples
