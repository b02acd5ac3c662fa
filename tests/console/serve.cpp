// SPDX-License-Identifier: BSL-1.0
// The command `serve` of a sample, on its file.
#include "client.hpp"

#include <program.hpp>
#include <server_process.hpp>

namespace console_serve {
namespace {

using settle_test::get_json, settle_test::request, settle_test::wait_until;

TEST_CASE("long: console: a sample serves its page, its entries and its figures") {
    std::string const program = std::string{SETTLE_BIN_DIR} + "/transfer";
    if (::access(program.c_str(), X_OK) != 0) settle_test::skip("there is no " + program);
    testing::scratch_folder const folder{"serve"};
    auto const store = "sqlite:" + folder.at("bank.db");
    auto const orders = testing::data_file("transfer/payment_orders.csv");
    auto const opened = testing::run_sample(
        folder, "transfer",
        {"--store", store, "open", orders, "--balance", "1000.00", "run", orders});
    REQUIRE_MESSAGE(opened.code == 0, opened.err);
    testing::program serving{folder, {program, "--store", store, "serve", "--port", "0"}};
    std::string const before = "the console is at http://127.0.0.1:";
    CHECK(wait_until(std::chrono::minutes{1}, [&] {
        return serving.printed().find('\n') != std::string::npos || serving.has_ended();
    }));
    if (serving.complained().find("SETTLE_SAMPLES_SERVE") != std::string::npos)
        settle_test::skip("the samples are built without SETTLE_SAMPLES_SERVE=ON");
    auto const said = serving.printed();
    REQUIRE_MESSAGE(said.starts_with(before), said << serving.complained());
    settle_test::console_port const console{std::stoi(said.substr(before.size()))};

    auto const overview = get_json(console, "/").json();
    CHECK(overview["transactions"]["in_flight"] == 0);
    CHECK(!overview["transactions"]["ended_by_minute"].empty());
    CHECK(overview["stores"][0]["answers"] == true);
    CHECK(request(console, "GET", "/", "Accept: text/html\r\n").body.starts_with("<!doctype"));
    CHECK(get_json(console, "/entries?limit=5").json()["entries"].size() == 5);
    std::string figures;
    CHECK(wait_until(std::chrono::minutes{1}, [&] {
        figures = request(console, "GET", "/metrics").body;
        return figures.find("settle_unfinished_entries_timestamp_seconds") != std::string::npos;
    }));
    CHECK(figures.find("settle_transactions_in_flight") != std::string::npos);
    serving.signal(SIGINT);
    CHECK(serving.wait().code == 0);
}

} // namespace
} // namespace console_serve
