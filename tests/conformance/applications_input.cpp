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
    std::vector<std::string> found;
    for (auto const& each : report["remarks"]) {
        found.push_back(each["line"].dump() + ": " + each["sentence"].get<std::string>());
    }
    return found;
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
    CHECK(report["refused"] == 5);
    CHECK(call(folder, "transfer", {"balance"}).out == "ann                            999.00\n"
                                                       "bob                           1001.00\n"
                                                       "sum                           2000.00\n");

    auto const invoices = folder.write("i.csv", invoice_header + "1,x,1,1,7\n" + invoice_header +
                                                    "2,y,0,1,8\n3,z,1,1,\n"
                                                    "C4,w,1,1,9\n");
    CHECK(report_of(folder, "payment", invoices, 1)["refused"] == 3);
    CHECK(testing::ask(folder.at("payment.db"), "SELECT id FROM customers").size() == 1);
    CHECK(testing::ask(folder.at("payment.db"), "SELECT stock_code FROM items").size() == 1);
}

TEST_CASE("input: lines that are not rows do not change the exit code") {
    scratch_folder const folder{"input-total"};
    auto const file = folder.write("f.csv", header + "o1,ann,bob,1\n,,,\n\xEF\xBB\xBFID;x,,,\n"
                                                     "o2,bob,ann,2\n,,,3.00\nTotal,,,3.00\n"
                                                     ",,,\n");
    // The line above is not a header: it names other columns.
    auto const refused = report_of(folder, "transfer", file, 1);
    CHECK(refused["refused"] == 1);
    auto const good = folder.write("g.csv", header + "o3,ann,bob,1\n,,,\n\xEF\xBB\xBFId,SOURCE, "
                                                     "destination,Amount\no4,bob,ann,2\n,,,3.00\n"
                                                     "Total,,,3.00\n,,,\n");
    auto const report = report_of(folder, "transfer", good);
    CHECK(report["done"] == 2);
    CHECK(report["refused"] == 0);
    CHECK(report["remarks"].size() == 3);
    auto const invoices = folder.write("i.csv", invoice_header + "1,x,1,1,7\n,,,,\n,,1,,\n"
                                                                 "Grand Total:,,1,1,\n");
    auto const paid = report_of(folder, "payment", invoices);
    CHECK(paid["done"] == 1);
    CHECK(paid["remarks"].size() == 2);
}

TEST_CASE("input: an invoice with scattered lines is paid whole and reported") {
    scratch_folder const folder{"input-scattered"};
    auto const file = folder.write("i.csv", invoice_header + "1001,x,1,1,7\n1002,y,1,1,7\n"
                                                             "1001,z,2,3,7\n");
    auto const report = report_of(folder, "payment", file);
    CHECK(report["done"] == 2);
    auto const reply = sentences(report);
    REQUIRE(reply.size() == 1);
    CHECK(contains(reply[0], "4: invoice '1001' has this line and others from line 2 on"));
    CHECK(call(folder, "payment", {"balance", "shop"}).out == "8.00\n");

    auto const twice = folder.write("t.csv", invoice_header + "1,x,1,1,7\n2,y,1,1,7\n1,x,1,1,7\n");
    auto const refused = report_of(folder, "payment", twice, 1);
    CHECK(refused["done"] == 1);
    CHECK(refused["refused"] == 1);
    CHECK(call(folder, "payment", {"balance", "shop"}).out == "9.00\n");
}

TEST_CASE("input: the shop's file has the same outcomes when it is sorted by stock code") {
    scratch_folder const folder{"input-sorted"};
    std::ifstream all{testing::data_file("payment/online_retail.csv")};
    std::string line;
    std::getline(all, line);
    auto const head = line;
    std::vector<std::string> lines;
    while (lines.size() < 2500 && std::getline(all, line)) lines.push_back(line);
    auto const text_of = [&] {
        auto text = head + "\n";
        for (auto const& each : lines) text += each + "\n";
        return text;
    };
    auto const report = [&](std::string const& name) {
        scratch_folder const own{"input-sorted-" + name};
        auto found = report_of(own, "payment", own.write("i.csv", text_of()), 1);
        for (auto const* what : {"seconds", "remarks"}) found.erase(what);
        return found;
    };
    auto const expected = report("before");
    CHECK(expected["done"] > 50);
    CHECK(expected["canceled"] > 0);
    std::stable_sort(lines.begin(), lines.end(), [](auto const& one, auto const& other) {
        return one.substr(one.find(',')) < other.substr(other.find(','));
    });
    CHECK(report("behind") == expected);
}

TEST_CASE("input: delimiters, decimal commas and column names of other programs are accepted") {
    scratch_folder const folder{"input-dialects"};
    arguments const files{"id;source;destination;amount\no1;ann;bob;12,50\n",
                          "sep=;\nORDER_ID;Source;Destination;Amount\no2;ann;bob;12,50\n",
                          "order id\t source \tdestination\tamount\no3\tann\tbob\t12.50\n",
                          "Id|SOURCE|Destination|Amount\no4|ann|bob|12.5\n",
                          "id,source,destination,amount,note\no5,ann,bob,\"12,50\",caf\xE9\n"};
    for (auto const& text : files) {
        CAPTURE(text);
        auto const report = report_of(folder, "transfer", folder.write("f.csv", text));
        CHECK(report["done"] == 1);
        CHECK(report["refused"] == 0);
    }
    CHECK(call(folder, "transfer", {"balance", "bob"}).out == "1062.50\n");
    auto const open = [&](std::string const& text) {
        auto const how = call(folder, "transfer", {"run", folder.write("f.csv", text)});
        CHECK(how.code == 1);
        return how.out + how.err;
    };
    CHECK(contains(open("a,b\n1,2\n"),
                   "there is no column 'id' or 'order_id'; the header names a, b."));
    CHECK(contains(open("id;source;destination;amount\no9;ann;bob;1.000,50\n"),
                   "seems to have thousands separators"));
    CHECK(
        contains(open(header + "o9,ann,bob,12,50\n"), "a field that contains a comma must be in"));
    CHECK(contains(open(header + "o9;ann;bob;12\n"), "delimiter a semicolon instead of a comma?"));
    auto const retail = folder.write("i.csv", "Invoice;Stock Code;Quantity;Price;Customer ID;x\n"
                                              "1;x;2;2,55;7;caf\xE9\n");
    CHECK(report_of(folder, "payment", retail)["done"] == 1);
    CHECK(call(folder, "payment", {"balance", "shop"}).out == "5.10\n");
}

TEST_CASE("input: no id, name or error can forge a line or control the terminal") {
    scratch_folder const folder{"input-raw"};
    std::string const wild = "o1\nx2  transfer  done\x1B[2J\xE2\x80\xAE\xC2\x9B"
                             "1m";
    std::string const shown = "o1\\nx2  transfer  done\\x1b[2J\\u{202e}\\u{9b}1m";
    auto const file =
        folder.write("f.csv", header + "\"" + wild + "\",\"an\tn\",\"b\nob\",1\n\"" + wild +
                                  "2\",\"an\tn\",\"zo\x1B"
                                  "e\",x\n");
    auto const opened = call(folder, "transfer", {"open", file, "--balance", "10"});
    auto const ran = call(folder, "transfer", {"run", file, "--report", folder.at("r.json")});
    CHECK(ran.code == 1);
    std::vector<ended> all{opened, ran};
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
                                       {wild},
                                       {"-" + wild},
                                       {"--store", wild, "check"},
                                       {"--store", "sqlite:" + wild, "check"},
                                       {"run", wild},
                                       {"run", file, "--batch", wild},
                                       {"run", file, "--report", "/none/" + wild},
                                       {"recover", "--older-than", wild}};
    for (arguments const& each : lines) {
        all.push_back(call(folder, "transfer", each));
    }
    for (auto const& how : all) {
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
    CHECK(listed[0]["parameters"]["destination"] == "b\nob");
}

TEST_CASE("input: names that look alike are reported and kept unchanged") {
    scratch_folder const folder{"input-alike"};
    auto const file = folder.write("f.csv", header + "o1,ann,bob,1\n\"o1 \",ann ,bob,1\n"
                                                     "o3,\xC2\xA0"
                                                     "ann,caf\xC3\xA9,1\n"
                                                     "o4,bob,cafe\xCC\x81,1\n"
                                                     "o5,b\xE2\x80\x8Bob,ann,1\n");
    auto const opened = call(folder, "transfer", {"open", file, "--balance", "10"});
    CHECK_MESSAGE(opened.code == 0, opened.err);
    CHECK(contains(opened.out, "line 3: 'ann ' and 'ann' of the accounts differ only in spaces, "));
    CHECK(contains(opened.out, "line 4: '\\u{a0}ann' and 'ann' of the accounts differ only in "));
    CHECK(contains(opened.out,
                   "line 5: 'cafe\xCC\x81' and 'caf\xC3\xA9' of the accounts differ only"));
    CHECK(contains(opened.out, "line 6: 'b\\u{200b}ob' and 'bob' of the accounts differ only in "));
    auto const more = folder.write("g.csv", header + "o6,\"bob \",ann,1\n");
    auto const ran = call(folder, "transfer", {"run", file});
    CHECK(ran.code == 0);
    CHECK(contains(ran.out, "line 3: the id 'o1 ' and the one of line 2 differ only in spaces, "));
    // Where the account is not open, a similar name of an open account gives the hint.
    auto const slip = call(folder, "transfer", {"run", more});
    CHECK(slip.code == 1);
    CHECK(
        contains(slip.out, "order 'o6': there is no account 'bob '; 'bob ' and 'bob', which is "));
    auto const later = call(folder, "transfer", {"open", more, "--balance", "10"});
    CHECK(contains(later.out, "line 2: 'bob ' and 'bob' of the accounts differ only in spaces, "));
    auto const shop = folder.write("i.csv", invoice_header + "1,x,1,1,7\n2,\"x \",1,1,\" 7\"\n");
    auto const sold = call(folder, "payment", {"open", shop, "--balance", "10", "--stock", "1"});
    CHECK(contains(sold.out, "' 7' and '7' of the customers differ only in spaces"));
    CHECK(contains(sold.out, "'x ' and 'x' of the items differ only in spaces"));
}

TEST_CASE("input: help lists the commands, and an unknown argument is refused by name") {
    scratch_folder const folder{"input-help"};
    for (arguments const& which :
         {arguments{}, arguments{"list"}, arguments{"recover"}, arguments{"run"}}) {
        arguments command = which;
        command.emplace_back("--help");
        auto const help = run_sample(folder, "transfer", command);
        CHECK(help.code == 0);
        INFO(help.out);
        for (auto const* noise : {"->", ":{", "INT", "UNIT", " TEXT"}) {
            CHECK_FALSE(contains(help.out, noise));
        }
    }
    auto const dash = call(folder, "transfer", {"show", "-x"});
    CHECK(dash.code == 2);
    CHECK(dash.err == "there is no option '-x'; an id, account or file with such a beginning "
                      "follows '--'\n'transfer --help' lists what there is\n");
    auto const behind = call(folder, "transfer", {"check", "--", "foo"});
    CHECK(behind.code == 2);
    CHECK(behind.err.starts_with("'foo' follows '--'; no id, account or file is expected "));
    for (arguments const& twice :
         {arguments{"show", "a", "show", "b"}, arguments{"balance", "a", "balance", "b"},
          arguments{"open", "a", "--balance", "1", "open", "b", "--balance", "2"},
          arguments{"check", "list", "check", "foo"}}) {
        auto const how = call(folder, "transfer", twice);
        CHECK(how.code == 2);
        CHECK(how.err == "'" + twice.front() + "' is given more than once\n");
    }
    struct marked {
        arguments line;
        std::string sentence;
    };
    for (auto const& [line, sentence] :
         {marked{{"list", "--state", "--", "x"}, "--state: 'x' is none of "},
          marked{{"run", "f", "--batch", "--", "x"}, "--batch: 'x' is not a whole number "},
          marked{{"list", "--older-than", "--", "x"}, "--older-than: 'x' is no time "},
          marked{{"open", "f", "--balance", "--", "x"}, "--balance: the amount 'x' is not "},
          marked{{"run", "f", "--report", ""}, "--report: an empty name is no file\n"},
          marked{{"run", "f", "--report", "-"}, "--report: '-' is no file to write; /dev/stdout "},
          marked{{"run", "f", "--report", "--", "-"}, "--report: '-' is no file to write; "}}) {
        auto const how = call(folder, "transfer", line);
        CHECK(how.code == 2);
        CHECK_MESSAGE(how.err.starts_with(sentence), how.err);
    }
    auto const extra = call(folder, "transfer", {"check", "foo"});
    CHECK(extra.code == 2);
    CHECK(extra.err.starts_with("there is no command 'foo'\n"));
    auto const layout = call(folder, "transfer", {"--layout", "mine", "check"});
    CHECK(layout.err.starts_with("--layout: 'mine' is none of own|tutorial\n"));
}

} // namespace input_test
