// SPDX-License-Identifier: BSL-1.0
// `check` compares every account with the balance that follows from the log.
#include <contains.hpp>
#include <program.hpp>
#include <sql.hpp>

#include <nlohmann/json.hpp>

namespace check_test {

namespace {

using testing::contains;
using testing::ended;
using testing::run_sample;
using testing::scratch_folder;
using arguments = std::vector<std::string>;

ended call(scratch_folder const& folder, std::string const& program, arguments more) {
    more.insert(more.begin(), {"--store", "sqlite:" + folder.at("x.db")});
    return run_sample(folder, program, std::move(more));
}

void change(scratch_folder const& folder, std::string const& sql) {
    testing::ask(folder.at("x.db"), sql);
}

} // namespace

TEST_CASE("check: it names accounts that differ from the log, even if the sum is right") {
    scratch_folder const folder{"check-transfer"};
    auto const file = folder.write("f.csv", "id,source,destination,amount\no1,ann,bob,1\n"
                                            "o2,bob,cid,2\no3,cid,ann,500\no4,ann,cid,4\n");
    REQUIRE(call(folder, "transfer", {"open", file, "--balance", "10"}).code == 0);
    REQUIRE(call(folder, "transfer", {"run", file, "reverse", "o4"}).code == 0);
    auto const good = call(folder, "transfer", {"check"});
    CHECK(good.code == 0);
    CHECK(contains(good.out, "ok  accounts    3 agree with the log\n"));

    change(folder, "UPDATE accounts SET balance = balance + 7 WHERE id = 'ann'; "
                   "UPDATE accounts SET balance = balance - 7 WHERE id = 'cid'");
    auto const moved = call(folder, "transfer", {"check"});
    CHECK(moved.code == 1);
    CHECK(contains(moved.out, "ok  money       30.00, opened with 30.00\n"
                              "BAD accounts    2 of 3 differ from the log\n"
                              "    ann holds 9.07, by the log 9.00\n"
                              "    cid holds 11.93, by the log 12.00\n"));
    change(folder, "UPDATE accounts SET balance = balance - 7 WHERE id = 'ann'; "
                   "UPDATE accounts SET balance = balance + 7 WHERE id = 'cid'");
    // A lost effect, and an effect without a transaction.
    change(folder, "UPDATE settle_entry SET state = 5 WHERE id = 'o2'");
    CHECK(contains(call(folder, "transfer", {"check"}).out, "cid holds 12.00, by the log 10.00\n"));
    change(folder, "UPDATE settle_entry SET state = 3 WHERE id = 'o2'");
    change(folder, "UPDATE settle_entry SET state = 3 WHERE id = 'o3'");
    CHECK(call(folder, "transfer", {"check"}).code == 1);
    change(folder, "UPDATE settle_entry SET state = 5 WHERE id = 'o3'");
    change(folder, "DELETE FROM accounts WHERE id = 'cid'; UPDATE accounts SET opened_with = "
                   "balance - 3 WHERE id = 'ann'");
    CHECK(contains(call(folder, "transfer", {"check"}).out, "cid holds 0.00, by the log 2.00\n"));
}

TEST_CASE("check: it reports an incomplete log and finds no fault") {
    scratch_folder const folder{"check-purged"};
    auto const file = folder.write("f.csv", "id,source,destination,amount\no1,ann,bob,1\n"
                                            "o2,bob,ann,2\n");
    REQUIRE(call(folder, "transfer", {"open", file, "--balance", "10", "run", file}).code == 0);
    // A purge that finds nothing leaves all to be compared.
    REQUIRE(call(folder, "transfer", {"purge"}).out == "purged: 0 entries\n");
    CHECK(
        contains(call(folder, "transfer", {"check"}).out, "ok  accounts    2 agree with the log"));
    change(folder, "UPDATE settle_entry SET created = created - 4000000000, modified = modified - "
                   "4000000000 WHERE id = 'o1'");
    REQUIRE(call(folder, "transfer", {"purge"}).out == "purged: 1 entries\n");
    auto const purged = call(folder, "transfer", {"check"});
    CHECK(purged.code == 0);
    CHECK(contains(purged.out, "    accounts    not compared with the log: entries were purged\n"));

    scratch_folder const other{"check-strange"};
    REQUIRE(call(other, "transfer", {"open", file, "--balance", "10", "run", file}).code == 0);
    change(other, "UPDATE settle_type SET name = 'gift' WHERE name = 'transfer'");
    auto const strange = call(other, "transfer", {"check"});
    CHECK(contains(strange.out, "not compared with the log: the entry o1 is of no type that this "
                                "program knows\n"));
}

TEST_CASE("check: it compares customers and the till with payments, refunds and reversals") {
    scratch_folder const folder{"check-payment"};
    auto const file =
        folder.write("i.csv", "InvoiceNo,StockCode,Quantity,UnitPrice,CustomerID\n1,x,2,1.50,ann\n"
                              "2,x,1,1.50,bob\nC3,x,-1,.50,ann\n4,y,1,9,ann\n5,y,1,1,bob\n");
    REQUIRE(call(folder, "payment", {"open", file, "--balance", "10", "--stock", "9"}).code == 0);
    REQUIRE(call(folder, "payment", {"run", file, "reverse", "5", "check"}).code == 0);
    CHECK(contains(call(folder, "payment", {"check"}).out, "ok  accounts    3 agree with the log"));
    change(folder, "UPDATE customers SET balance = balance + 1 WHERE id = 'bob'; "
                   "UPDATE tills SET takings = takings - 1");
    auto const found = call(folder, "payment", {"check"});
    CHECK(found.code == 1);
    CHECK(contains(found.out, "BAD accounts    2 of 3 differ from the log\n"
                              "    bob holds 8.51, by the log 8.50\n"
                              "    shop holds 3.99, by the log 4.00\n"));
}

TEST_CASE("check: a store that fails during a run, or in its end, leaves the report of the run") {
    // The last order names the account that cannot be read any more, and is canceled.
    for (std::string const last : {"", "last,cid,dan,1\n"}) {
        CAPTURE(last);
        scratch_folder const folder{"check-failing"};
        std::string const head = "id,source,destination,amount\n";
        auto const names = folder.write("names.csv", head + "x,ann,bob,1\ny,cid,dan,1\n");
        REQUIRE(call(folder, "transfer", {"open", names, "--balance", "10000"}).code == 0);
        std::string text = head;
        for (int i = 0; i < 8000; ++i) text += "o" + std::to_string(i) + ",ann,bob,1\n";
        testing::program run{folder,
                             {std::string{SETTLE_BIN_DIR} + "/transfer", "--store",
                              "sqlite:" + folder.at("x.db"), "run",
                              folder.write("f.csv", text + last), "--batch", "1", "--report",
                              folder.at("report.json"), "check"}};
        // The wait has no limit, since the machine may be busy.
        auto const done = [&] {
            return !testing::ask(folder.at("x.db"),
                                 "SELECT 1 FROM settle_entries WHERE state = 'done' LIMIT 1")
                        .empty();
        };
        while (!run.has_ended() && !done())
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        change(folder, "UPDATE accounts SET balance = 'much' WHERE id = 'cid'");
        REQUIRE_FALSE(run.has_ended());
        auto const failed = run.wait();
        CHECK(failed.code != 0);
        CHECK(contains(failed.out, last.empty() ? "8,000 payment orders" : "8,001 payment orders"));
        CHECK(contains(failed.out, "money  40000.00 before, not read after: run check\n"));
        CHECK(contains(failed.err, "balance"));
        CHECK(contains(failed.err, "this failed, so check was not begun\n"));
        auto const report = nlohmann::json::parse(testing::read_file(folder.at("report.json")));
        CHECK(report["done"] == 8000);
        CHECK(report["canceled"] == (last.empty() ? 0 : 1));
        CHECK(report["sum_before"] == 4'000'000);
        CHECK(report["sum_after"].is_null());
    }
}

} // namespace check_test
