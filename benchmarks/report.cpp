// SPDX-License-Identifier: BSL-1.0
// The table for people and the JSON file for programs.
#include "bench.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace bench {

namespace {

std::string_view verdict_of(row const& shown) {
    if (!shown.budget) return "-";
    return shown.holds() ? "yes" : "NO";
}

std::string budget_of(row const& shown) {
    return shown.budget ? fmt::format("{:.2f}", *shown.budget) : "-";
}

std::string range_of(row const& shown) {
    return shown.least && shown.most ? fmt::format("{:.2f}-{:.2f}", *shown.least, *shown.most)
                                     : "-";
}

} // namespace

row row_of_limit(std::string name, std::string unit, double used, double allowed) {
    row row;
    row.name = std::move(name);
    row.unit = std::move(unit);
    row.settle = used;
    row.baseline = allowed;
    row.ratio = used / allowed;
    row.budget = 1.0;
    row.against = "the limit";
    return row;
}

void print_table(std::vector<row> const& rows) {
    std::size_t width = 4;
    for (row const& row : rows) width = std::max(width, row.name.size());
    fmt::print("{:<{}} {:>9} {:>9} {:<4} {:>6} {:>11} {:>6} {:>5}  {}\n", "case", width, "settle",
               "baseline", "unit", "ratio", "range", "budget", "holds", "baseline is");
    for (row const& row : rows) {
        fmt::print("{:<{}} {:>9.4g} {:>9.4g} {:<4} {:>6.2f} {:>11} {:>6} {:>5}  {}\n", row.name,
                   width, row.settle, row.baseline, row.unit, row.ratio, range_of(row),
                   budget_of(row), verdict_of(row), row.against);
    }
}

void write_json(std::vector<row> const& rows, std::filesystem::path const& path) {
    auto list = nlohmann::ordered_json::array();
    for (row const& row : rows) {
        nlohmann::ordered_json object;
        object["name"] = row.name;
        object["unit"] = row.unit;
        object["settle"] = row.settle;
        object["baseline"] = row.baseline;
        object["ratio"] = row.ratio;
        object["least"] = nullptr;
        object["most"] = nullptr;
        if (row.least) object["least"] = *row.least;
        if (row.most) object["most"] = *row.most;
        object["budget"] = nullptr;
        object["holds"] = nullptr;
        if (row.budget) {
            object["budget"] = *row.budget;
            object["holds"] = row.holds();
        }
        list.push_back(std::move(object));
    }
    std::ofstream file{path};
    file << list.dump(2) << '\n';
    if (!file.flush()) throw wrong_result("cannot write " + path.string());
}

} // namespace bench
