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

} // namespace

void print_table(std::vector<row> const& rows) {
    std::size_t width = 4;
    for (row const& one : rows) width = std::max(width, one.name.size());
    fmt::print("{:<{}} {:>9} {:>9} {:<4} {:>6} {:>6} {:>5}  {}\n", "case", width, "settle",
               "baseline", "unit", "ratio", "budget", "holds", "baseline is");
    for (row const& one : rows) {
        fmt::print("{:<{}} {:>9.4g} {:>9.4g} {:<4} {:>6.2f} {:>6} {:>5}  {}\n", one.name, width,
                   one.settle, one.baseline, one.unit, one.ratio, budget_of(one), verdict_of(one),
                   one.against);
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
