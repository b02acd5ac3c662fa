// SPDX-License-Identifier: BSL-1.0
// Reads of one record, or one entry, that a majority has confirmed.
#include "another_member.hpp"
#include "bank.hpp"
#include "fixtures.hpp"
#include "proxy.hpp"
#include "servers.hpp"

#include <doctest/doctest.h>
#include <settle/mongodb/tutorial/tutorial.hpp>
#include <settle/settle.hpp>

#include <transfer/tutorial.hpp>

#include <atomic>
#include <mutex>
#include <thread>

namespace {

struct account {
    std::string id;
    std::int64_t balance;
};

} // namespace
BOOST_HANA_ADAPT_STRUCT(account, id, balance);

namespace {

using settle_test::fresh_database;
using settle_test::replica_set_address;
using settle_test::run_command;

constexpr settle::collection<account, "accounts", &account::id> accounts;

/// The request of a client, readable in the same way as the server's replies.
settle_test::reply document_of(settle_test::wire_message const& request) {
    // The flags and the kind of the section follow the header.
    auto const body = settle_test::wire_message::header_size + 4 + 1;
    settle_test::reply content;
    bson_t parsed;
    REQUIRE(bson_init_static(&parsed, &request.bytes[body], request.bytes.size() - body));
    bson_concat(content.document(), &parsed);
    return content;
}

} // namespace

TEST_CASE("reads: both sure reads give the record that a majority confirms") {
    fresh_database const own{replica_set_address};
    REQUIRE(run_command(own.address(), R"({"insert": "accounts", "documents": [)"
                                       R"({"_id": "A", "balance": 7, "note": "kept"}]})")
                .ok);
    settle::mongodb::database db{own.address()};
    CHECK(db.read_linearizable(accounts, "A").value().value().balance == 7);
    CHECK(!db.read_linearizable(accounts, "B").value());
    CHECK(db.read_by_quorum(accounts, "A").value().value().balance == 7);
    CHECK(db.read_by_quorum(accounts, "A").value().value().balance == 7);
    CHECK(!db.read_by_quorum(accounts, "B").value());
    // It writes where it reads, and nothing but its own field.
    auto const after = run_command(own.address(), R"({"find": "accounts", "filter": {}})");
    CHECK(after.number("cursor.firstBatch.0.settle_read") == 2);
    CHECK(after.text("cursor.firstBatch.0.note") == "kept");
    CHECK(after.text("cursor.firstBatch.1._id").empty());
}

TEST_CASE("reads: a single server needs no majority, also in the tutorial's layout") {
    namespace tutorial = bank::tutorial;
    fresh_database const own{settle_test::standalone_address};
    REQUIRE(run_command(own.address(), R"({"insert": "accounts", "documents": [)"
                                       R"({"name": "A", "balance": 7.0, )"
                                       R"("pendingTransactions": [1]}]})")
                .ok);
    settle::mongodb::tutorial_layout layout;
    layout.fields = {{"amount", "value"}};
    layout.key = "name";
    settle::mongodb::tutorial_database<tutorial::transfer_type> db{own.address(), layout};
    CHECK(db.read_linearizable(tutorial::accounts, "A").value().value().balance == 7);
    CHECK(db.read_by_quorum(tutorial::accounts, "A").value().value().balance == 7);
    CHECK(!db.read_linearizable(tutorial::accounts, "B").value());
}

TEST_CASE("reads: each read asks the server for the guarantee that it promises") {
    using namespace settle_test;
    fresh_database const own{replica_set_address};
    std::mutex guard;
    std::vector<wire_message> seen;
    proxy between{own.port()};
    between.on_reply(name_another_member);
    settle::mongodb::database db{between.address(own.name())};
    auto engine = bank_on(db);
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    between.on_request([&](wire_message& request) {
        std::lock_guard const alone{guard};
        if (!is_greeting(request.command)) seen.push_back(request);
    });
    auto const request_of = [&](char const* command) {
        std::lock_guard const alone{guard};
        REQUIRE(seen.size() == 1);
        CHECK(seen.front().command == command);
        auto request = document_of(seen.front());
        seen.clear();
        return request;
    };

    CHECK(balance(engine, "A") == opening);
    CHECK(request_of("find").text("readConcern.level") == "majority");

    CHECK(db.read_linearizable(ledgers, "A").value()->balance == opening);
    auto const linearizable = request_of("find");
    CHECK(linearizable.text("readConcern.level") == "linearizable");
    // Without a majority the server would wait for ever.
    CHECK(linearizable.number("maxTimeMS") == 15'000);

    // That an entry is final is certain where a majority has it; anything else is read again.
    CHECK(!engine.find("t").value());
    {
        std::lock_guard const alone{guard};
        REQUIRE(seen.size() == 2);
        CHECK(document_of(seen[0]).text("readConcern.level") == "majority");
        auto const again = document_of(seen[1]);
        CHECK(again.text("readConcern.level") == "linearizable");
        CHECK(again.number("maxTimeMS") == 15'000);
        seen.clear();
    }
    CHECK(engine.cancel("t", {true, {}, {}}).canceled());
    {
        std::lock_guard const alone{guard};
        seen.clear();
    }
    CHECK(engine.find("t").value()->state == settle::state::canceled);
    CHECK(request_of("find").text("readConcern.level") == "majority");

    // A native transaction reads several records, in a state since which the primary proved to be
    // one.
    CHECK(engine.scan_committed(ledgers).value().size() == 1);
    {
        std::lock_guard const alone{guard};
        REQUIRE(seen.size() == 3);
        auto const proof = document_of(seen[0]);
        CHECK(proof.text("readConcern.level") == "linearizable");
        auto const read = document_of(seen[1]);
        CHECK(read.text("readConcern.level") == "snapshot");
        CHECK(read.truth("readConcern.afterClusterTime"));
        CHECK(seen[2].command == "commitTransaction");
        CHECK(document_of(seen[2]).text("writeConcern.w") == "majority");
        seen.clear();
    }

    CHECK(db.read_by_quorum(ledgers, "A").value()->balance == opening);
    auto const quorum = request_of("findAndModify");
    CHECK(quorum.text("writeConcern.w") == "majority");
    CHECK(quorum.number("writeConcern.wtimeout") == 15'000);
    CHECK(quorum.truth("new"));
    CHECK(quorum.number("update.$inc.settle_read") == 1);
}

TEST_CASE("reads: a sure read on a set of one member is journaled at once, without a timer") {
    using namespace settle_test;
    fresh_database const own{replica_set_address};
    std::atomic<int> commits = 0;
    std::atomic<int> linearizable = 0;
    proxy between{own.port()};
    settle::mongodb::database db{between.address(own.name())};
    auto engine = bank_on(db);
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    between.on_request([&](wire_message& request) {
        std::string const bytes{request.bytes.begin(), request.bytes.end()};
        if (bytes.find("linearizable") != std::string::npos) ++linearizable;
        if (request.command != "commitTransaction") return;
        auto const sent = document_of(request);
        CHECK(sent.text("writeConcern.w") == "majority");
        CHECK(sent.truth("writeConcern.j"));
        ++commits;
    });
    CHECK(db.read_linearizable(ledgers, "A").value()->balance == opening);
    CHECK(commits == 1);
    CHECK(!engine.find("t").value());
    CHECK(commits == 2);
    CHECK(linearizable == 0);
    // Every new member may become the primary.
    between.on_reply(name_another_member);
    CHECK(!engine.find("t").value());
    CHECK(linearizable == 1);
    CHECK(!engine.find("t").value());
    CHECK(linearizable == 2);
    CHECK(commits == 3);
}

TEST_CASE("reads: a read names a record that does not fit its collection") {
    fresh_database const own{replica_set_address};
    REQUIRE(run_command(own.address(), R"({"insert": "accounts", "documents": [)"
                                       R"({"_id": "A", "balance": 7.5}]})")
                .ok);
    settle::mongodb::database db{own.address()};
    CHECK(db.read_linearizable(accounts, "A").problem().code == settle::errc::damaged);
    CHECK(db.read_by_quorum(accounts, "A").problem().text.find("with a fraction") !=
          std::string::npos);
}

TEST_CASE("reads: find() returns an entry whose majority is not known yet") {
    using namespace std::chrono_literals;
    settle_test::replica_set const set{1};
    settle::mongodb::database db{set.address("bank")};
    auto engine = settle_test::bank_on(db);
    settle_test::connection shell{set.address("bank")};
    auto const run = [&](std::string const& in, std::string const& command) {
        auto const reply = shell.run(in, command);
        CHECK_MESSAGE(reply.ok, reply.error); // also called in another thread
    };
    // As on a new primary, which has the acknowledged writes of its predecessor, and learns late
    // that a majority has them, too.
    run("admin", R"({"configureFailPoint": "disableSnapshotting", "mode": "alwaysOn"})");
    run("bank", R"({"insert": "settle_entries", "documents": [{"_id": "t", "state": "canceled", )"
                R"("epoch": {"$numberLong": "5"}, "owner": "", "created": {"$date": {)"
                R"("$numberLong": "5"}}, "modified": {"$date": {"$numberLong": "5"}}, )"
                R"("attempts": 0}], "writeConcern": {"w": 1}})");
    std::thread later{[&] {
        std::this_thread::sleep_for(300ms);
        run("admin", R"({"configureFailPoint": "disableSnapshotting", "mode": "off"})");
        run("bank", R"({"insert": "others", "documents": [{}], "writeConcern": {"w": 1}})");
    }};
    auto const entry = engine.find("t");
    later.join();
    REQUIRE_MESSAGE(entry.has_value(), entry.problem().text);
    REQUIRE(entry.value().has_value());
    CHECK(entry.value()->state == settle::state::canceled);
}
