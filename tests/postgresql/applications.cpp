// SPDX-License-Identifier: BSL-1.0
// The applications with --store postgresql://…: their outcomes, and their errors if a server cannot
// be used.
#include "proxy.hpp"
#include "shared_servers.hpp"

#include <doctest/doctest.h>
#include <sample_runs.hpp>

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace settle_test {
namespace {

using testing::call_sample;
using testing::ended;
using testing::first_lines;
using testing::scratch_folder;

void same_outcomes(testing::sample_table const& what) {
    scratch_folder const folder{"postgresql-" + what.program};
    testing::same_as_in_a_file(folder, what,
                               {{}, {"--two-phases"}, {"--threads", "4"}, {"--batch", "20"}},
                               [] { return fresh_schema{}; });
}

/// The bank, opened in a schema.
class opened_bank {
public:
    /// Shape:   orders - how many of the table
    opened_bank(std::string const& name, std::string address, int orders)
        : folder_{"postgresql-" + name}, address_{std::move(address)},
          input_{first_lines(folder_, "transfer/payment_orders.csv", orders + 1)} {
        auto const opened = call({"open", input_, "--balance", "9000.00"});
        REQUIRE_MESSAGE(opened.code == 0, opened.err);
    }

    [[nodiscard]] ended call(arguments const& more) const { return call_at(address_, more); }
    [[nodiscard]] ended call_at(std::string const& address, arguments const& more) const {
        return call_sample(folder_, "transfer", address, more);
    }
    [[nodiscard]] testing::program start_at(std::string const& address, arguments more) const {
        more.insert(more.begin(), {std::string{SETTLE_BIN_DIR} + "/transfer", "--store", address});
        return {folder_, std::move(more)};
    }
    [[nodiscard]] std::string const& input() const { return input_; }
    [[nodiscard]] std::string write(std::string const& orders) const {
        return folder_.write("orders.csv", orders);
    }

    /// The number of orders that are done, for another client of the server.
    [[nodiscard]] int done() const {
        return std::stoi(
            ask_one(address_, "SELECT count(*) FROM settle_entries WHERE state = 'done'"));
    }
    /// Waits until more orders are done than before, however long a busy machine takes. The program
    /// has not ended then.
    void wait_for_more(testing::program const& running, int before) const {
        CHECK(wait_until(std::chrono::seconds{60},
                         [&] { return done() > before || running.has_ended(); }));
        REQUIRE_FALSE(running.has_ended());
    }

    /// Every transaction is settled, no money is lost, and each account agrees with the log.
    void check_whole() const {
        auto const checked = call({"check"});
        CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
        CHECK(checked.out.find("ok  money ") != std::string::npos);
        CHECK(checked.out.find(" agree with the log\n") != std::string::npos);
    }

private:
    scratch_folder folder_;
    std::string address_;
    std::string input_;
};

/// A program that uses the proxy cannot pass its 20th commit, so it cannot end, however fast it is.
void hold_commits(proxy& between) {
    between.add({.sql = "COMMIT", .nth = 20, .times = 1'000'000, .what = fault::hold_request});
}

/// The program ended without a usable store: with one sentence, which contains a text.
void refused(ended const& how, std::string const& text) {
    INFO(how.out << how.err);
    CHECK(how.code == 3);
    CHECK(how.err.starts_with("transfer: "));
    CHECK(how.err.find(text) != std::string::npos);
    CHECK(std::count(how.err.begin(), how.err.end(), '\n') == 1);
    CHECK(how.err.find("secret") == std::string::npos);
}

} // namespace

TEST_CASE("applications: the bank's orders have the same outcomes in PostgreSQL and in a file") {
    same_outcomes(testing::bank_table);
}

TEST_CASE("applications: the shop's invoices have the same outcomes in PostgreSQL and in a file") {
    same_outcomes(testing::shop_table);
}

TEST_CASE("applications: each command works on a schema of PostgreSQL") {
    fresh_schema const own;
    opened_bank const teller{"commands", own.address(), 4};
    auto const ran = teller.call({"run", teller.input(), "--two-phases"});
    REQUIRE_MESSAGE(ran.code == 0, ran.out << ran.err);
    CHECK(ran.out.find("  done       4\n") != std::string::npos);
    CHECK(teller.call({"list", "--state", "done"}).out.ends_with("4 entries\n"));
    CHECK(teller.call({"show", "29401"}).out.find("done") != std::string::npos);
    CHECK(teller.call({"show", "nothing"}).code == 1);
    CHECK(teller.call({"cancel", "29401"}).code == 1);
    auto const reversed = teller.call({"reverse", "29401"});
    CHECK_MESSAGE(reversed.out == "29401 is reversed by 29401/reverse\n", reversed.err);
    CHECK(teller.call({"cancel", "later", "--even-if-unknown"}).out == "later is canceled\n");
    CHECK(teller.call({"balance", "1"}).out == "9000.00\n");
    CHECK(teller.call({"recover", "--older-than", "0s"}).out ==
          "recovered: 0 done, 0 canceled, 0 undecided, 0 left alone\n");
    teller.check_whole();

    // An order as a program submits it for a worker.
    auto const big = teller.write("id,source,destination,amount\nbig,1,2,9999.00\n");
    CHECK(teller.call({"run", big}).out.find("  canceled   1\n") != std::string::npos);
    ask(own.address(), "UPDATE settle_entry SET state = 0, open = true WHERE id = 'big';"
                       "UPDATE accounts SET balance = 999900, opened_with = 999900 WHERE id = '1'");
    CHECK(teller.call({"check"}).code == 1);
    CHECK(teller.call({"work"}).out == "worked: 1 done, 0 canceled, 0 undecided, 0 left alone\n");
    CHECK(teller.call({"balance", "1"}).out == "0.00\n");
    teller.check_whole();

    CHECK(teller.call({"purge"}).out == "purged: 0 entries\n");
    ask(own.address(), "UPDATE settle_entry SET created = created - 4000000000, "
                       "modified = modified - 4000000000 WHERE id <> 'big'");
    CHECK(teller.call({"purge"}).out == "purged: 6 entries\n");
    CHECK(teller.call({"check"}).code == 0);
}

TEST_CASE("applications: check compares every account in PostgreSQL with the log") {
    fresh_schema const own;
    opened_bank const teller{"check", own.address(), 3};
    REQUIRE(teller.call({"run", teller.input()}).code == 0);
    teller.check_whole();
    ask(own.address(), "UPDATE accounts SET balance = balance - 7 WHERE id = '1'; "
                       "UPDATE accounts SET balance = balance + 7 WHERE id = '2'");
    auto const found = teller.call({"check"});
    CHECK(found.code == 1);
    CHECK(found.out.find("ok  money ") != std::string::npos);
    CHECK(found.out.find("BAD accounts    2 of ") != std::string::npos);
}

TEST_CASE("applications: transfer is killed, with another client beside it, and no money is lost") {
    fresh_schema const own;
    constexpr int orders = 3000;
    opened_bank const teller{"killed", own.address(), orders};
    // It reads, holds rows for a moment, changes nothing, and takes away dead rows.
    std::jthread other{[address = own.address()](std::stop_token const& over) {
        while (!over.stop_requested()) {
            try {
                ask(address, "SELECT sum(balance) FROM accounts; SELECT count(*) FROM settle_mark");
                ask(address, "BEGIN; SELECT * FROM accounts WHERE id < '3' ORDER BY id FOR UPDATE; "
                             "UPDATE accounts SET opened_with = opened_with WHERE id < '2'; "
                             "SELECT pg_sleep(0.02); COMMIT");
                ask(address, "VACUUM accounts");
            } catch (std::exception const&) {
                // A deadlock ends its native transaction, or the program's, which is repeated.
            }
        }
    }};
    for (arguments const& pace :
         {arguments{"--batch", "40"}, arguments{"--two-phases", "--batch", "30"},
          arguments{"--threads", "3", "--batch", "7"}, arguments{"--two-phases"},
          arguments{"--batch", "1"}}) {
        auto const before = teller.done();
        arguments run{"run", teller.input()};
        run.insert(run.end(), pace.begin(), pace.end());
        {
            proxy between{own.port()};
            hold_commits(between);
            auto running = teller.start_at(own.address_at(between.port(), proxy::options), run);
            teller.wait_for_more(running, before);
            running.signal(SIGKILL);
            CHECK(running.wait().signal == SIGKILL);
        }
        auto const settled = teller.call({"recover"});
        CHECK_MESSAGE(settled.code == 0, settled.out << settled.err);
        teller.check_whole();
    }
    auto const last = teller.call({"run", teller.input()});
    other.request_stop();
    other.join();
    CHECK_MESSAGE(last.code == 0, last.out << last.err);
    teller.check_whole();
    CHECK(ask_one(own.address(), "SELECT count(*) FROM settle_entries "
                                 "WHERE state IN ('done', 'canceled')") == std::to_string(orders));
    CHECK(ask_one(own.address(), "SELECT sum(balance - opened_with) FROM accounts") == "0");
}

TEST_CASE("applications: a server that dies under a run, is away, or keeps a user out") {
    postgresql_server server;
    opened_bank const teller{"away", server.address(), 1200};
    proxy between{server.port()};
    hold_commits(between);
    auto running =
        teller.start_at("postgresql://postgres@127.0.0.1:" + std::to_string(between.port()) +
                            "/postgres?" + proxy::options,
                        {"run", teller.input(), "--batch", "20"});
    teller.wait_for_more(running, 0);
    server.kill();
    // It would wait for its server for a while.
    running.signal(SIGINT);
    // The sentence begins with the work that lost its connection.
    refused(running.wait(), "that the server runs and can be reached from here");
    refused(teller.call({"check"}), "PostgreSQL could not be reached");
    server.start();
    auto const last = teller.call({"run", teller.input()});
    CHECK_MESSAGE(last.code == 0, last.out << last.err);
    teller.check_whole();

    ask(server.address(), "CREATE ROLE teller LOGIN PASSWORD 'secret-1' IN ROLE needs_password;"
                          "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public "
                          "TO teller");
    auto const as = [&](std::string const& password) {
        return teller.call_at(server.address("postgres", "", "teller:" + password), {"check"});
    };
    auto const right = as("secret-1");
    CHECK_MESSAGE(right.code == 0, right.err);
    refused(as("secret-2"), "28P01");
    refused(teller.call_at(server.address("nowhere"), {"check"}), "3D000");
}

TEST_CASE("applications: a table that has changed is refused with a sentence") {
    fresh_schema const own;
    opened_bank const teller{"changed", own.address(), 3};
    ask(own.address(), "ALTER TABLE accounts DROP COLUMN opened_with");
    refused(teller.call({"run", teller.input()}), "opened_with");
    ask(own.address(), "ALTER TABLE accounts ADD COLUMN opened_with text NOT NULL DEFAULT ''");
    refused(teller.call({"check"}), "opened_with");
    CHECK(ask_one(own.address(), "SELECT count(*) FROM settle_entry") == "0");
}

TEST_CASE("applications: a mistyped address opens no bank in another program's schema") {
    fresh_schema const own;
    scratch_folder const folder{"postgresql-slip"};
    auto const input = first_lines(folder, "transfer/payment_orders.csv", 5);
    auto const call = [&](std::string const& address, arguments const& more) {
        return call_sample(folder, "transfer", address, more);
    };
    refused(call(own.address(), {"check"}), "holds nothing that was opened");
    ask(own.address(), "CREATE VIEW zoo AS SELECT 1 AS lion");
    refused(call(own.address(), {"open", input, "--balance", "1.00"}),
            "belongs to another application: it has a table 'zoo' and none named 'accounts'");
    CHECK(ask_one(own.address(), "SELECT count(*) FROM pg_class WHERE relname = 'accounts' AND "
                                 "relnamespace = current_schema()::regnamespace") == "0");
    refused(call("postgresql://127.0.0.1", {"check"}), "names no database");
    refused(call("postgresql://bank:secret@@h/bank", {"check"}), "has two '@'");
    refused(call("postgres://bank:secret@127.0.0.1:1/bank?connect_timeout=1", {"check"}),
            "PostgreSQL could not be reached");
    auto const wrong = call("postgre://bank:secret@h/bank", {"check"});
    CHECK(wrong.code == 2);
    CHECK(wrong.err.starts_with("'postgre:…' is no address of a store; known are sqlite:PATH, "));
    CHECK(call(own.address(), {"--layout", "tutorial", "list"}).code == 2);
}

TEST_CASE("applications: names with quotes are stored as they are, and NUL is refused") {
    fresh_schema const own;
    scratch_folder const folder{"postgresql-names"};
    std::string const quotes = R"(o'br"";-- \x $1)";
    std::string const name = R"(o'br";-- \x $1)";
    std::string const head = "id,source,destination,amount\n";
    auto const orders = folder.write(
        "orders.csv", head + "\"" + quotes + "\",\"" + quotes + "\",b,1\nx,a" + '\0' + ",b,1\n" +
                          "y" + '\0' + ",b,a,1\n'; DROP TABLE accounts; --,b,{},1\n");
    auto const call = [&](arguments const& more) {
        return call_sample(folder, "transfer", own.address(), more);
    };
    auto const opened = call({"open", orders, "--balance", "10.00"});
    CHECK(opened.code == 1);
    CHECK_MESSAGE(opened.out.find("accounts   3 opened\n2 refused\n") != std::string::npos,
                  opened.out);
    auto const ran = call({"run", orders});
    CHECK(ran.code == 1);
    CHECK(ran.out.find("  done       2\n") != std::string::npos);
    CHECK(ran.out.find("NUL byte") != std::string::npos);
    CHECK(call({"balance", name}).out == "9.00\n");
    CHECK(call({"reverse", name}).code == 0);
    CHECK(call({"balance", name}).out == "10.00\n");
    CHECK(call({"show", "'; DROP TABLE accounts; --"}).code == 0);
    CHECK(call({"check"}).code == 0);
}

} // namespace settle_test
