// SPDX-License-Identifier: BSL-1.0
// The transfer application as its user meets it: counts, reports, exit codes, bad input.
#include <program.hpp>

#include <nlohmann/json.hpp>

#include <sys/stat.h>

namespace {

using testing::ended;
using testing::run_sample;
using testing::scratch_folder;

std::string const orders = testing::data_file("transfer/payment_orders.csv");

ended transfer(scratch_folder const& folder, std::vector<std::string> words) {
    words.insert(words.begin(), {"--store", "sqlite:" + folder.at("bank.db")});
    return run_sample(folder, "transfer", std::move(words));
}

nlohmann::json report_of(std::string const& path) {
    return nlohmann::json::parse(testing::read_file(path));
}

/// Runs the bank's file from the beginning with one opening balance.
nlohmann::json run_bank(scratch_folder const& folder, std::string const& balance) {
    auto const opened = transfer(folder, {"open", orders, "--balance", balance});
    REQUIRE_MESSAGE(opened.code == 0, opened.err);
    auto const ran = transfer(folder, {"run", orders, "--report", folder.at("report.json")});
    REQUIRE_MESSAGE(ran.code == 0, ran.out << ran.err);
    auto const checked = transfer(folder, {"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
    return report_of(folder.at("report.json"));
}

} // namespace

TEST_CASE("with 1000.00 on each account exactly 450 of the bank's 6,471 orders are canceled") {
    scratch_folder const folder{"bank-1000"};
    auto const report = run_bank(folder, "1000.00");
    CHECK(report["done"] == 6471 - 450);
    CHECK(report["canceled"] == 450);
    CHECK(report["undecided"] == 0);
    CHECK(report["refused"] == 0);
    CHECK(report["sum_before"] == report["sum_after"]);
    // 3,758 accounts that pay and 6,446 that are paid, with 100,000 hundredths on each.
    CHECK(report["sum_after"] == (3758 + 6446) * std::int64_t{100'000});
    std::uint64_t reasons = 0;
    for (auto const& one : report["reasons"].items()) reasons += one.value().get<std::uint64_t>();
    CHECK(reasons == 450);

    SUBCASE("the same file again runs nothing twice") {
        auto const again = transfer(folder, {"run", orders, "--report", folder.at("again.json")});
        CHECK(again.code == 0);
        auto const second = report_of(folder.at("again.json"));
        CHECK(second["done"] == report["done"]);
        CHECK(second["canceled"] == report["canceled"]);
        CHECK(second["sum_before"] == report["sum_after"]);
        CHECK(second["sum_after"] == report["sum_after"]);
    }
}

TEST_CASE("with 500.00 on each account 2,013 orders are canceled") {
    scratch_folder const folder{"bank-500"};
    auto const report = run_bank(folder, "500.00");
    CHECK(report["canceled"] == 2013);
    CHECK(report["done"] == 6471 - 2013);
}

TEST_CASE("two programs on one file at once end as one would") {
    scratch_folder const folder{"bank-twice"};
    std::string const store = "sqlite:" + folder.at("bank.db");
    REQUIRE(transfer(folder, {"open", orders, "--balance", "1000.00"}).code == 0);
    std::vector<std::string> const words{std::string{SETTLE_BIN_DIR} + "/transfer", "--store",
                                         store, "run", orders};
    testing::program first{folder, words};
    testing::program second{folder, words};
    auto const one = first.wait();
    auto const other = second.wait();
    CHECK_MESSAGE(one.code == 0, one.out << one.err);
    CHECK_MESSAGE(other.code == 0, other.out << other.err);
    auto const counted = transfer(folder, {"list", "--state", "canceled", "--json"});
    CHECK(nlohmann::json::parse(counted.out).size() == 450);
    CHECK(transfer(folder, {"check"}).code == 0);
}

TEST_CASE("a small file of one's own, its entries and its reversal") {
    scratch_folder const folder{"bank-plain"};
    auto const file = folder.write("plain.csv", "id,source,destination,amount\n"
                                                "p1,ann,bob,10.50\n"
                                                "p2,bob,ann,900\n"
                                                "p3,ann,bob,.80\n");
    REQUIRE(transfer(folder, {"open", file, "--balance", "100.00"}).code == 0);
    REQUIRE(transfer(folder, {"run", file}).code == 0);
    auto const ann = [&] { return transfer(folder, {"balance", "ann"}).out; };
    CHECK(ann().find("88.70") != std::string::npos);

    auto const listed = nlohmann::json::parse(transfer(folder, {"list", "--json"}).out);
    REQUIRE(listed.size() == 3);
    CHECK(listed[0]["id"] == "p1");
    CHECK(listed[0]["state"] == "done");
    CHECK(listed[0]["parameters"]["amount"] == 1050);
    CHECK(listed[1]["state"] == "canceled");
    CHECK(listed[1]["reason"] == "guard failed");
    CHECK(listed[1]["participant"] == "source");

    CHECK(transfer(folder, {"show", "p1"}).out.find("done") != std::string::npos);
    CHECK(transfer(folder, {"reverse", "p1"}).code == 0);
    CHECK(ann().find("99.20") != std::string::npos);
    CHECK(transfer(folder, {"reverse", "p1"}).code == 0);
    CHECK_MESSAGE(ann().find("99.20") != std::string::npos, "a reversal happens once");
    CHECK(transfer(folder, {"reverse", "p2"}).code == 1);
    CHECK(transfer(folder, {"cancel", "p1"}).code == 1);

    auto const unknown = transfer(folder, {"cancel", "p9"});
    CHECK(unknown.code == 1);
    CHECK(unknown.err.find("--even-if-unknown") != std::string::npos);
    CHECK(transfer(folder, {"cancel", "p9", "--even-if-unknown"}).code == 0);
    auto const late = folder.write("late.csv", "id,source,destination,amount\np9,ann,bob,1\n");
    CHECK(transfer(folder, {"run", late, "--report", folder.at("late.json")}).code == 0);
    CHECK(report_of(folder.at("late.json"))["canceled"] == 1);
    CHECK(transfer(folder, {"check"}).code == 0);
}

TEST_CASE("every bad line gets its sentence and number, and the good ones still run") {
    scratch_folder const folder{"bank-bad"};
    auto const file = folder.write("bad.csv", "\xEF\xBB\xBFid,source,destination,amount\r\n"
                                              "a1,ann,bob,1.00\r\n"
                                              "a2,ann,bob,-1.00\r\n"
                                              "a3,ann,bob,0\r\n"
                                              "a4,ann,bob,1.005\r\n"
                                              "a5,ann,bob,99999999999999999999\r\n"
                                              "a6,ann,ann,1.00\r\n"
                                              "a7,ann,zoe,1.00\r\n"
                                              "a8,ann,bob\r\n"
                                              "a1,ann,bob,2.00\r\n"
                                              "a9,\"ann\",\"bob\",\"2.00\"\r\n"
                                              "b1,ann,bob,one\r\n");
    auto const names = folder.write("names.csv", "id,source,destination,amount\nx,ann,bob,1\n");
    REQUIRE(transfer(folder, {"open", names, "--balance", "10.00"}).code == 0);
    auto const ran = transfer(folder, {"run", file, "--report", folder.at("report.json")});
    CHECK(ran.code == 1);
    auto const report = report_of(folder.at("report.json"));
    CHECK(report["done"] == 2);
    CHECK(report["refused"] == 9);
    for (int const line : {3, 4, 5, 6, 7, 8, 9, 10, 12}) {
        INFO("line " << line << " in:\n" << ran.out << ran.err);
        CHECK((ran.out + ran.err).find("line " + std::to_string(line)) != std::string::npos);
    }
    CHECK(transfer(folder, {"check"}).code == 0);
    CHECK(transfer(folder, {"balance", "bob"}).out.find("13.00") != std::string::npos);
}

TEST_CASE("files and stores that cannot be used: one sentence, and nothing is changed") {
    scratch_folder const folder{"bank-unfit"};
    auto const names = folder.write("names.csv", "id,source,destination,amount\nx,ann,bob,1\n");
    REQUIRE(transfer(folder, {"open", names, "--balance", "10.00"}).code == 0);
    auto const one_sentence = [](ended const& how, int code) {
        INFO(how.out << how.err);
        CHECK(how.code == code);
        CHECK(std::count(how.err.begin(), how.err.end(), '\n') == 1);
        CHECK(how.err.find("terminate") == std::string::npos);
    };
    one_sentence(transfer(folder, {"run", folder.at("missing.csv")}), 1);
    one_sentence(transfer(folder, {"run", folder.write("empty.csv", "")}), 1);
    one_sentence(transfer(folder, {"run", folder.write("other.csv", "a,b\n1,2\n")}), 1);

    auto const with_store = [&](std::string const& path) {
        return run_sample(folder, "transfer", {"--store", "sqlite:" + path, "check"});
    };
    one_sentence(with_store(folder.write("text.db", std::string(4096, 'x'))), 3);
    one_sentence(with_store(folder.at("no-such-folder/bank.db")), 3);
    if (::geteuid() != 0) {
        // Root may write everywhere, so only others can see this refusal.
        ::chmod(folder.at("bank.db").c_str(), 0400);
        one_sentence(transfer(folder, {"run", names}), 3);
        ::chmod(folder.at("bank.db").c_str(), 0600);
    }
    CHECK(run_sample(folder, "transfer", {"--store", "oracle:x", "check"}).code == 2);
    CHECK(run_sample(folder, "transfer", {"--no-such-option"}).code == 2);
    CHECK(run_sample(folder, "transfer", {}).code == 2);
    CHECK(transfer(folder, {"check"}).code == 0);
}

TEST_CASE("an interrupted run stops after what is in flight, and the next one goes on") {
    scratch_folder const folder{"bank-interrupt"};
    std::string const store = "sqlite:" + folder.at("bank.db");
    REQUIRE(transfer(folder, {"open", orders, "--balance", "1000.00"}).code == 0);
    testing::program run{folder, {std::string{SETTLE_BIN_DIR} + "/transfer", "--store", store,
                                  "run", orders}};
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    run.signal(SIGINT);
    auto const stopped = run.wait();
    CHECK_MESSAGE(stopped.code == 3, stopped.out << stopped.err);
    CHECK_MESSAGE(transfer(folder, {"check"}).code == 0, "what was in flight has come to its end");
}
