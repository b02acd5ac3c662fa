// SPDX-License-Identifier: BSL-1.0
// The applications with --store mongodb://…, and with --layout tutorial on leftovers of old
// programs.
#include "commands.hpp"
#include "shared_servers.hpp"

#include <doctest/doctest.h>
#include <sample_runs.hpp>

#include <chrono>

namespace {

using settle_test::arguments;
using settle_test::fresh_database;
using settle_test::replica_set_address;
using settle_test::run_command;
using settle_test::standalone_address;
using testing::call_sample;
using testing::first_lines;
using testing::scratch_folder;

void same_outcomes(testing::sample_table const& what) {
    scratch_folder const folder{"mongodb-" + what.program};
    testing::same_as_in_a_file(folder, what, {{}, {"--two-phases"}, {"--threads", "4"}},
                               [] { return fresh_database{replica_set_address}; });
    testing::same_as_in_a_file(folder, what, {{"--batch", "20"}},
                               [] { return fresh_database{standalone_address}; });
}

/// Stores a leftover of an old program with a command of that program.
void leave(fresh_database const& own, std::string const& collection, std::string const& documents) {
    auto const reply = run_command(own.address(), R"({"insert": ")" + collection +
                                                      R"(", "documents": [)" + documents + "]}");
    REQUIRE_MESSAGE(reply.ok, reply.error);
}

/// The time of an entry that no program takes for too old.
std::string milliseconds_now() {
    using namespace std::chrono;
    auto const now = system_clock::now().time_since_epoch();
    return std::to_string(duration_cast<milliseconds>(now).count());
}

} // namespace

TEST_CASE("applications: the bank's orders have the same outcomes in MongoDB and in a file") {
    same_outcomes(testing::bank_table);
}

TEST_CASE("applications: the shop's invoices have the same outcomes in MongoDB and in a file") {
    same_outcomes(testing::shop_table);
}

TEST_CASE("applications: check compares every account in MongoDB with the log") {
    scratch_folder const folder{"mongodb-check"};
    first_lines(folder, "transfer/payment_orders.csv", 4);
    fresh_database const own{replica_set_address};
    auto const check = [&] { return call_sample(folder, "transfer", own.address(), {"check"}); };
    auto const input = folder.at("input.csv");
    REQUIRE(call_sample(folder, "transfer", own.address(),
                        {"--two-phases", "open", input, "--balance", "9000.00", "run", input})
                .code == 0);
    CHECK(check().out.find("ok  accounts    5 agree with the log\n") != std::string::npos);
    auto const changed =
        run_command(own.address(),
                    R"({"update": "accounts", "updates": [)"
                    R"({"q": {"_id": "1"}, "u": {"$inc": {"balance": {"$numberLong": "-7"}}}},)"
                    R"({"q": {"_id": "2"}, "u": {"$inc": {"balance": {"$numberLong": "7"}}}}]})");
    REQUIRE_MESSAGE(changed.ok, changed.error);
    auto const result = check();
    CHECK(result.code == 1);
    CHECK(result.out.find("ok  money ") != std::string::npos);
    CHECK(result.out.find("BAD accounts    2 of 5 differ from the log") != std::string::npos);
}

TEST_CASE("applications: a mistyped address opens no bank in another program's database") {
    scratch_folder const folder{"mongodb-slip"};
    first_lines(folder, "transfer/payment_orders.csv", 5);
    fresh_database const own{replica_set_address};
    auto const nothing = call_sample(folder, "transfer", own.address(), {"check"});
    CHECK(nothing.code == 3);
    CHECK(nothing.err.find("holds nothing that was opened") != std::string::npos);
    leave(own, "zoo", R"({"_id": "lion"})");
    auto const refused = call_sample(folder, "transfer", own.address(),
                                     {"open", folder.at("input.csv"), "--balance", "1.00"});
    CHECK(refused.code == 3);
    CHECK(refused.err.find("belongs to another application") != std::string::npos);
    auto const nameless = call_sample(folder, "transfer", "mongodb://127.0.0.1", {"check"});
    CHECK(nameless.code == 3);
    CHECK(nameless.err.find("names no database") != std::string::npos);
    for (std::string const address : {"mongodb://127.0.0.1", "mongodb://bank:se:cret@h/bank"}) {
        auto const old = call_sample(folder, "transfer", address, {"--layout", "tutorial", "list"});
        INFO(address);
        CHECK(old.code == 3);
        CHECK(old.err.find("this MongoDB address is refused") != std::string::npos);
    }
    auto const layout =
        call_sample(folder, "transfer", "memory:", {"--layout", "tutorial", "list"});
    CHECK(layout.code == 2);
}

TEST_CASE("applications: a database is opened only in its own layout") {
    scratch_folder const folder{"mongodb-layouts"};
    auto const input = first_lines(folder, "transfer/payment_orders.csv", 5);
    fresh_database const ours{replica_set_address};
    auto const call_on = [&](fresh_database const& where, arguments const& command) {
        return call_sample(folder, "transfer", where.address(), command);
    };
    CHECK(call_on(ours, {"open", input, "--balance", "10000.00", "run", input}).code == 0);
    auto const refused = call_on(ours, {"--layout", "tutorial", "recover", "--older-than", "0s"});
    CHECK(refused.code == 3);
    CHECK(refused.out == "");
    CHECK(refused.err.find("settle's own layout") != std::string::npos);
    CHECK(refused.err.find("a tutorial's layout") != std::string::npos);
    CHECK(call_on(ours, {"check"}).code == 0);

    fresh_database const theirs{replica_set_address};
    leave(theirs, "accounts", R"({"_id": "A", "balance": 900})");
    leave(theirs, "transactions",
          R"({"_id": 1, "source": "A", "destination": "A", "value": 1, "state": "intital"})");
    // Before it is taken over, and after.
    for (int times = 0; times < 2; ++times) {
        for (arguments const& command :
             {arguments{"recover"}, arguments{"open", input, "--balance", "1.00"}}) {
            auto const mistaken = call_on(theirs, command);
            CHECK(mistaken.code == 3);
            CHECK(mistaken.err.find("give --layout tutorial") != std::string::npos);
        }
        auto const recovered =
            call_on(theirs, {"--layout", "tutorial", "recover", "--older-than", "0s"});
        CHECK(recovered.code == 3);
        CHECK(recovered.out.find("1 left alone") != std::string::npos);
        CHECK(recovered.out.find("its 'state' is 'intital'") != std::string::npos);
    }
    auto const checked = call_on(theirs, {"--layout", "tutorial", "check"});
    CHECK(checked.code == 1);
    CHECK(checked.out.find("BAD unfinished  1") != std::string::npos);
    auto const listed = call_on(theirs, {"--layout", "tutorial", "list"});
    CHECK(listed.out.find("which is no known state") != std::string::npos);
}

TEST_CASE("applications: leftovers of the tutorial's bank are listed, settled and checked") {
    scratch_folder const folder{"mongodb-old-bank"};
    fresh_database const own{replica_set_address};
    auto const bank = [&](arguments more) {
        more.insert(more.begin(), {"--layout", "tutorial"});
        return call_sample(folder, "transfer", own.address(), std::move(more));
    };
    leave(own, "accounts",
          R"({"_id": "A", "balance": 900.0, "pendingTransactions": [1]},)"
          R"({"_id": "B", "balance": 1000, "pendingTransactions": []})");
    leave(own, "transactions",
          R"({"_id": 1, "source": "A", "destination": "B", "value": 100, "state": "canceling"},)"
          R"({"_id": 2, "source": "A", "destination": "B", "value": 10, "state": "initial"},)"
          R"({"_id": 3, "source": "A", "destination": "B", "value": 7, "state": "initial", )"
          R"("lastModified": {"$date": {"$numberLong": ")" +
              milliseconds_now() + R"("}}})");
    CHECK(bank({"list"}).out.find("canceling") != std::string::npos);
    CHECK(bank({"show", "1"}).out.find("\"amount\": 100") != std::string::npos);
    CHECK(bank({"check"}).code == 1);
    auto const recovered = bank({"recover", "--older-than", "0s"});
    CHECK(recovered.out.find("1 canceled") != std::string::npos);
    CHECK(bank({"cancel", "2"}).out.find("2 is canceled") != std::string::npos);
    CHECK(bank({"check"}).code == 1);
    CHECK(bank({"work"}).out == "worked: 1 done, 0 canceled, 0 undecided, 0 left alone\n");
    auto const checked = bank({"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out);
    CHECK(checked.out.find("money       2000") != std::string::npos);
    CHECK(bank({"balance", "A"}).out.find("993") != std::string::npos);
    auto const missing = bank({"balance", "nobody"});
    CHECK(missing.code == 1);
    CHECK(missing.err.find("there is no account 'nobody'") != std::string::npos);
    CHECK(bank({"run", "x.csv"}).code == 2);
}

TEST_CASE("applications: leftovers of the tutorial's shop are listed, settled and checked") {
    scratch_folder const folder{"mongodb-old-shop"};
    // Some copies of the article call it `amount`.
    for (std::string const field : {"balance", "amount"}) {
        fresh_database const own{replica_set_address};
        auto const shop = [&](arguments more) {
            more.insert(more.begin(), {"--layout", "tutorial"});
            return call_sample(folder, "payment", own.address(), std::move(more));
        };
        leave(own, "balance",
              R"({"_id": "anna", ")" + field + R"(": 70, "pendingTransactions": ["t1"]})");
        leave(own, "orders", R"({"_id": "o1", "state": "Paid", "pendingTransactions": ["t1"]})");
        leave(own, "transaction",
              R"({"_id": "t1", "balance_id": "anna", "order_id": "o1", "amount": 30,)"
              R"( "state": "Applied"},)"
              R"({"_id": "t2", "balance_id": "anna", "order_id": "o1", "amount": 5,)"
              R"( "state": "Initial"})");
        CHECK(shop({"list"}).out.find("applied") != std::string::npos);
        CHECK(shop({"show", "t1"}).out.find("\"amount\": 30") != std::string::npos);
        CHECK(shop({"check"}).code == 1);
        CHECK(shop({"cancel", "t2"}).out.find("t2 is canceled") != std::string::npos);
        CHECK(shop({"recover", "--older-than", "0s"}).out.find("1 done") != std::string::npos);
        CHECK(shop({"cancel", "t1"}).code == 1);
        auto const checked = shop({"check"});
        CHECK_MESSAGE(checked.code == 0, checked.out);
        CHECK(checked.out.find("money       70") != std::string::npos);
        auto const state = run_command(own.address(), R"({"find": "transaction", "filter": {}})");
        CHECK(state.text("cursor.firstBatch.0.state") == "Done");
    }
}
