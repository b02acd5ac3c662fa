// SPDX-License-Identifier: BSL-1.0
// What Prometheus' own program says of the text and of the alert rules, and whether the rules and
// the dashboard name figures that exist.
#include "metrics_text.hpp"

#include <unit/prepared_banks.hpp>

#include <settle/metrics/thread.hpp>

#include <nlohmann/json.hpp>

#include <regex>
#include <set>

namespace operating_test {
namespace {

using namespace prepared_test;

std::string const folder_of_metrics = std::string{SETTLE_DATA_DIR} + "/../include/settle/metrics/";

/// The text of an engine whose every figure has a sample: also one in doubt.
std::string full_text() {
    banks banks;
    settle::metrics const numbers;
    auto const work = [&](database::connection& connection, booking const& request) {
        return banks.book(connection, request);
    };
    banks.watch = kill_after(settle::step::commit);
    auto killed_worker = banks.make();
    CHECK_THROWS_AS(std::ignore = killed_worker.run("t", usual), killed);
    settle::engine engine{settle::log_in(banks.records),
                          settle::bind(accounts, banks.records),
                          settle::bind(ledger, banks.books, work),
                          settle::type<payment_type>,
                          settle::with_environment(manual_environment{banks.world}),
                          settle::observed_by(numbers)};
    CHECK(engine.run("u", payment{"A", "Y", 10}).done());
    CHECK(engine.run("v", payment{"A", "X", 1000}).why == reason::guard_failed);
    std::string text;
    {
        settle::metrics_thread const watcher{engine, numbers};
        await(
            [&] { return written(numbers, "settle_prepared_in_doubt{store=\"ledger\"}") == "1"; });
        text = numbers.text();
    }
    CHECK(written(text, R"(settle_unfinished_entries{type="payment",state="applied"})") == "1");
    CHECK_FALSE(
        written(text, R"(settle_call_seconds_count{store="ledger",call="confirm"})").empty());
    CHECK(engine.recover(of_any_age()).done == 1);
    return text;
}

/// The names of all families of a text, and those of the parts of a histogram.
std::set<std::string> names_in(std::string const& text) {
    std::set<std::string> names;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        constexpr std::string_view family = "# TYPE ";
        if (line.starts_with(family)) line.erase(0, family.size());
        if (!line.starts_with('#')) names.insert(line.substr(0, line.find_first_of(" {")));
    }
    return names;
}

/// Names in an expression that the text does not have.
std::vector<std::string> unknown_in(std::string const& expression, std::string const& text) {
    auto const known = names_in(text);
    std::vector<std::string> unknown;
    std::regex const name{"settle_[a-z_]+"};
    for (std::sregex_iterator found{expression.begin(), expression.end(), name}, end; found != end;
         ++found) {
        if (!known.contains(found->str())) unknown.push_back(found->str());
    }
    return unknown;
}

} // namespace

TEST_CASE("metrics: promtool finds nothing to say of the text") {
    auto const promtool = installed("promtool", "prometheus");
    testing::scratch_folder const folder{"promtool"};
    auto const file = folder.write("metrics.txt", full_text());
    CHECK(said_by(promtool + " check metrics < " + file).empty());
    // The check can fail.
    auto const wrong = folder.write("wrong.txt", "# TYPE settle_ended counter\nsettle_ended 1\n");
    auto const refused = said_by(promtool + " check metrics < " + wrong + " || true");
    CHECK(refused.find("counter metrics should have \"_total\" suffix") != std::string::npos);
}

TEST_CASE("metrics: promtool takes the alert rules, which name figures that exist") {
    auto const promtool = installed("promtool", "prometheus");
    auto const file = folder_of_metrics + "alerts.yml";
    CHECK(said_by(promtool + " check rules " + file).find("SUCCESS") != std::string::npos);
    auto const rules = testing::read_file(file);
    CHECK(rules.find("settle_stuck_total") != std::string::npos);
    CHECK(unknown_in(rules, full_text()) == std::vector<std::string>{});
}

TEST_CASE("metrics: the dashboard is JSON, and its panels name figures that exist") {
    auto const dashboard =
        nlohmann::json::parse(testing::read_file(folder_of_metrics + "dashboard.json"));
    auto const text = full_text();
    std::set<std::string> titles;
    for (auto const& panel : dashboard.at("panels")) {
        CHECK(titles.insert(panel.at("title").get<std::string>()).second);
        for (auto const& target : panel.at("targets")) {
            auto const expression = target.at("expr").get<std::string>();
            CAPTURE(expression);
            CHECK(expression.find("settle_") != std::string::npos);
            CHECK(unknown_in(expression, text) == std::vector<std::string>{});
        }
    }
    CHECK(titles.size() == dashboard.at("panels").size());
}

} // namespace operating_test
