// SPDX-License-Identifier: BSL-1.0
// What a run did, for a person at the end of the run and for a program as a JSON file.
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

/// A sentence, which may quote what a file holds: of one that nobody would read to its end, the
/// middle goes.
std::string shortened(std::string sentence);

/// Counts of one run. Every piece of the input is in exactly one of the first five.
struct report {
    static constexpr std::size_t most_remarks = 1000; // kept, so that memory has a bound
    static constexpr std::size_t most_printed = 20;   // more would hide the counts from a person

    std::uint64_t done = 0;
    std::uint64_t canceled = 0;
    std::uint64_t undecided = 0;
    std::uint64_t refused = 0;
    std::uint64_t repeated = 0;                   // equal to an earlier line, and one with it
    std::uint64_t earlier = 0;                    // done or canceled before this run began
    std::map<std::string, std::uint64_t> reasons; // why what is not done is not
    std::vector<remark> remarks; // the first ones; the counts know of all
    std::uint64_t unnamed = 0;   // how many more there were
    bool stopped = false;        // the run ended before the input did
    std::uint64_t left_over = 0; // of earlier runs, and not settled by this one either
    double seconds = 0;
    std::int64_t sum_before = 0; // hundredths
    std::int64_t sum_after = 0;

    std::uint64_t total() const { return done + canceled + undecided + refused + repeated; }

    /// Counts a piece that cannot be run; the sentence says what is wrong with it.
    void refuse(std::uint64_t line, std::string_view reason, std::string sentence) {
        ++refused;
        ++reasons[std::string{reason}];
        note(line, std::move(sentence));
    }

    /// Keeps a sentence for the end, or counts it where there are many already.
    void note(std::uint64_t line, std::string sentence) {
        if (remarks.size() >= most_remarks) ++unnamed;
        else remarks.push_back({line, shortened(std::move(sentence))});
    }

    exit_code ends_with() const {
        if (undecided > 0 || left_over > 0 || stopped) return exit_code::unsettled;
        return refused > 0 ? exit_code::refused : exit_code::settled;
    }
};

/// A count as people read it: 6471 is `6,471`.
inline std::string with_commas(std::uint64_t count) {
    auto const digits = std::to_string(count);
    std::string text;
    for (std::size_t at = 0; at < digits.size(); ++at) {
        if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
        text += digits[at];
    }
    return text;
}

/// Why what is not done is not, and the sentences that go with it.
std::string remarks_text(report const& shown, std::size_t most_printed = report::most_printed);

/// The report as a person reads it.
/// Shape:   what - what was run, in words: "payment orders"
std::string to_text(report const& shown, std::string_view what);

/// What a link leads to, whether or not it is there yet: a report takes that place, and the link
/// stays.
std::filesystem::path real_path(std::filesystem::path path);

/// Finds out, before anything is run, whether a report can be written there.
/// Errors:  input_error, when it cannot
void check_report_path(std::filesystem::path const& path);

/// Writes the report as JSON, whole or not at all; sums are whole hundredths.
/// Errors:  input_error, when the file cannot be written there
void write_report(report const& shown, std::filesystem::path const& path);

} // namespace samples
