// SPDX-License-Identifier: BSL-1.0
// Runs the sample applications on the databases of a server, and compares them with a file.
#pragma once

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <program.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace testing {

/// The first lines of a table of the samples, in a file.
inline std::string first_lines(scratch_folder const& folder, std::string const& table, int count) {
    std::ifstream whole{data_file(table)};
    std::string text;
    std::string line;
    while (count-- > 0 && std::getline(whole, line)) text += line + '\n';
    return folder.write("input.csv", text);
}

inline ended call_sample(scratch_folder const& folder, std::string const& program,
                         std::string const& store, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--store", store});
    return run_sample(folder, program, std::move(arguments));
}

/// A program and its table.
struct sample_table {
    std::string program;
    std::string table;
    int lines;
    std::vector<std::string> opening; ///< arguments of `open` besides the file
};

/// The report of a run, without its time.
/// Shape:   store - the address of an empty database; pace - arguments of `run`
inline nlohmann::json report_of_run(scratch_folder const& folder, sample_table const& what,
                                    std::string const& store,
                                    std::vector<std::string> const& pace) {
    auto const input = folder.at("input.csv");
    std::vector<std::string> open{"open", input};
    open.insert(open.end(), what.opening.begin(), what.opening.end());
    auto const opened = call_sample(folder, what.program, store, open);
    REQUIRE_MESSAGE(opened.code <= 1, opened.err);
    std::vector<std::string> running{"run", input, "--report", folder.at("report.json")};
    running.insert(running.end(), pace.begin(), pace.end());
    auto const ran = call_sample(folder, what.program, store, running);
    REQUIRE_MESSAGE(ran.code <= 1, ran.err);
    auto const checked = call_sample(folder, what.program, store, {"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out);
    auto report = nlohmann::json::parse(read_file(folder.at("report.json")));
    report.erase("seconds");
    return report;
}

/// Each pace has the same outcomes in a database of a server as in a file.
/// Shape:   make() - gives an object with address(), of an empty database
template <typename Make>
void same_as_in_a_file(scratch_folder const& folder, sample_table const& what,
                       std::vector<std::vector<std::string>> const& paces, Make&& make) {
    first_lines(folder, what.table, what.lines);
    auto const expected =
        report_of_run(folder, what, "sqlite:" + folder.at("here.db"), {"--batch", "50"});
    std::filesystem::remove(folder.at("here.db"));
    CHECK(expected["done"] > 0);
    CHECK(expected["canceled"] > 0);
    for (auto const& pace : paces) {
        auto const own = make();
        CHECK(report_of_run(folder, what, own.address(), pace) == expected);
    }
}

inline sample_table const bank_table{
    "transfer", "transfer/payment_orders.csv", 200, {"--balance", "500.00"}};
inline sample_table const shop_table{
    "payment", "payment/online_retail.csv", 300, {"--balance", "300.00", "--stock", "40"}};

} // namespace testing
