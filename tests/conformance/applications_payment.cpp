// SPDX-License-Identifier: BSL-1.0
// The payment application on the shop's published invoices.
#include <program.hpp>

#include <nlohmann/json.hpp>

namespace payment_test {

namespace {

using testing::ended;
using testing::run_sample;
using testing::scratch_folder;

std::string const invoices = testing::data_file("payment/online_retail.csv");

ended payment(scratch_folder const& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--store", "sqlite:" + folder.at("shop.db")});
    return run_sample(folder, "payment", std::move(arguments));
}

/// Every id with its final state and its reason.
std::vector<std::string> ends(nlohmann::json const& listed) {
    std::vector<std::string> texts;
    for (auto const& one : listed) {
        nlohmann::json const end{one["id"], one["state"], one["reason"], one["participant"]};
        texts.push_back(end.dump());
    }
    return texts;
}

} // namespace

TEST_CASE("payment: the shop has 366 orders and 43 refunds done, 34 canceled, 69 refused") {
    scratch_folder const folder{"shop"};
    auto const opened =
        payment(folder, {"open", invoices, "--balance", "2000.00", "--stock", "1000"});
    REQUIRE_MESSAGE(opened.code == 1, opened.out << opened.err);
    std::filesystem::copy_file(folder.at("shop.db"), folder.at("opened.db"));
    auto const ran = payment(folder, {"run", invoices, "--report", folder.at("report.json")});
    CHECK_MESSAGE(ran.code == 1, ran.out << ran.err);
    auto const report = nlohmann::json::parse(testing::read_file(folder.at("report.json")));
    CHECK(report["done"] == 366 + 43);
    CHECK(report["canceled"] == 32 + 2);
    CHECK(report["refused"] == 69);
    CHECK(report["undecided"] == 0);
    CHECK(report["sum_before"] == report["sum_after"]);
    auto const checked = payment(folder, {"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);

    auto const listed = nlohmann::json::parse(payment(folder, {"list", "--json"}).out);
    std::size_t orders = 0;
    std::size_t refunds = 0;
    std::size_t for_balance = 0;
    std::size_t for_stock = 0;
    for (auto const& entry : listed) {
        bool const done = entry["state"] == "done";
        if (entry["type"] == "payment") orders += done ? 1U : 0U;
        if (entry["type"] == "refund") refunds += done ? 1U : 0U;
        if (entry["participant"] == "customer") ++for_balance;
        if (entry["participant"] == "stock") ++for_stock;
    }
    CHECK(orders == 366);
    CHECK(refunds == 43);
    CHECK(for_balance == 32);
    CHECK(for_stock == 2);

    SUBCASE("any batch size and thread count pays the same orders") {
        using arguments = std::vector<std::string>;
        std::vector<arguments> const paces{{"--batch", "1"},
                                           {"--batch", "10", "--threads", "2"},
                                           {"--threads", "4"},
                                           {"--two-phases"},
                                           {"--two-phases", "--batch", "20", "--threads", "3"}};
        auto const expected = ends(listed);
        for (auto const& pace : paces) {
            // Over the same file, so its log stays at home.
            std::filesystem::copy_file(folder.at("opened.db"), folder.at("shop.db"),
                                       std::filesystem::copy_options::overwrite_existing);
            arguments all{"run", invoices, "--report", folder.at("report.json")};
            all.insert(all.end(), pace.begin(), pace.end());
            auto const paced = payment(folder, all);
            INFO("run " << pace.front() << '\n' << paced.out << paced.err);
            CHECK(paced.code == 1);
            CHECK(payment(folder, {"check"}).code == 0);
            auto other = nlohmann::json::parse(testing::read_file(folder.at("report.json")));
            for (auto const* what : {"done", "canceled", "refused", "reasons", "remarks"}) {
                CHECK(other[what] == report[what]);
            }
            auto const found = nlohmann::json::parse(payment(folder, {"list", "--json"}).out);
            CHECK(ends(found) == expected);
        }
    }
    SUBCASE("a reversed order is unpaid again, and the money is back") {
        std::string const first = listed[0]["id"];
        REQUIRE(listed[0]["state"] == "done");
        auto const reversed = payment(folder, {"reverse", first});
        CHECK_MESSAGE(reversed.code == 0, reversed.out << reversed.err);
        CHECK(payment(folder, {"check"}).code == 0);
    }
    SUBCASE("a second run of the file runs nothing twice") {
        auto const again = payment(folder, {"run", invoices, "--report", folder.at("again.json")});
        CHECK(again.code == 1);
        auto const second = nlohmann::json::parse(testing::read_file(folder.at("again.json")));
        CHECK(second["done"] == report["done"]);
        CHECK(second["sum_after"] == report["sum_after"]);
    }
}

} // namespace payment_test
