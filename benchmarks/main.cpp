// SPDX-License-Identifier: BSL-1.0
// Runs the cases, prints one table, and writes it as JSON. A missed budget is a finding and not a
// failure; a wrong balance is a failure.
#include "bench.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <regex>

namespace {

struct settings {
    std::string filter;
    bool quick = false;
    bool list = false;
    std::string json;
    std::string folder = ".";
};

void run(settings const& given) {
    auto cases = bench::all_cases();
    std::stable_sort(cases.begin(), cases.end(), [](auto const& left, auto const& right) {
        return left.position < right.position;
    });
    std::regex const filter{given.filter, std::regex::ECMAScript | std::regex::icase};
    std::erase_if(cases, [&](auto const& one) { return !std::regex_search(one.name, filter); });
    if (given.list) {
        for (auto const& one : cases) fmt::print("{}\n", one.name);
        return;
    }
    if (cases.empty()) throw bench::wrong_result("no case matches --filter; see --list");
    std::filesystem::create_directories(given.folder);
    bench::context at{given.quick, given.folder};
    for (auto const& one : cases) {
        fmt::print(stderr, "{}\n", one.name);
        one.run(at, one.name);
    }
    std::chrono::duration<double, std::micro> const sync = at.sync_cost();
    fmt::print("one sync of the disk takes {:.0f} us\n\n", sync.count());
    print_table(at.rows());
    if (!given.json.empty()) write_json(at.rows(), given.json);
}

} // namespace

int main(int argc, char** argv) {
    settings given;
    CLI::App app{"Measures settle beside the same work by hand."};
    app.add_option("--filter", given.filter,
                   "Runs the cases whose names match this expression, in either case");
    app.add_flag("--quick", given.quick, "Runs fewer and smaller rounds");
    app.add_flag("--list", given.list, "Prints the names of the cases");
    app.add_option("--json", given.json, "Writes the table to this file")->take_last();
    app.add_option("--folder", given.folder, "Holds the files that are measured")->take_last();
    CLI11_PARSE(app, argc, argv);
    try {
        run(given);
        return 0;
    } catch (std::exception const& problem) {
        fmt::print(stderr, "benchmark: {}\n", problem.what());
        return 1;
    }
}
