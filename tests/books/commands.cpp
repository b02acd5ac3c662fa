// SPDX-License-Identifier: BSL-1.0
// The sample of two banks: orders in both directions, the findings of `check`, and the parts in
// doubt.
#include "two_banks.hpp"

#include <contains.hpp>

#include <sstream>

using namespace settle_test;
using namespace std::chrono_literals;

namespace {

using testing::contains;

std::string const header = "id,source,destination,amount\n";

/// Kills a program that runs the orders, once it has a prepared transaction. Returns its name.
std::string leave_in_doubt(testing::scratch_folder const& folder, two_banks const& banks,
                           std::string input) {
    auto const orders = testing::read_file(input);
    for (int tries = 1; tries <= 100; ++tries) {
        auto const running = banks.begin({"run", input});
        // A stopped program sends nothing: once no session works, a name in doubt stays in doubt.
        bool is_in_doubt = false;
        while (!running->has_ended()) {
            running->signal(SIGSTOP);
            REQUIRE(wait_until(100s, [&] { return banks.working_sessions() == 0; }));
            is_in_doubt = !banks.in_doubt().empty();
            if (is_in_doubt) break;
            running->signal(SIGCONT);
            std::this_thread::sleep_for(1ms);
        }
        running->signal(SIGKILL);
        auto const ended = running->wait();
        REQUIRE_MESSAGE((ended.signal == SIGKILL || ended.code == 0), ended.out << ended.err);
        REQUIRE(wait_until(60s, [&] { return banks.sessions() == 0; }));
        auto const names = banks.in_doubt();
        if (is_in_doubt) REQUIRE_FALSE(names.empty());
        if (!names.empty()) return names.front();
        // All orders may have ended, so the next program runs orders with other ids.
        std::string others;
        std::istringstream lines{orders};
        for (std::string line; std::getline(lines, line);) {
            others += (others.empty() ? "" : "try-" + std::to_string(tries) + "-") + line + "\n";
        }
        input = folder.write("others.csv", others);
    }
    FAIL("nothing was left in doubt");
    return {};
}

} // namespace

TEST_CASE("books: a credit that a constraint of the ledger refuses cancels the transfer") {
    testing::scratch_folder const folder{"books"};
    two_banks const banks{folder};
    auto const input = folder.write("orders.csv", header + "T1,100,S-1,2.00\n"
                                                           "T2,100,S-1,1.00\n");
    auto const opened = banks.call({"open", input, "--balance", "9999999.00"});
    REQUIRE_MESSAGE(opened.code == 0, opened.out << opened.err);
    auto const run = banks.call({"run", input});
    INFO(run.out << run.err);
    CHECK(banks.states() == std::map<std::string, std::string>{{"T1", "canceled"}, {"T2", "done"}});
    CHECK(banks.booked() == std::vector<std::string>{"T2"});
    CHECK(contains(banks.call({"show", "T1"}).out, "refused"));
    CHECK(contains(banks.call({"balance", "100"}).out, "9999998.00"));
    CHECK(contains(banks.call({"balance", "S-1"}).out, "10000000.00"));
    CHECK(banks.in_doubt().empty());
    CHECK(banks.call({"check"}).code == 0);
}

TEST_CASE("books: orders in both directions, and what check finds") {
    testing::scratch_folder const folder{"books"};
    two_banks const banks{folder};
    auto const input = folder.write("orders.csv", header + "T1,100,S-1,250.00\n"
                                                           "T2,9000,F-1,250.00\n"
                                                           "T3,100,S-2,900.00\n"
                                                           "T4,9000,F-2,900.00\n"
                                                           "T5,100,S-1,1.00\n");
    auto const opened = banks.call({"open", input, "--balance", "1000.00"});
    REQUIRE_MESSAGE(opened.code == 0, opened.out << opened.err);
    CHECK(contains(opened.out, "accounts   3 opened\n"));
    CHECK(contains(opened.out, "ledger     3 opened\n"));
    // An account that was never opened, in the ledger as payee and as payer, and at the first bank.
    auto const more = folder.write("more.csv", header + "T1,100,S-1,250.00\n"
                                                        "T2,9000,F-1,250.00\n"
                                                        "T3,100,S-2,900.00\n"
                                                        "T4,9000,F-2,900.00\n"
                                                        "T5,100,S-1,1.00\n"
                                                        "T6,100,S-3,1.00\n"
                                                        "T7,9001,F-1,1.00\n"
                                                        "T8,9000,F-3,1.00\n");
    auto const run = banks.call({"run", more, "--threads", "3"});
    CHECK_MESSAGE(run.code == 1, run.out << run.err);
    CHECK(contains(run.out, "order 'T8': there is no account 'F-3'"));
    CHECK(contains(run.out, "money  6000.00 before, 6000.00 after: unchanged"));
    auto const ends = banks.states();
    CHECK(ends == std::map<std::string, std::string>{{"T1", "done"},
                                                     {"T2", "done"},
                                                     {"T3", "canceled"},
                                                     {"T4", "canceled"},
                                                     {"T5", "done"},
                                                     {"T6", "canceled"},
                                                     {"T7", "canceled"}});
    CHECK(banks.booked() == std::vector<std::string>{"T1", "T2", "T5"});
    CHECK(contains(banks.call({"balance", "100"}).out, "749.00"));
    CHECK(contains(banks.call({"balance", "9000"}).out, "750.00"));
    CHECK(contains(banks.call({"balance", "F-1"}).out, "1250.00"));
    CHECK(banks.call({"balance", "nobody"}).code == 1);
    auto const again = banks.call({"run", more});
    CHECK(again.code == 1);
    CHECK(banks.states() == ends);
    auto const checked = banks.call({"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
    CHECK(contains(checked.out, "ok  accounts    6 agree with the log\n"));
    CHECK(contains(checked.out, "ok  postings    3 agree with the log\n"));
    CHECK(contains(checked.out, "ok  in doubt    0\n"));

    auto const check_after = [&](std::string const& sql) {
        mariadb_session{banks.second.address()}.ask(sql);
        auto const found = banks.call({"check"});
        CHECK(found.code == 1);
        return found.out;
    };
    auto out = check_after("UPDATE account SET balance = balance + 1 WHERE id = 'S-2'");
    CHECK(contains(out, "BAD money"));
    CHECK(contains(out, "BAD accounts    1 of 6 differ from the log"));
    CHECK(contains(out, "the balance of S-2 is not the sum of its postings"));
    out = check_after("UPDATE posting SET debit = debit + 1 WHERE order_id = 'T2'");
    CHECK(contains(out, "T2 is done, and its posting differs"));
    out = check_after("INSERT INTO posting (order_id, account, debit, credit) "
                      "VALUES ('T3', 'S-2', 0, 1), ('T9', 'S-1', 0, 0), ('T1', 'S-1', 0, 0)");
    CHECK(contains(out, "T3 is canceled, and has a posting"));
    CHECK(contains(out, "T9 has a posting, and the log has no such transfer"));
    CHECK(contains(out, "T1 has two postings"));
    CHECK(contains(check_after("DELETE FROM posting WHERE order_id = 'T5'"),
                   "T5 is done, and has no posting"));
}

TEST_CASE("books: the orders of the bank's file end once, and both banks agree") {
    testing::scratch_folder const folder{"books-file"};
    two_banks const banks{folder};
    auto const input = orders_of_both(folder, 150);
    REQUIRE(banks.call({"open", input, "--balance", "900.00"}).code == 0);
    auto const run = banks.call({"run", input, "--threads", "4"});
    CHECK_MESSAGE(run.code == 0, run.out << run.err);
    auto const checked = banks.call({"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
    CHECK(banks.states().size() == 300);
    CHECK(banks.booked().size() > 200);
    CHECK(banks.in_doubt().empty());
}

TEST_CASE("books: doubts shows the parts in doubt, what holds each back, and the next step") {
    testing::scratch_folder const folder{"books-doubts"};
    two_banks const banks{folder};
    auto const input = orders_of_both(folder, 80);
    REQUIRE(banks.call({"open", input, "--balance", "900.00"}).code == 0);
    CHECK(banks.call({"doubts"}).out.starts_with("0 in doubt\n"));

    auto const name = leave_in_doubt(folder, banks, input);
    CAPTURE(name);
    auto const shown = banks.call({"doubts"});
    CHECK(shown.code == 0);
    for (auto const& part :
         {name + "\n", std::string{"  prepared "}, std::string{" s ago, at "},
          std::string{"  transaction "}, std::string{"; its owner, process "},
          std::string{", has ended\n"}, std::string{"'books recover' settles the transaction"},
          std::string{"in doubt; a part in doubt holds its locks"}}) {
        CHECK_MESSAGE(contains(shown.out, part), shown.out);
    }
    auto const checked = banks.call({"check"});
    CHECK(checked.code == 1);
    CHECK_MESSAGE(contains(checked.out, "'books doubts' shows what holds them back"), checked.out);

    // The log has no such transaction: the prepare came late.
    auto const log = name.substr(0, name.find('/', name.find('/') + 1) + 1);
    auto const format = mariadb_session{banks.second.address()}.ask("XA RECOVER").at(0).at(0);
    {
        mariadb_session late{banks.second.address()};
        auto const xid = "'" + log + "1.0/late/7', '', " + format;
        for (auto const* const verb : {"XA START ", "XA END ", "XA PREPARE "}) {
            late.ask(verb + xid);
            if (verb[3] == 'S') late.ask("INSERT INTO posting VALUES (NULL, 'late', 'x', 0, 1)");
        }
    }
    auto const of_late = banks.call({"doubts"});
    CHECK_MESSAGE(contains(of_late.out, "it has no entry: its prepare came late"), of_late.out);
    CHECK_MESSAGE(contains(of_late.out, "'books recover' rolls it back"), of_late.out);

    auto const settled = banks.call({"recover", "check"});
    CHECK_MESSAGE(settled.code == 0, settled.out << settled.err);
    CHECK(banks.in_doubt().empty());
    CHECK(banks.call({"doubts"}).out.starts_with("0 in doubt\n"));
    CHECK(banks.states().at("late") == "canceled");

    ask(banks.first.address(), "BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'payroll'");
    auto const old = banks.call({"doubts"});
    CHECK_MESSAGE(
        contains(old.out, "the first bank's oldest snapshot: the prepared transaction payroll, "),
        old.out);
    ask(banks.first.address(), "ROLLBACK PREPARED 'payroll'");
}

TEST_CASE("books: its command line, and databases that cannot be reached") {
    testing::scratch_folder const folder{"books-usage"};
    auto const call = [&](std::vector<std::string> command) {
        return testing::run_sample(folder, "books", std::move(command));
    };
    auto const help = call({"--help"});
    CHECK(help.code == 0);
    CHECK(contains(help.out, "doubts"));
    CHECK_FALSE(contains(help.out, "--store"));
    CHECK_FALSE(contains(help.out, "reverse"));
    CHECK_FALSE(contains(help.out, "resolve"));
    CHECK(call({"--store", "memory:", "check"}).code == 2);
    CHECK(call({"reverse", "T1"}).code == 2);
    auto const nobody = "127.0.0.1:" + std::to_string(free_port());
    auto const first = call({"--accounts", "postgresql://" + nobody + "/bank", "check"});
    CHECK(first.code == 3);
    CHECK_MESSAGE(contains(first.err, "books: PostgreSQL could not"), first.err);
    auto const wrong = call({"--accounts", "sqlite:x.db", "check"});
    CHECK(wrong.code == 3);
}
