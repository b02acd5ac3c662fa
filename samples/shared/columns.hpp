// SPDX-License-Identifier: BSL-1.0
// Finds a reader's columns in the header of a table.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// The columns of a kind of table: for each column its accepted names. Sentences use the first
/// name.
using table_layout = std::vector<std::vector<std::string>>;

/// The positions of a layout's columns in a header.
struct found_columns {
    std::size_t layout = 0;           // which of the layouts
    std::vector<std::size_t> indexes; // for each of its columns
    std::size_t count = 0;            // number of its columns in the header
    std::string problem;              // a sentence, when a column is missing or named twice
};

/// The layout that fits a header. If none fits, the layout with the most columns found; among
/// equals, with the fewest missing. Names are equal if they differ only in case, spaces, `_`, `-`
/// and invisible characters; an exact spelling takes precedence.
found_columns find_columns(std::span<table_layout const> layouts,
                           std::vector<std::string> const& header);

/// The names of all layouts, for a sentence: "id, source, amount or order_id, account, amount".
std::string names_of(std::span<table_layout const> layouts);

} // namespace samples
