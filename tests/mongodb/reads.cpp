// SPDX-License-Identifier: BSL-1.0
// Reads of one record that a majority has confirmed.
#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <settle/settle.hpp>

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

} // namespace

TEST_CASE("a record is read as a majority confirms it, in both ways") {
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

TEST_CASE("a read says when its record is none of the collection's") {
    fresh_database const own{replica_set_address};
    REQUIRE(run_command(own.address(), R"({"insert": "accounts", "documents": [)"
                                       R"({"_id": "A", "balance": 7.5}]})")
                .ok);
    settle::mongodb::database db{own.address()};
    CHECK(db.read_linearizable(accounts, "A").problem().code == settle::errc::damaged);
    CHECK(db.read_by_quorum(accounts, "A").problem().text.find("with a fraction") !=
          std::string::npos);
}
