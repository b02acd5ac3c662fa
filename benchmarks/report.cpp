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
    row made;
    made.name = std::move(name);
    made.unit = std::move(unit);
    made.settle = used;
    made.baseline = allowed;
    made.ratio = used / allowed;
    made.budget = 1.0;
    made.against = "the limit";
    return made;
}

void print_table(std::vector<row> const& rows) {
    std::size_t width = 4;
    for (row const& one : rows) width = std::max(width, one.name.size());
    fmt::print("{:<{}} {:>9} {:>9} {:<4} {:>6} {:>11} {:>6} {:>5}  {}\n", "case", width, "settle",
               "baseline", "unit", "ratio", "range", "budget", "holds", "baseline is");
    for (row const& one : rows) {
        fmt::print("{:<{}} {:>9.4g} {:>9.4g} {:<4} {:>6.2f} {:>11} {:>6} {:>5}  {}\n", one.name,
                   width, one.settle, one.baseline, one.unit, one.ratio, range_of(one),
                   budget_of(one), verdict_of(one), one.against);
    }
}

void write_json(std::vector<row> const& rows, std::filesystem::path const& path) {
    auto list = nlohmann::ordered_json::array();
    for (row const& one : rows) {
        nlohmann::ordered_json object;
        object["name"] = one.name;
        object["unit"] = one.unit;
        object["settle"] = one.settle;
        object["baseline"] = one.baseline;
        object["ratio"] = one.ratio;
        object["least"] = nullptr;
        object["most"] = nullptr;
        if (one.least) object["least"] = *one.least;
        if (one.most) object["most"] = *one.most;
        object["budget"] = nullptr;
        object["holds"] = nullptr;
        if (one.budget) {
            object["budget"] = *one.budget;
            object["holds"] = one.holds();
        }
        list.push_back(std::move(object));
    }
    std::ofstream file{path};
    file << list.dump(2) << '\n';
    if (!file.flush()) throw wrong_result("cannot write " + path.string());
}

} // namespace bench
