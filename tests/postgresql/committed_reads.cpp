// SPDX-License-Identifier: BSL-1.0
// Reads of decided transactions in two schemas of a PostgreSQL server.
#include "../committed_reads_costs.hpp"
#include "fixtures.hpp"
#include "proxy.hpp"

namespace {

using namespace settle_test;
using namespace committed_reads;
using settle::postgresql::database;

inline constexpr settle::collection<vault, "coffers", &vault::id> coffers;

struct two_schemas {
    fresh_schema first{};
    fresh_schema second{};
    database near{first.address()};
    database far{second.address()};
};

} // namespace

TEST_CASE("committed reads: each step of a transaction, its worker killed after one") {
    check_all_steps<two_schemas>();
}

TEST_CASE("committed reads: beside writers") {
    two_schemas data;
    check_beside_writers(data.near, data.far, 100);
}

TEST_CASE("committed reads: records together, beside writers") {
    two_schemas data;
    check_together(data.near, data.far, together::all, 100);
}

TEST_CASE("committed reads: records that two objects of one database hold") {
    two_schemas data;
    database beside{data.first.address()};
    check_together(data.near, beside, together::all, 50);
}

TEST_CASE("committed reads: a hold of the log, which others keep waiting, or end") {
    two_schemas data;
    settle::engine engine{data.near, settle::bind(vaults, data.far), settle::type<deposit_type>};
    auto log = data.near.bind_log();
    char const* const change = "UPDATE settle_entry SET epoch = epoch";
    psql_session other{data.first.address()};
    {
        std::ignore = engine.create(purses, {"P", 1000, "open"});
        std::ignore = engine.create(vaults, {"V", 7});
        other.ask("BEGIN");
        other.ask(change);
        auto const refused = log.hold_entries();
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.problem().code == settle::errc::no_committed_read);
        // Records that do not change need no hold.
        auto const of_purses = settle::keys_of(purses, {"P"});
        auto const seen = engine.read_together(of_purses, settle::keys_of(vaults, {"V"})).value();
        CHECK(std::get<1>(seen).front()->gold == 7);
        auto const late = engine.read_together({.deadline = 200ms}, of_purses,
                                               settle::keys_of(vaults, {"absent"}));
        REQUIRE_FALSE(late.has_value());
        CHECK(late.problem().code == settle::errc::no_committed_read);
        other.ask("ROLLBACK");
    }
    {
        auto const hold = log.hold_entries();
        REQUIRE(hold.has_value());
        other.ask("SET lock_timeout = 1");
        CHECK_THROWS(other.ask(change));
        other.ask("SET lock_timeout = 0");
        other.ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'ShareLock' "
                  "AND relation = 'settle_entry'::regclass");
        other.ask(change);
        CHECK_FALSE(hold.value()->end().has_value());
    }
    auto const hold = log.hold_entries();
    CHECK(hold.value()->end().has_value());
    other.ask(change);
}

TEST_CASE("committed reads: writers do not wait while rows are read, also with one connection") {
    two_schemas data;
    check_rows_with_one_connection<database, settle::postgresql::database_options>(
        data.first.address(), data.second.address());
}

TEST_CASE("committed reads: a read of many keys holds the log at once") {
    two_schemas data;
    interrupted<database> near{data.first.address()};
    interrupted<database> far{data.second.address()};
    settle::engine engine{near, settle::bind(vaults, far), settle::type<deposit_type>};
    std::ignore = engine.create(purses, {"P", 1000, "open"});
    std::vector<std::string> keys;
    for (int i = 0; i < 100; ++i) {
        keys.push_back(std::to_string(i));
        std::ignore = engine.create(vaults, {keys.back(), 1});
    }
    int held = 0;
    near.between = [&] { ++held; };
    auto const read = [&] {
        auto const of_purses = settle::keys_of(purses, {"P"});
        return engine.read_together(of_purses, settle::keys_of(vaults, keys)).has_value();
    };
    CHECK(read());
    CHECK(held == 1);
    keys.pop_back();
    CHECK(read());
    CHECK(held == 1);
}

TEST_CASE("committed reads: the round trips of one record") {
    two_schemas const data;
    check_round_trips<database>(data.first.address(), data.second.address(), 1);
}

TEST_CASE("committed reads: one statement looks at many records of a collection") {
    fresh_schema const data;
    proxy between{data.port()};
    database near{data.address_at(between.port(), proxy::options)};
    settle::engine engine{near, settle::bind(vaults, near), settle::type<deposit_type>};
    std::vector<std::string> keys;
    for (int i = 0; i < 50; ++i) {
        keys.push_back(std::to_string(i));
        std::ignore = engine.create(vaults, {keys.back(), i});
    }
    auto const seen = engine.read_together(settle::keys_of(vaults, keys)).value();
    CHECK(std::get<0>(seen).back()->gold == 49);
    auto const sent = between.last_request();
    std::size_t looks = 0;
    for (auto place = sent.find("UNION ALL"); place != sent.npos;
         place = sent.find("UNION ALL", place + 1))
        ++looks;
    CHECK(looks == 1);
}

TEST_CASE("committed reads: looks at several other servers are under way together") {
    two_schemas const data;
    fresh_schema const third;
    interrupted<database> near{data.first.address()};
    interrupted<database> far{data.second.address()};
    interrupted<database> beside{third.address()};
    settle::engine engine{near, settle::bind(vaults, far), settle::bind(coffers, beside),
                          settle::type<deposit_type>};
    std::ignore = engine.create(purses, {"P", 1000, "open"});
    std::ignore = engine.create(vaults, {"V", 1});
    std::ignore = engine.create(coffers, {"C", 2});
    int under_way = 0;
    int most = 0;
    far.before = beside.before = [&] { most = std::max(most, ++under_way); };
    far.after = beside.after = [&] { --under_way; };
    auto const trips = [&] {
        return std::array{near.round_trips(), far.round_trips(), beside.round_trips()};
    };
    auto const before = trips();
    auto const seen =
        engine
            .read_together(settle::keys_of(purses, {"P"}), settle::keys_of(vaults, {"V"}),
                           settle::keys_of(coffers, {"C"}))
            .value();
    CHECK(std::get<1>(seen).front()->gold == 1);
    CHECK(std::get<2>(seen).front()->gold == 2);
    CHECK(most == 2);
    auto const after = trips();
    CHECK(after[0] - before[0] == 1);
    CHECK(after[1] - before[1] == 2);
    CHECK(after[2] - before[2] == 2);
}

TEST_CASE("committed reads: a limit") {
    two_schemas data;
    check_limit(data.near, data.far);
}
