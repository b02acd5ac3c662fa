// SPDX-License-Identifier: BSL-1.0
// The transfer application from its user's side: counts, reports, exit codes, bad input.
#include <program.hpp>
#include <sql.hpp>

#include <shared/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <random>
#include <utility>

#include <sys/stat.h>

namespace {

using testing::ended;
using testing::run_sample;
using testing::scratch_folder;

std::string const orders = testing::data_file("transfer/payment_orders.csv");
constexpr auto overwriting = std::filesystem::copy_options::overwrite_existing;

ended transfer(scratch_folder const& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--store", "sqlite:" + folder.at("bank.db")});
    return run_sample(folder, "transfer", std::move(arguments));
}

/// Whether the log of a file holds a done transaction. Other programs may be using the file.
bool something_is_done(std::string const& path) {
    return !testing::ask(path, "SELECT 1 FROM settle_entries WHERE state = 'done' LIMIT 1").empty();
}

nlohmann::json report_of(std::string const& path) {
    return nlohmann::json::parse(testing::read_file(path));
}

/// The batch sizes, threads and phases of a run; all must give the same outcomes.
std::vector<std::vector<std::string>> const paces{{},
                                                  {"--batch", "1"},
                                                  {"--batch", "10"},
                                                  {"--threads", "4"},
                                                  {"--threads", "3", "--batch", "7"},
                                                  {"--two-phases"},
                                                  {"--two-phases", "--batch", "50"},
                                                  {"--two-phases", "--threads", "4"}};

std::string joined(std::vector<std::string> const& arguments) {
    std::string text;
    for (auto const& one : arguments) text += " " + one;
    return text;
}

/// The bank's file, opened once: a commit for each account takes longer than all of the orders.
class opened_bank {
public:
    opened_bank(scratch_folder const& folder, std::string const& balance) : folder_(&folder) {
        auto const opened = transfer(folder, {"open", orders, "--balance", balance});
        REQUIRE_MESSAGE(opened.code == 0, opened.err);
        std::filesystem::copy_file(folder.at("bank.db"), folder.at("opened.db"));
    }

    /// The database as `open` left it. The file stays the same, so its log is at home.
    void begin() const {
        for (char const* end : {"-wal", "-shm"}) {
            std::filesystem::remove(folder_->at("bank.db") + end);
        }
        std::filesystem::copy_file(folder_->at("opened.db"), folder_->at("bank.db"), overwriting);
    }

    [[nodiscard]] nlohmann::json run(std::vector<std::string> const& pace) const {
        INFO("run" << joined(pace));
        begin();
        std::vector<std::string> arguments{"run", orders, "--report", folder_->at("report.json")};
        arguments.insert(arguments.end(), pace.begin(), pace.end());
        auto const ran = transfer(*folder_, arguments);
        REQUIRE_MESSAGE(ran.code == 0, ran.out << ran.err);
        auto const checked = transfer(*folder_, {"check"});
        CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
        return report_of(folder_->at("report.json"));
    }

private:
    scratch_folder const* folder_;
};

/// Every id with its final state and its reason.
std::vector<std::string> ends(scratch_folder const& folder) {
    std::vector<std::string> rows;
    for (auto const& one : nlohmann::json::parse(transfer(folder, {"list", "--json"}).out)) {
        rows.push_back(nlohmann::json{one["id"], one["state"], one["reason"]}.dump());
    }
    return rows;
}

} // namespace

TEST_CASE("transfer: with 1000.00 on each account 450 of the bank's 6,471 orders are canceled") {
    scratch_folder const folder{"bank-1000"};
    opened_bank const bank{folder, "1000.00"};
    auto const report = bank.run({});
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

    // The same file again runs nothing twice.
    auto const again = transfer(folder, {"run", orders, "--report", folder.at("again.json")});
    CHECK(again.code == 0);
    auto const second = report_of(folder.at("again.json"));
    CHECK(second["done"] == report["done"]);
    CHECK(second["canceled"] == report["canceled"]);
    CHECK(second["earlier"] == 6471);
    CHECK(second["sum_before"] == report["sum_after"]);
    CHECK(second["sum_after"] == report["sum_after"]);
}

TEST_CASE("transfer: any batch size and thread count cancels the same 450 orders") {
    scratch_folder const folder{"bank-paces"};
    opened_bank const bank{folder, "1000.00"};
    auto const report = bank.run({});
    auto const expected = ends(folder);
    for (auto const& pace : paces) {
        auto const paced = bank.run(pace);
        INFO("run" << joined(pace));
        CHECK(paced["done"] == 6471 - 450);
        CHECK(paced["canceled"] == 450);
        CHECK(paced["reasons"] == report["reasons"]);
        CHECK(paced["sum_after"] == report["sum_after"]);
        CHECK(ends(folder) == expected);
    }
}

TEST_CASE("transfer: with 500.00 on each account 2,013 orders are canceled") {
    scratch_folder const folder{"bank-500"};
    opened_bank const bank{folder, "500.00"};
    for (auto const& pace : paces) {
        auto const report = bank.run(pace);
        INFO("run" << joined(pace));
        CHECK(report["canceled"] == 2013);
        CHECK(report["done"] == 6471 - 2013);
    }
}

TEST_CASE("transfer: two concurrent programs on one file have the outcomes of one program") {
    scratch_folder const folder{"bank-twice"};
    opened_bank const bank{folder, "1000.00"};
    using arguments = std::vector<std::string>;
    std::vector<std::pair<arguments, arguments>> const pairs{
        {{}, {}},
        {{"--batch", "1"}, {}},
        {{"--two-phases", "--batch", "20"}, {"--batch", "20"}},
        {{"--two-phases"}, {"--two-phases", "--threads", "3", "--batch", "10"}}};
    for (auto const& pair : pairs) {
        arguments const& one_pace = pair.first;
        arguments const& other_pace = pair.second;
        bank.begin();
        INFO("run" << joined(one_pace) << " beside run" << joined(other_pace));
        auto const start = [&](arguments pace) {
            pace.insert(pace.begin(), {std::string{SETTLE_BIN_DIR} + "/transfer", "--store",
                                       "sqlite:" + folder.at("bank.db"), "run", orders});
            return std::make_unique<testing::program>(folder, std::move(pace));
        };
        auto const first = start(one_pace);
        auto const second = start(other_pace);
        auto const one = first->wait();
        auto const other = second->wait();
        CHECK_MESSAGE(one.code == 0, one.out << one.err);
        CHECK_MESSAGE(other.code == 0, other.out << other.err);
        auto const counted = transfer(folder, {"list", "--state", "canceled", "--json"});
        CHECK(nlohmann::json::parse(counted.out).size() == 450);
        CHECK(transfer(folder, {"check"}).code == 0);
    }
}

TEST_CASE("transfer: a small file is run, listed and reversed") {
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
    testing::ask(folder.at("bank.db"),
                 "UPDATE accounts SET balance = balance + iif(id = 'ann', 1, -1)");
    CHECK_MESSAGE(transfer(folder, {"check"}).code == 1,
                  "two balances are wrong, and their sum is right");
    testing::ask(folder.at("bank.db"),
                 "UPDATE accounts SET balance = balance - iif(id = 'ann', 1, -1)");

    CHECK(transfer(folder, {"purge"}).out == "purged: 0 entries\n");
    auto const early = transfer(folder, {"purge", "--older-than", "1d"});
    CHECK(early.code == 1);
    CHECK(early.err.find("only entries older than 193 h") != std::string::npos);
    CHECK(transfer(folder, {"show", "p1"}).code == 0);
    testing::ask(folder.at("bank.db"), "UPDATE settle_entry SET created = created - 4000000000, "
                                       "modified = modified - 4000000000 WHERE id <> 'p3'");
    CHECK(transfer(folder, {"purge"}).out == "purged: 4 entries\n");
    CHECK(transfer(folder, {"show", "p1"}).code == 1);
    CHECK(transfer(folder, {"show", "p3"}).code == 0);
    CHECK(transfer(folder, {"check"}).code == 0);
}

TEST_CASE("transfer: every bad line is refused with its number, and the good lines still run") {
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
    std::vector<int> const bad{3, 4, 5, 6, 7, 8, 9, 10, 12};
    for (auto const& pace : paces) {
        INFO("run" << joined(pace));
        std::filesystem::remove(folder.at("bank.db"));
        REQUIRE(transfer(folder, {"open", names, "--balance", "10.00"}).code == 0);
        std::vector<std::string> arguments{"run", file, "--report", folder.at("report.json")};
        arguments.insert(arguments.end(), pace.begin(), pace.end());
        auto const ran = transfer(folder, arguments);
        CHECK(ran.code == 1);
        auto const report = report_of(folder.at("report.json"));
        CHECK(report["done"] == 2);
        CHECK(report["refused"] == 9);
        std::vector<int> named;
        for (auto const& one : report["remarks"]) named.push_back(one["line"].get<int>());
        CHECK_MESSAGE(named == bad, ran.out << ran.err);
        for (int const line : bad) {
            CHECK(ran.out.find("  line " + std::to_string(line) + ": ") != std::string::npos);
        }
        CHECK(transfer(folder, {"check"}).code == 0);
        CHECK(transfer(folder, {"balance", "bob"}).out.find("13.00") != std::string::npos);
    }
}

TEST_CASE("transfer: any batch size and thread count has the outcomes of one order at a time") {
    scratch_folder const folder{"bank-pace"};
    // Fifty circles of four accounts with little money, so that nearly each order depends on
    // others.
    std::string names = "id,source,destination,amount\n";
    std::string text = names;
    std::mt19937 numbers{11};
    auto const chance = [&] { return static_cast<unsigned>(numbers()); };
    for (unsigned i = 0; i < 200; i += 2) {
        names += fmt::format("n{0},a{0},a{1},1\n", i, i + 1);
    }
    for (unsigned i = 0; i < 3000; ++i) {
        unsigned const circle = chance() % 50 * 4;
        unsigned const from = chance() % 4;
        unsigned const to = (from + 1 + chance() % 3) % 4;
        // Now and then an id is repeated, usually with other parameters.
        unsigned const id = chance() % 20 == 0 ? chance() % (i + 1) : i;
        text +=
            fmt::format("o{},a{},a{},{}.00\n", id, circle + from, circle + to, 1 + chance() % 12);
    }
    auto const accounts = folder.write("names.csv", names);
    auto const file = folder.write("orders.csv", text);
    REQUIRE(transfer(folder, {"open", accounts, "--balance", "10.00"}).code == 0);
    std::filesystem::copy_file(folder.at("bank.db"), folder.at("opened.db"));
    auto const run = [&](std::vector<std::string> arguments) {
        std::filesystem::copy_file(folder.at("opened.db"), folder.at("bank.db"), overwriting);
        arguments.insert(arguments.begin(), {"run", file, "--report", folder.at("report.json")});
        auto const ran = transfer(folder, arguments);
        CHECK_MESSAGE(ran.code == 1, ran.out << ran.err);
        CHECK(transfer(folder, {"check"}).code == 0);
        auto report = report_of(folder.at("report.json"));
        report.erase("seconds");
        return report;
    };
    auto const expected = run({"--batch", "1"});
    auto const expected_ends = ends(folder);
    auto const balances = transfer(folder, {"balance"}).out;
    CHECK(expected["canceled"] > 300);
    CHECK(expected["refused"] > 50);
    for (auto const& pace : paces) {
        INFO("run" << joined(pace));
        CHECK(run(pace) == expected);
        CHECK(ends(folder) == expected_ends);
        CHECK(transfer(folder, {"balance"}).out == balances);
    }
}

TEST_CASE("transfer: an order refused for a missing account runs once the account is open") {
    for (auto const& pace : paces) {
        INFO("run" << joined(pace));
        scratch_folder const folder{"bank-later"};
        auto const names = folder.write("names.csv", "id,source,destination,amount\nx,a,b,1\n");
        auto const file = folder.write("orders.csv", "id,source,destination,amount\n"
                                                     "o1,a,b,1\no2,b,zoe,2\no3,b,a,3\n");
        REQUIRE(transfer(folder, {"open", names, "--balance", "10.00"}).code == 0);
        std::vector<std::string> arguments{"run", file};
        arguments.insert(arguments.end(), pace.begin(), pace.end());
        auto const early = transfer(folder, arguments);
        CHECK(early.code == 1);
        CHECK(early.out.find("order 'o2': there is no account 'zoe'") != std::string::npos);
        CHECK(transfer(folder, {"show", "o2"}).code == 1);
        REQUIRE(transfer(folder, {"open", file, "--balance", "10.00"}).code == 0);
        CHECK(transfer(folder, arguments).code == 0);
        auto const listed = transfer(folder, {"list", "--state", "done"}).out;
        CHECK(listed.ends_with("3 entries\n"));
    }
}

TEST_CASE("transfer: an unusable file or store is refused in one sentence and unchanged") {
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
        // Root may write everywhere, so only another user can see this refusal.
        ::chmod(folder.at("bank.db").c_str(), 0400);
        one_sentence(transfer(folder, {"run", names}), 3);
        ::chmod(folder.at("bank.db").c_str(), 0600);
    }
    CHECK(run_sample(folder, "transfer", {"--store", "oracle:x", "check"}).code == 2);
    CHECK(run_sample(folder, "transfer", {"--no-such-option"}).code == 2);
    auto const misspelled = run_sample(folder, "transfer", {"opne", "a.csv"});
    CHECK(misspelled.code == 2);
    CHECK(misspelled.err == "transfer: there is no command 'opne'. '--help' lists what there is\n");
    CHECK(run_sample(folder, "transfer", {}).code == 2);
    CHECK(transfer(folder, {"check"}).code == 0);
}

TEST_CASE("transfer: balances whose sum overflows are refused before any account is created") {
    scratch_folder const folder{"bank-huge"};
    auto const names = folder.write("names.csv", "id,source,destination,amount\nx,ann,bob,1\n");
    auto const huge = transfer(folder, {"open", names, "--balance", "92233720368547758.07"});
    CHECK(huge.code == 1);
    CHECK(huge.err.find("open with a smaller --balance") != std::string::npos);
    REQUIRE(transfer(folder, {"open", names, "--balance", "10.00"}).code == 0);
    CHECK(transfer(folder, {"check"}).code == 0);
}

TEST_CASE("transfer: a run reports damaged earlier entries and settles the others") {
    scratch_folder const folder{"bank-damaged"};
    auto const first = folder.write("first.csv", "id,source,destination,amount\n"
                                                 "x,a,b,1\ny,c,d,1\nz,c,d,1\n");
    REQUIRE(transfer(folder, {"open", first, "--balance", "1000.00"}).code == 0);
    REQUIRE(transfer(folder, {"run", first}).code == 0);
    testing::ask(folder.at("bank.db"),
                 "UPDATE settle_entry SET state = 1, open = 1, parameters = '{' WHERE id = 'x'; "
                 "UPDATE settle_entry SET epoch = 'none' WHERE id = 'y'");
    auto const second = folder.write("second.csv", "id,source,destination,amount\n"
                                                   "y,c,d,1\nnew,b,a,1\nz,c,d,1\n");
    auto const ran = transfer(folder, {"run", second, "--report", folder.at("report.json")});
    CHECK_MESSAGE(ran.code == 3, ran.out << ran.err);
    CHECK(ran.out.find("x, of an earlier run, is not settled: ") != std::string::npos);
    auto const report = report_of(folder.at("report.json"));
    CHECK(report["left_over"] == 1);
    CHECK(report["stopped"] == false);
    CHECK(report["done"] == 2);
    CHECK(report["earlier"] == 1);
    CHECK(report["undecided"].get<int>() + report["refused"].get<int>() == 1);
    CHECK(report["sum_before"] == report["sum_after"]);
}

TEST_CASE("transfer: an interrupted run finishes its window, and the next run continues") {
    scratch_folder const folder{"bank-interrupt"};
    std::string const head = "id,source,destination,amount\n";
    auto const names = folder.write("names.csv", head + "x,a,b,1\ny,c,d,1\n");
    std::string text = head;
    for (int i = 0; i < 1'000'000; ++i) text += fmt::format("o{},{},1\n", i, i % 2 ? "a,b" : "d,c");
    auto const file = folder.write("orders.csv", text);
    for (auto const& pace : paces) {
        INFO("run" << joined(pace));
        for (char const* end : {"", "-wal", "-shm"}) {
            std::filesystem::remove(folder.at("bank.db") + end);
        }
        REQUIRE(transfer(folder, {"open", names, "--balance", "1000.00"}).code == 0);
        std::vector<std::string> arguments{std::string{SETTLE_BIN_DIR} + "/transfer",
                                           "--store",
                                           "sqlite:" + folder.at("bank.db"),
                                           "run",
                                           file,
                                           "--report",
                                           folder.at("report.json")};
        arguments.insert(arguments.end(), pace.begin(), pace.end());
        arguments.emplace_back("check");
        testing::program run{folder, arguments};
        // The wait has no limit, since the machine may be busy.
        while (!run.has_ended() && !something_is_done(folder.at("bank.db"))) {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
        REQUIRE_FALSE(run.has_ended());
        run.signal(SIGINT);
        auto const stopped = run.wait();
        CHECK_MESSAGE(stopped.code == 3, stopped.out << stopped.err);
        CHECK(stopped.err.ends_with("transfer: interrupted, so check was not begun\n"));
        auto const report = report_of(folder.at("report.json"));
        CHECK(report["stopped"] == true);
        CHECK(report["undecided"] == 0);
        CHECK(report["done"] > 0);
        // The transactions in flight have ended.
        CHECK(transfer(folder, {"check"}).code == 0);
        // The elements that were read from the input have run, and none is half done in the log.
        std::uint64_t const ran =
            report["done"].get<std::uint64_t>() + report["canceled"].get<std::uint64_t>();
        auto const listed = transfer(folder, {"list"}).out;
        CHECK(listed.ends_with(samples::with_commas(ran) + " entries\n"));
    }
}
