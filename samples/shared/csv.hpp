// SPDX-License-Identifier: BSL-1.0
// Reads a table row by row; an unreadable row has a reason and does not stop other rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace samples {

/// The names of the columns to read, in lower case. Headers may have other cases.
using table_layout = std::vector<std::string>;

/// A table of commas in a file: each line is a row, quotes are as in RFC 4180, and the first line
/// names the columns. Empty lines are skipped, and so are a byte order mark and the carriage return
/// at the end of a line.
/// Shape:   layouts - the kinds of table; the header decides. Only their columns must be UTF-8
/// Errors:  input_error when the file as a whole cannot be used
class csv_file {
public:
    csv_file(std::filesystem::path const& path, std::vector<table_layout> layouts);

    /// Goes on to the next row, good or bad; false at the end of the file.
    bool next();

    /// The number of the row's line; the header is line 1.
    [[nodiscard]] std::uint64_t line() const { return line_; }
    /// Why the row cannot be used, as a sentence; empty when it can.
    [[nodiscard]] std::string const& problem() const { return problem_; }
    /// The value of a good row in a column of the layout.
    [[nodiscard]] std::string const& operator[](std::size_t column) const {
        return fields_[columns_[column]];
    }
    /// The index of the table's layout.
    [[nodiscard]] std::size_t layout() const { return layout_; }

private:
    bool read_line();
    void read_header(std::vector<table_layout> const& layouts);

    std::string name_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::uint64_t line_ = 0;
    std::vector<std::string> fields_;
    std::string problem_;
    std::size_t layout_ = 0;
    std::vector<std::size_t> columns_; // positions of the layout's columns
    std::size_t width_ = 0;            // number of fields in the header
};

} // namespace samples
