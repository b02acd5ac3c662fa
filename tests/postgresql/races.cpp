// SPDX-License-Identifier: BSL-1.0
// Waves beside other sessions: a mark that is committed while a wave waits for its row, deadlocks,
// held rows, and transactions of several programs.
#include "fixtures.hpp"
#include "races_suite.hpp"

namespace settle_test {
namespace {

using namespace races;

TEST_CASE("races: a mark that was committed while a wave waited for its row is seen") {
    fresh_schema const own;
    settle::postgresql::database db{own.address(), postgresql_fixture::patient_limits()};
    auto session = db.bind<accounts_type>(db.bind_log().name());
    REQUIRE(session.create<accounts_type>({"a", 1}).has_value());
    psql_session holder{own.address()};
    holder.ask("BEGIN; SELECT * FROM accounts WHERE id = 'a' FOR UPDATE; "
               "INSERT INTO settle_mark VALUES ('accounts', 'a', 'other', 0, 0, 5, 'set', "
               "'{\"balance\":7}', '{\"balance\":1}', '{}')");
    auto wave = std::async(std::launch::async, [&] {
        settle::testing::part_wave applied{settle::step::apply};
        applied.add<settle::forward<setting_type>>("mine", {"a", 9}, 6);
        applied.send(session);
        return applied.answers(0);
    });
    wait_for_waiters<postgresql_fixture>(own, 1);
    // One statement that looks at both has its snapshot before it waits.
    auto naive = std::async(std::launch::async, [&] {
        return ask(own.address(), "UPDATE " + own.name() +
                                      ".accounts SET balance = 100 WHERE id = 'a' AND "
                                      "NOT EXISTS (SELECT FROM settle_mark WHERE key = 'a') "
                                      "RETURNING id");
    });
    wait_for_waiters<postgresql_fixture>(own, 2);
    holder.ask("COMMIT");
    CHECK(wave.get() == "busy");
    CHECK(naive.get().size() == 1);
    CHECK(ask_one(own.address(), "SELECT count(*) FROM settle_mark") == "1");
}

TEST_CASE("races: only the transaction waits whose row another session holds") {
    check_held_row<postgresql_fixture>();
}

TEST_CASE("races: a create waits for a concurrent insert of its key and reports record_exists") {
    check_concurrent_create<postgresql_fixture>();
}

TEST_CASE("races: programs that share a database keep the sum, in one phase and in two") {
    check_shared_database<postgresql_fixture>();
}

struct loop {
    BOOST_HANA_DEFINE_STRUCT(loop, (std::string, id), (std::int64_t, amount));
};
/// Its own credit comes too late for its debit's guard.
constexpr auto loop_type = settle::transaction<loop, "loop">(
    participant<"in">(accounts, param<&loop::id>)
        .confirm(field<&account::balance> += param<&loop::amount>),
    participant<"out">(accounts, param<&loop::id>)
        .require(field<&account::balance> >= param<&loop::amount>)
        .apply(field<&account::balance> -= param<&loop::amount>)
        .compensate(settle::inverse));

TEST_CASE("races: without reading, a guard counts no credit of its own transaction") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        fresh_schema const own;
        settle::postgresql::database db{own.address()};
        settle::engine engine{db, settle::type<loop_type>, settle::type<transfer_type>, how};
        engine.create(accounts, account{"a", 50}).value();
        CHECK(engine.run(loop{"a", 51}).why == settle::reason::guard_failed);
        CHECK(engine.run(loop{"a", 50}).done());
        CHECK(engine.read(accounts, "a").value()->balance == 50);
    }
}

TEST_CASE("races: a batch sees each id that another program inserts meanwhile") {
    check_ids_of_batches<postgresql_fixture>();
}

TEST_CASE("races: round trips of plain records") { check_round_trips<postgresql_fixture>(); }

} // namespace
} // namespace settle_test
