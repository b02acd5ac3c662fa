// SPDX-License-Identifier: BSL-1.0
// Reads a table row by row; a row that cannot be read says why and stops no other row.
#pragma once

#include "columns.hpp"
#include "csv_row_parser.hpp"
#include "input_error.hpp"
#include "line_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

/// One row, or the reason why it cannot be used.
struct csv_row {
    std::uint64_t line = 0;          // where the row begins in the file; the header is line 1
    std::vector<std::string> fields; // with a problem: the ones before the damage, still certain
    std::string problem;             // a sentence; empty when the row is good
    std::string note;                // a sentence, when it is no row and is passed over

    explicit operator bool() const { return problem.empty() && note.empty(); }
};

/// True for a field of spaces and invisible characters alone.
bool is_blank(std::string_view field);

/// True for a blank field, and for the dashes that a line of sums may have in its place.
bool is_placeholder(std::string_view field);

/// True for the words with which people and programs label a line of sums, such as "Total:"; the
/// sum may stand behind them, as in "Total: 10".
bool is_total_word(std::string_view field);

/// A table with a header in a file: UTF-8, quotes as in RFC 4180, with or without a byte order
/// mark, any line ending but a lone carriage return. The header tells whether commas, semicolons,
/// tabs or `|` part the fields; a header in the middle of the file holds from there on. Rows that
/// hold nothing are passed over without a word, comments and repeated headers with a note.
/// Shape:   path - `-` stands for standard input;
///          layouts - the columns to look for; only the text of these columns must be UTF-8
/// Memory:  one row, of at most line_reader::longest bytes
/// Errors:  input_error when the file as a whole cannot be used; a row's own problem is in the row
class csv_file {
public:
    csv_file(std::filesystem::path path, std::vector<table_layout> layouts);

    /// Gives the next row, good or not; false at the end of the file.
    bool next(csv_row& row);

    /// Which of the layouts the rows have.
    [[nodiscard]] std::size_t layout() const { return columns_.layout; }

    /// Whether this column of the layout stands before the damage of a row.
    [[nodiscard]] bool knows(csv_row const& row, std::size_t column) const {
        return columns_.places[column] < row.fields.size();
    }

    /// What a row has in this column of the layout.
    [[nodiscard]] std::string const& value(csv_row const& row, std::size_t column) const {
        return row.fields[columns_.places[column]];
    }

    /// The part of the file that has been read, 0 to 1.
    [[nodiscard]] double share() const { return lines_.share(); }

private:
    using state = csv_row_parser::state;

    [[nodiscard]] input_error error(std::string_view sentence) const;
    void read_header();
    bool take_header();
    [[nodiscard]] input_error no_columns(csv_row const& header, found_columns const& best) const;
    bool read_row(csv_row& row, std::vector<numbered_line>& taken);
    void prepare(numbered_line& line) const;
    bool give_up(csv_row& row, std::vector<numbered_line> const& taken, std::string_view problem);
    [[nodiscard]] bool may_be_header(csv_row const& row) const;
    bool is_header(csv_row& row);
    void check_count(csv_row& row) const;
    void check_text(csv_row& row) const;

    line_reader lines_;
    csv_row_parser parser_;
    std::vector<table_layout> layouts_;
    found_columns columns_;
    std::size_t width_ = 0; // how many fields the header has
    std::vector<numbered_line> taken_;
    std::deque<csv_row> notes_; // of what stands before the header
};

} // namespace samples
