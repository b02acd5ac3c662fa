// SPDX-License-Identifier: BSL-1.0
// The applications read files as people and programs write them.
#include <contains.hpp>
#include <program.hpp>
#include <sql.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace input_test {

namespace {

using testing::contains;
using testing::ended;
using testing::run_sample;
using testing::scratch_folder;
using arguments = std::vector<std::string>;

ended call(scratch_folder const& folder, std::string const& program, arguments more) {
    more.insert(more.begin(), {"--store", "sqlite:" + folder.at(program + ".db")});
    return run_sample(folder, program, std::move(more));
}

/// Opens and runs a file, and gives the report.
nlohmann::json report_of(scratch_folder const& folder, std::string const& program,
                         std::string const& file, int code = 0) {
    arguments opening{"open", file, "--balance", "1000.00"};
    if (program == "payment") opening.insert(opening.end(), {"--stock", "1000"});
    auto const opened = call(folder, program, opening);
    CHECK_MESSAGE(opened.code <= code, opened.out << opened.err);
    auto const ran = call(folder, program, {"run", file, "--report", folder.at("report.json")});
    CHECK_MESSAGE(ran.code == code, ran.out << ran.err);
    auto const checked = call(folder, program, {"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
    return nlohmann::json::parse(testing::read_file(folder.at("report.json")));
}

std::vector<std::string> sentences(nlohmann::json const& report) {
    std::vector<std::string> remarks;
    for (auto const& each : report["remarks"]) {
        remarks.push_back(each["line"].dump() + ": " + each["sentence"].get<std::string>());
    }
    return remarks;
}

std::string const header = "id,source,destination,amount\n";
std::string const invoice_header = "InvoiceNo,StockCode,Quantity,UnitPrice,CustomerID\n";

} // namespace

TEST_CASE("input: equal rows with one id are one transfer, and the report names both lines") {
    scratch_folder const folder{"input-equal"};
    auto const file = folder.write("f.csv", header + "o1,ann,bob,1\no2,bob,ann,5000\no1,ann,bob,1\n"
                                                     "o2,bob,ann,5000\no1,ann,bob,2\n");
    auto report = report_of(folder, "transfer", file, 1);
    CHECK(report["done"] == 1);
    CHECK(report["canceled"] == 1);
    CHECK(report["repeated"] == 2);
    CHECK(report["refused"] == 1);
    auto const reply = sentences(report);
    REQUIRE(reply.size() == 3);
    CHECK(reply[0] == "4: 'o1' repeats line 2: the two are one, and it is done");
    CHECK(reply[1] == "5: 'o2' repeats line 3: the two are one, and it is canceled");
    CHECK(contains(reply[2], "6: 'o1': "));
    CHECK(contains(reply[2], "; line 2 named it first"));
    CHECK(call(folder, "transfer", {"balance", "bob"}).out == "1001.00\n");
    for (arguments const& pace :
         {arguments{"--threads", "3"}, arguments{"--batch", "1"}, arguments{}}) {
        arguments again{"run", file, "--report", folder.at("report.json")};
        again.insert(again.end(), pace.begin(), pace.end());
        auto const ran = call(folder, "transfer", again);
        CHECK(contains(ran.out, "  repeated   2\n"));
        report = nlohmann::json::parse(testing::read_file(folder.at("report.json")));
        CHECK(report["earlier"] == 2);
        CHECK(report["repeated"] == 2);
        CHECK(sentences(report) == reply);
    }
}

TEST_CASE("input: a refused row opens no account, no customer and no stock") {
    scratch_folder const folder{"input-refused"};
    auto const file = folder.write("f.csv", header + "o1,ann,bob,1\n" + header +
                                                "o2,cid,dan,0\no3,eve,eve,1\n,fay,gus,1\n"
                                                "o4,hal,ida\no5,jim,kay,1.234\n");
    auto const report = report_of(folder, "transfer", file, 1);
    CHECK(report["done"] == 1);
    CHECK(report["refused"] == 6);
    CHECK(call(folder, "transfer", {"balance"}).out == "ann                            999.00\n"
                                                       "bob                           1001.00\n"
                                                       "sum                           2000.00\n");

    auto const invoices = folder.write("i.csv", invoice_header + "1,x,1,1,7\n" + invoice_header +
                                                    "2,y,0,1,8\n3,z,1,1,\n"
                                                    "C4,w,1,1,9\n");
    CHECK(report_of(folder, "payment", invoices, 1)["refused"] == 4);
    CHECK(testing::ask(folder.at("payment.db"), "SELECT id FROM customers").size() == 1);
    CHECK(testing::ask(folder.at("payment.db"), "SELECT stock_code FROM items").size() == 1);
}

TEST_CASE("input: no id, name or error can forge a line or control the terminal") {
    scratch_folder const folder{"input-raw"};
    std::string const wild = "o1  transfer  done\x1B[2J\xE2\x80\xAE\xC2\x9B"
                             "1m";
    std::string const shown = "o1  transfer  done\\x1b[2J\\u202e\\x9b1m";
    auto const file =
        folder.write("f.csv", header + "\"" + wild + "\",\"an\tn\",\"b\aob\",1\n\"" + wild +
                                  "2\",\"an\tn\",\"zo\x1B"
                                  "e\",x\n");
    auto const opened = call(folder, "transfer", {"open", file, "--balance", "10"});
    auto const ran = call(folder, "transfer", {"run", file, "--report", folder.at("r.json")});
    CHECK(ran.code == 1);
    std::vector<ended> results{opened, ran};
    std::vector<arguments> const lines{{"list"},
                                       {"list", "--json"},
                                       {"list", "--state", wild},
                                       {"show", wild},
                                       {"show", wild, "--json"},
                                       {"balance"},
                                       {"balance", wild},
                                       {"cancel", wild},
                                       {"cancel", wild + "9"},
                                       {"reverse", wild},
                                       {"check"},
                                       {"check", wild},
                                       {"show", "o1\nx2  transfer"},
                                       {wild},
                                       {"-" + wild},
                                       {"--store", wild, "check"},
                                       {"--store", "sqlite:" + wild, "check"},
                                       {"run", wild},
                                       {"run", file, "--batch", wild},
                                       {"run", file, "--report", "/none/" + wild},
                                       {"recover", "--older-than", wild}};
    for (arguments const& each : lines) {
        results.push_back(call(folder, "transfer", each));
    }
    for (auto const& how : results) {
        for (std::string const& text : {how.out, how.err}) {
            INFO(text);
            bool const raw = std::any_of(text.begin(), text.end(), [](char each) {
                return (each >= 0 && each < ' ' && each != '\n') || each == '\x7F';
            });
            CHECK_FALSE(raw);
            CHECK_FALSE(contains(text, "\nx2  transfer"));
            CHECK_FALSE(contains(text, "\xE2\x80\xAE"));
            CHECK_FALSE(contains(text, "\xC2\x9B"));
        }
    }
    CHECK(contains(call(folder, "transfer", {"list"}).out, shown));
    CHECK(contains(call(folder, "transfer", {"balance"}).out, "an\\tn "));
    auto const listed = nlohmann::json::parse(call(folder, "transfer", {"list", "--json"}).out);
    CHECK_MESSAGE(listed[0]["id"] == wild, "JSON is exact");
    CHECK(listed[0]["parameters"]["destination"] == "b\aob");
}

} // namespace input_test
