// SPDX-License-Identifier: BSL-1.0
// Reads a table row by row; an unreadable row has a reason and does not stop other rows.
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
    std::vector<std::string> fields; // with a problem: the certain fields before the damage
    std::string problem;             // a sentence; empty when the row is good
    std::string note;                // a sentence, when the line is skipped and is no row

    explicit operator bool() const { return problem.empty() && note.empty(); }
};

/// True for a field with only spaces and invisible characters.
bool is_blank(std::string_view field);

/// True for a blank field, and for the dashes in a line of sums.
bool is_placeholder(std::string_view field);

/// True for the label of a line of sums, such as "Total:"; the sum may follow, as in "Total: 10".
bool is_total_word(std::string_view field);

/// A table with a header in a file: UTF-8, quotes as in RFC 4180, an optional byte order mark, any
/// line ending except a lone carriage return. The header decides between commas, semicolons, tabs
/// and `|`; a later header applies to the rows after it. Empty rows are skipped silently, and with
/// a note repeated headers and, before the header, lines of one field that begins with `#`. Shape:
/// path - `-` stands for standard input; layouts - the columns to look for; only the text
///          of these columns must be UTF-8
/// Memory:  one row, of at most line_reader::longest bytes
/// Errors:  input_error when the file as a whole cannot be used; a row's own problem is in the row
class csv_file {
public:
    csv_file(std::filesystem::path path, std::vector<table_layout> layouts);

    /// Reads the next row, good or bad; false at the end of the file.
    bool next(csv_row& row);

    /// The index of the rows' layout.
    [[nodiscard]] std::size_t layout() const { return columns_.layout; }

    /// Whether this column of the layout precedes the damage of a row.
    [[nodiscard]] bool knows(csv_row const& row, std::size_t column) const {
        return columns_.indexes[column] < row.fields.size();
    }

    /// The value of a row in this column of the layout.
    [[nodiscard]] std::string const& value(csv_row const& row, std::size_t column) const {
        return row.fields[columns_.indexes[column]];
    }

    /// The fraction of the file read so far, 0 to 1.
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
    std::size_t width_ = 0; // number of fields in the header
    std::vector<numbered_line> taken_;
    std::deque<csv_row> notes_; // of the lines before the header
};

} // namespace samples
