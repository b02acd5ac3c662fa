// SPDX-License-Identifier: BSL-1.0
// The compile time of including settle, of whole programs and of further types, in processor
// seconds, over that of a program with nlohmann/json.
#include "child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace bench {

namespace {

std::filesystem::path const root{SETTLE_ROOT};

/// A source to compile, with its options.
struct unit {
    std::string source;
    std::vector<std::string> options{};
};

/// The processor seconds of each round.
using seconds_of_rounds = std::vector<double>;

/// Compiles each unit once in each round, at one level of optimisation.
std::map<std::string, seconds_of_rounds> measure(context const& context,
                                                 std::map<std::string, unit> const& units,
                                                 std::string const& level) {
    std::map<std::string, seconds_of_rounds> seconds;
    for (std::size_t round = 0; round < context.size(3, 1); ++round) {
        for (auto const& [name, compiled] : units) {
            std::vector<std::string> command{SETTLE_COMPILER, "-std=c++20", level, "-c", "-o",
                                             "/dev/null"};
            for (auto const* folder :
                 {"include", "adapters/memory/include", "adapters/sqlite/include"}) {
                command.push_back("-I" + (root / folder).string());
            }
            command.insert(command.end(), compiled.options.begin(), compiled.options.end());
            command.push_back(compiled.source);
            auto const used = run_child(command);
            if (used.exit_code != 0) throw wrong_result(name + " does not compile");
            seconds[name].push_back(used.processor_seconds);
        }
    }
    return seconds;
}

/// The row of the ratios of each round.
row row_of_rounds(std::string name, seconds_of_rounds const& settle,
                  seconds_of_rounds const& baseline, double budget) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < settle.size(); ++round) {
        ratios.push_back(settle[round] / baseline[round]);
    }
    row row;
    row.name = std::move(name);
    row.unit = "s";
    row.settle = median(settle);
    row.baseline = median(baseline);
    row.least = *std::min_element(ratios.begin(), ratios.end());
    row.most = *std::max_element(ratios.begin(), ratios.end());
    row.ratio = median(std::move(ratios));
    row.budget = budget;
    row.against = "a nlohmann/json hello";
    return row;
}

/// The program that the README shows.
std::string program_of_readme() {
    std::ifstream file{root / "README.md"};
    std::string program;
    bool within = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("```")) {
            if (within && program.find("tickets.db") != std::string::npos) return program;
            within = line == "```cpp";
            program.clear();
        } else if (within) {
            program.append(line).append("\n");
        }
    }
    throw wrong_result("the README shows no program");
}

std::map<std::string, unit> make_units(context const& context) {
    std::string const tickets = context.file("tickets.cpp");
    std::ofstream file{tickets};
    file << program_of_readme();
    if (!file.flush()) throw wrong_result("cannot write " + tickets);

    auto const folder = root / "benchmarks/compile";
    std::string const compiled = "-DSETTLE_COMPILED";
    std::map<std::string, unit> units{
        {"hello", {(folder / "json_hello.cpp").string()}},
        {"settle", {(folder / "settle.cpp").string(), {compiled}}},
        {"tickets", {tickets}},
        {"tickets, compiled", {tickets, {compiled}}},
        {"all calls", {(folder / "all_calls.cpp").string(), {compiled, "-I" + context.file("")}}},
        {"shop",
         {(root / "samples/payment/shop_program.cpp").string(),
          {compiled, "-I" + (root / "samples").string()}}}};
    for (auto const* store : {"memory", "SQLite"}) {
        for (auto const* types : {"1", "10"}) {
            bool const on_sqlite = std::string_view{store} == "SQLite";
            units[fmt::format("{} {}", store, types)] = {
                (folder / "types.cpp").string(),
                {compiled, fmt::format("-DSETTLE_TYPES={}", types),
                 fmt::format("-DSETTLE_ON_SQLITE={}", on_sqlite ? 1 : 0)}};
        }
    }
    auto& listed = units["memory 10, listed"] = units.at("memory 10");
    listed.options.emplace_back("-DSETTLE_LISTED");
    return units;
}

add_case const compile{
    64, "compile time", [](context& context, std::string const& name) {
        auto const units = make_units(context);
        for (std::string const level : {"-O0", "-O2"}) {
            auto const seconds = measure(context, units, level);
            auto const add = [&](std::string const& subject, seconds_of_rounds const& used,
                                 double budget) {
                context.add(row_of_rounds(fmt::format("{}, {}: {}", name, level, subject), used,
                                          seconds.at("hello"), budget));
            };
            add("settle.hpp alone", seconds.at("settle"), 0.45);
            add("the program of the README", seconds.at("tickets, compiled"), 0.7);
            add("the same with all calls of the engine", seconds.at("all calls"), 1.0);
            add("the program of the README, header-only", seconds.at("tickets"),
                level == "-O0" ? 3.0 : 3.5);
            add("the shop's shop_program.cpp", seconds.at("shop"), 2.5);
            for (std::string const store : {"memory", "SQLite"}) {
                seconds_of_rounds further = seconds.at(store + " 10");
                for (std::size_t round = 0; round < further.size(); ++round) {
                    further[round] = (further[round] - seconds.at(store + " 1")[round]) / 9;
                }
                add("each further type of ten, " + store, further, 0.06);
            }
            auto unlisted =
                row_of_rounds(fmt::format("{}, {}: ten types without SETTLE_STRUCT", name, level),
                              seconds.at("memory 10"), seconds.at("memory 10, listed"), 1.0);
            unlisted.against = "the same types with it";
            context.add(std::move(unlisted));
        }
    }};

} // namespace

} // namespace bench
