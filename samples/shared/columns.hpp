// SPDX-License-Identifier: BSL-1.0
// Finds the columns that a reader needs in the header of a table.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// The columns of one kind of table: for each column the names that it may have. The first name is
/// the one that sentences use.
using table_layout = std::vector<std::vector<std::string>>;

/// Where the columns of a layout stand in a header.
struct found_columns {
    std::size_t layout = 0;          // which of the layouts
    std::vector<std::size_t> places; // for each of its columns
    std::size_t count = 0;           // how many of its columns the header names
    std::string problem;             // a sentence, when a column is missing or named twice
};

/// The layout that fits a header. Where none fits, the one of which the most columns are there,
/// and of equal ones the one of which the fewest are missing.
/// Names count as equal if they differ only in case, spaces, `_`, `-` and invisible characters; a
/// name that is spelled as in the layout comes before one that is not.
found_columns find_columns(std::span<table_layout const> layouts,
                           std::vector<std::string> const& header);

/// The names of all layouts, for a sentence: "id, source, amount or order_id, account, amount".
std::string names_of(std::span<table_layout const> layouts);

} // namespace samples
