// SPDX-License-Identifier: BSL-1.0
// The command `picture` of the samples prints what their pages show.
#include <program.hpp>

namespace {

/// True if a page has this text as a chart.
bool shows(std::string const& page, std::string const& chart) {
    return testing::read_file(testing::data_file(page)).find("```mermaid\n" + chart + "```\n") !=
           std::string::npos;
}

} // namespace

TEST_CASE("picture: the samples print their types, and open no store") {
    testing::scratch_folder const folder{"picture"};
    auto const drawn = testing::run_sample(folder, "transfer", {"picture"});
    CHECK(drawn.code == 0);
    CHECK(shows("transfer/README.md", drawn.out.substr(0, drawn.out.size() - 1)));
    // The program of trips has one type, too.
    auto const trip = testing::run_sample(folder, "trip", {"picture"});
    CHECK(trip.code == 0);
    CHECK(shows("trip/README.md", trip.out.substr(0, trip.out.size() - 1)));
    auto const dot = testing::run_sample(folder, "transfer",
                                         {"--store", "sqlite:/nowhere/x.db", "picture", "--dot"});
    CHECK(dot.code == 0);
    CHECK(dot.out.starts_with("digraph \"transfer\" {"));
    auto const both = testing::run_sample(folder, "payment", {"picture"});
    CHECK(both.out.find("([\"payment<br/>") != std::string::npos);
    CHECK(both.out.find("([\"refund") != std::string::npos);
    auto const wrong = testing::run_sample(folder, "transfer", {"picture", "check"});
    CHECK(wrong.code == 2);
    CHECK(wrong.err.find("'picture' stands alone") != std::string::npos);
}

TEST_CASE("model: the samples print the model of a type, and open no store") {
    testing::scratch_folder const folder{"model"};
    auto const first =
        testing::run_sample(folder, "payment", {"--store", "sqlite:/nowhere/x.db", "promela"});
    CHECK(first.code == 0);
    CHECK(first.out.starts_with("/* The protocol of the transaction type 'payment', "));
    auto const named = testing::run_sample(folder, "payment", {"tla", "refund"});
    CHECK(named.code == 0);
    CHECK(named.out.starts_with("---- MODULE refund ----\n"));
    auto const wrong = testing::run_sample(folder, "payment", {"tla", "order"});
    CHECK(wrong.code == 2);
    CHECK(wrong.err.find("there is no transaction type 'order', but 'payment', 'refund'") !=
          std::string::npos);
}
