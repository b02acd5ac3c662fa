// SPDX-License-Identifier: BSL-1.0
// The report of a run: text for people, JSON for programs.
#pragma once

#include "exit_code.hpp"
#include "piece.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

/// A sentence that may quote a file; the middle of a long sentence is cut out.
std::string shortened(std::string sentence);

/// Counts of one run. Every request and refusal is in exactly one of the first five counts.
struct report {
    static constexpr std::size_t most_remarks = 1000; // bounds the memory
    static constexpr std::size_t most_printed = 20;   // more would push the counts off the screen

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

    /// Counts a refused piece; the sentence names the fault.
    void refuse(std::uint64_t line, std::string_view reason, std::string sentence) {
        ++refused;
        ++reasons[std::string{reason}];
        note(line, std::move(sentence));
    }

    /// Keeps a sentence; after many sentences it only counts.
    void note(std::uint64_t line, std::string sentence) {
        if (remarks.size() >= most_remarks) ++unnamed;
        else remarks.push_back({line, shortened(std::move(sentence))});
    }

    exit_code ends_with() const {
        if (undecided > 0 || left_over > 0 || stopped) return exit_code::unsettled;
        return refused > 0 ? exit_code::refused : exit_code::settled;
    }
};

/// A count with separators: 6471 is `6,471`.
inline std::string with_commas(std::uint64_t count) {
    auto const digits = std::to_string(count);
    std::string text;
    for (std::size_t at = 0; at < digits.size(); ++at) {
        if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
        text += digits[at];
    }
    return text;
}

/// The reasons and remarks of a report.
std::string remarks_text(report const& shown, std::size_t most_printed = report::most_printed);

/// The report as text.
/// Shape:   name - of the input: "payment orders"
std::string to_text(report const& shown, std::string_view name);

/// The target of a link, which may be missing: the report replaces the target, and the link stays.
std::filesystem::path real_path(std::filesystem::path path);

/// Checks, before the run, whether a report can be written there.
/// Errors:  input_error, when it cannot
void check_report_path(std::filesystem::path const& path);

/// Writes the report as JSON, whole or not at all; sums are whole hundredths.
/// Errors:  input_error, when the file cannot be written there
void write_report(report const& shown, std::filesystem::path const& path);

} // namespace samples
