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

void run(settings const& settings) {
    auto cases = bench::all_cases();
    std::stable_sort(cases.begin(), cases.end(), [](auto const& left, auto const& right) {
        return left.position < right.position;
    });
    std::regex const filter{settings.filter, std::regex::ECMAScript | std::regex::icase};
    std::erase_if(
        cases, [&](auto const& test_case) { return !std::regex_search(test_case.name, filter); });
    if (settings.list) {
        for (auto const& one : cases) fmt::print("{}\n", one.name);
        return;
    }
    if (cases.empty()) throw bench::wrong_result("no case matches --filter; see --list");
    std::filesystem::create_directories(settings.folder);
    bench::context context{settings.quick, settings.folder};
    for (auto const& one : cases) {
        fmt::print(stderr, "{}\n", one.name);
        one.run(context, one.name);
    }
    std::chrono::duration<double, std::micro> const sync = context.sync_cost();
    fmt::print("one sync of the disk takes {:.0f} us\n\n", sync.count());
    print_table(context.rows());
    if (!settings.json.empty()) write_json(context.rows(), settings.json);
}

} // namespace

int main(int argc, char** argv) {
    settings settings;
    CLI::App app{"Measures settle beside the same work by hand."};
    app.add_option("--filter", settings.filter,
                   "Runs the cases whose names match this expression, in either case");
    app.add_flag("--quick", settings.quick, "Runs fewer and smaller rounds");
    app.add_flag("--list", settings.list, "Prints the names of the cases");
    app.add_option("--json", settings.json, "Writes the table to this file")->take_last();
    app.add_option("--folder", settings.folder, "Holds the files that are measured")->take_last();
    CLI11_PARSE(app, argc, argv);
    try {
        run(settings);
        return 0;
    } catch (std::exception const& problem) {
        fmt::print(stderr, "benchmark: {}\n", problem.what());
        return 1;
    }
}
