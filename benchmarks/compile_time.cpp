// SPDX-License-Identifier: BSL-1.0
// The compile time of including settle and of describing types, in seconds of the processor.
#include "child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace bench {

namespace {

std::filesystem::path const root{SETTLE_ROOT};

/// Finds the headers of other libraries that a header includes, also through headers of settle.
class header_walk {
public:
    explicit header_walk(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// The headers of other libraries, each once.
    std::set<std::string> foreign_of(std::string const& header) {
        follow(header);
        return std::move(foreign_);
    }

private:
    void follow(std::string const& header) {
        if (!seen_.insert(header).second) return;
        std::ifstream file{folder_ / header};
        if (!file) throw wrong_result("there is no header " + header);
        std::string line;
        while (std::getline(file, line)) {
            auto const begin = line.find("#include <");
            if (begin == std::string::npos) continue;
            auto const first = begin + 10;
            auto const name = line.substr(first, line.find('>', first) - first);
            if (name.starts_with("settle/")) follow(name);
            else foreign_.insert(name);
        }
    }

    std::filesystem::path folder_;
    std::set<std::string> seen_;
    std::set<std::string> foreign_;
};

/// A source to compile, with its options.
struct unit {
    std::string source;
    std::vector<std::string> options{};
    bool is_long = false; ///< compiled less often, since noise is a small part of its time
};

/// The time of each unit at one level of optimisation: the median of rounds over all units.
std::map<std::string, double> measure(context const& at, std::map<std::string, unit> const& units,
                                      std::string const& level) {
    std::map<std::string, std::vector<double>> seconds;
    for (std::size_t round = 0; round < at.size(5, 3); ++round) {
        for (auto const& [name, one] : units) {
            if (one.is_long && round >= at.size(3, 1)) continue;
            std::vector<std::string> command{SETTLE_COMPILER, "-std=c++20", level, "-c", "-o",
                                             "/dev/null"};
            for (auto const* folder :
                 {"include", "adapters/memory/include", "adapters/sqlite/include"}) {
                command.push_back("-I" + (root / folder).string());
            }
            command.insert(command.end(), one.options.begin(), one.options.end());
            command.push_back(one.source);
            auto const used = run_child(command);
            if (used.exit_code != 0) throw wrong_result(name + " does not compile");
            seconds[name].push_back(used.processor_seconds);
        }
    }
    std::map<std::string, double> medians;
    for (auto& [name, values] : seconds) medians[name] = median(std::move(values));
    return medians;
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

std::string write_source(context const& at, std::string const& name, std::string const& text) {
    std::string path = at.file(name);
    std::ofstream file{path};
    file << text;
    if (!file.flush()) throw wrong_result("cannot write " + path);
    return path;
}

std::map<std::string, unit> make_units(context const& at) {
    std::string headers;
    for (auto const& one : header_walk{root / "include"}.foreign_of("settle/settle.hpp")) {
        headers.append("#include <").append(one).append(">\n");
    }
    std::string const tickets = write_source(at, "tickets.cpp", program_of_readme());
    std::map<std::string, unit> units{
        {"headers", {write_source(at, "headers.cpp", headers)}},
        {"settle", {(root / "benchmarks/compile/settle.cpp").string()}},
        {"tickets", {tickets, {}, true}},
        {"tickets, compiled", {tickets, {"-DSETTLE_COMPILED"}, true}}};
    for (auto const* store : {"memory", "SQLite"}) {
        for (auto const* types : {"1", "10"}) {
            bool const on_sqlite = std::string_view{store} == "SQLite";
            units[fmt::format("{} {}", store, types)] = {
                (root / "benchmarks/compile/types.cpp").string(),
                {"-DSETTLE_COMPILED", fmt::format("-DSETTLE_TYPES={}", types),
                 fmt::format("-DSETTLE_ON_SQLITE={}", on_sqlite ? 1 : 0)},
                true};
        }
    }
    return units;
}

/// The limits at one level of optimisation. A cost that does not count is shown with the limit of
/// the other level.
struct limits {
    std::string level;
    double header;
    double header_only;
    double compiled;
    double memory;
    double further;
    bool counts; ///< the limits of the header and of memory
};

add_case const compile{
    64, "compile time", [](context& at, std::string const& name) {
        auto const units = make_units(at);
        for (limits const& allowed : {limits{"-O0", 0.35, 5.8, 2.5, 1.8, 0.25, true},
                                      limits{"-O2", 0.35, 10.9, 3.5, 1.8, 0.5, false}}) {
            auto const seconds = measure(at, units, allowed.level);
            auto const add = [&](std::string const& subject, double used, double limit,
                                 bool counts) {
                at.add(row_of_limit(fmt::format("{}, {}: {}", name, allowed.level, subject), "s",
                                    used, limit, counts));
            };
            add("settle.hpp, over the headers that it includes",
                seconds.at("settle") - seconds.at("headers"), allowed.header, allowed.counts);
            add("the program of the README, header-only", seconds.at("tickets"),
                allowed.header_only, true);
            add("the program of the README, compiled part", seconds.at("tickets, compiled"),
                allowed.compiled, true);
            add("one type on memory, compiled part", seconds.at("memory 1"), allowed.memory,
                allowed.counts);
            for (std::string const store : {"memory", "SQLite"}) {
                double const further = (seconds.at(store + " 10") - seconds.at(store + " 1")) / 9;
                add("each further type of ten, " + store, further, allowed.further, true);
            }
        }
    }};

} // namespace

} // namespace bench
