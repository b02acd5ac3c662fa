// SPDX-License-Identifier: BSL-1.0
// Waves beside other sessions: a mark that is committed while a wave waits for its row, deadlocks,
// held rows, readers, and transactions of several programs.
#include "fixtures.hpp"
#include "races_suite.hpp"

namespace settle_test {
namespace {

using namespace races;

settle::mariadb::options patient_limits() { return mariadb_fixture::patient_limits(); }
void wait_for_waiters(fresh_mariadb const& own) {
    races::wait_for_waiters<mariadb_fixture>(own, 1);
}

TEST_CASE("races: a mark that was committed while a wave waited for its row is seen") {
    for (std::size_t const size : {std::size_t{1}, std::size_t{6}}) {
        fresh_mariadb const own;
        settle::mariadb::database db{own.address(), patient_limits()};
        auto session = db.bind<accounts_type>(db.bind_log().name());
        for (std::size_t number = 0; number < size; ++number) {
            REQUIRE(session.create<accounts_type>({"a" + std::to_string(number), 1}).has_value());
        }
        mariadb_session holder{own.address()};
        holder.ask("BEGIN; SELECT * FROM accounts WHERE id = 'a0' FOR UPDATE; "
                   "INSERT INTO settle_mark VALUES ('accounts', 'a0', 'other', 0, 0, 5, 'set', "
                   "'{\"balance\":7}', '{\"balance\":1}', '{}')");
        auto wave = std::async(std::launch::async, [&] {
            settle::testing::part_wave applied{settle::step::apply};
            for (std::size_t number = 0; number < size; ++number) {
                applied.add<settle::forward<transfer_type>>(
                    "t" + std::to_string(number),
                    {"a" + std::to_string(number), "a" + std::to_string(number), 1}, 6);
            }
            applied.send(session);
            return applied.answers(0);
        });
        wait_for_waiters(own);
        holder.ask("COMMIT");
        CHECK(wave.get() == "busy, busy");
        CHECK(own.ask_one("SELECT balance FROM accounts WHERE id = 'a0'") == "1");
    }
}

TEST_CASE("races: only the transaction waits whose row another session holds") {
    check_held_row<mariadb_fixture>();
}

TEST_CASE("races: a table that another session has locked delays its transactions, and no more") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        fresh_mariadb const own;
        auto short_waits = patient_limits();
        short_waits.lock_timeout = 1s;
        settle::mariadb::database db{own.address(), short_waits};
        settle::options limits;
        limits.patience = 2s;
        limits.takeover = 100ms;
        settle::engine engine{db, settle::type<transfer_type>, how, limits};
        for (char const* id : {"a", "b"}) engine.create(accounts, account{id, 10}).value();
        mariadb_session holder{own.address()};
        holder.ask("LOCK TABLES accounts WRITE");
        auto const held = engine.run("held", transfer{"a", "b", 1});
        INFO(held.text());
        CHECK(held.verdict == settle::verdict::undecided);
        CHECK(held.problem.code == settle::mariadb::lock_wait_timeout);
        CHECK(engine.find("held").has_value());
        holder.ask("UNLOCK TABLES");
        auto const again = engine.run("held", transfer{"a", "b", 1});
        CHECK_MESSAGE(again.done(), again.text());
        CHECK(own.ask_one("SELECT GROUP_CONCAT(balance ORDER BY id) FROM accounts") == "9,11");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("races: a statement that takes too long delays its transaction, and no more") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        fresh_mariadb const own;
        settle::mariadb::database patient{own.address(), patient_limits()};
        auto session = patient.bind<accounts_type>(patient.bind_log().name());
        for (char const* id : {"a", "b", "c", "d"}) {
            REQUIRE(session.create<accounts_type>({id, 10}).has_value());
        }
        auto short_waits = patient_limits();
        short_waits.statement_timeout = 1s;
        auto const db = patiently([&] {
            return std::make_unique<settle::mariadb::database>(own.address(), short_waits);
        });
        settle::options limits;
        limits.patience = 2s;
        limits.takeover = 100ms;
        auto engine = patiently(
            [&] { return settle::engine{*db, settle::type<transfer_type>, how, limits}; });
        {
            mariadb_session holder{own.address()};
            holder.ask("BEGIN; UPDATE accounts SET balance = 0 WHERE id = 'a'");
            auto const held = engine.run("held", transfer{"a", "b", 1});
            INFO(held.text());
            CHECK(held.verdict == settle::verdict::undecided);
            CHECK((held.problem.code == settle::mariadb::statement_timeout ||
                   held.problem.code == settle::mariadb::commit_unknown));
            CHECK(engine.run("free", transfer{"c", "d", 1}).done());
        }
        auto const again = engine.retry("held");
        CHECK_MESSAGE((again.done() || engine.run("held", transfer{"a", "b", 1}).done()),
                      again.text());
        CHECK(own.ask_one("SELECT GROUP_CONCAT(balance ORDER BY id) FROM accounts") == "9,11,9,11");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("races: a create waits for a concurrent insert of its key and reports record_exists") {
    check_concurrent_create<mariadb_fixture>();
}

TEST_CASE("races: an entry that another program inserts at the same time is followed") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        for (bool const several : {false, true}) {
            CAPTURE(several);
            fresh_mariadb const own;
            settle::mariadb::database db{own.address(), patient_limits()};
            settle::engine engine{db, settle::type<transfer_type>, how};
            for (char const* id : {"a", "b"}) engine.create(accounts, account{id, 10}).value();
            mariadb_session holder{own.address()};
            // As a cancel inserts it.
            holder.ask("BEGIN; INSERT INTO settle_entry(id, state, epoch, created, modified, "
                       "attempts, reason, open, owner) VALUES('t', 5, 7, UNIX_TIMESTAMP() * 1000, "
                       "UNIX_TIMESTAMP() * 1000, 0, 11, 0, 'host/1')");
            auto run = std::async(std::launch::async, [&]() -> std::vector<settle::outcome> {
                std::vector<std::pair<std::string, transfer>> transfers{{"t", {"a", "b", 1}}};
                if (several) {
                    for (auto const* id : {"s", "u", "v", "w", "x"}) {
                        transfers.push_back({id, {"a", "b", 1}});
                    }
                    return engine.run_all(transfers);
                }
                return {engine.run("t", transfer{"a", "b", 1})};
            });
            wait_for_waiters(own);
            holder.ask("COMMIT");
            auto const outcomes = run.get();
            CHECK_MESSAGE(outcomes[0].canceled(), outcomes[0].text());
            for (std::size_t number = 1; number < outcomes.size(); ++number) {
                CHECK_MESSAGE(outcomes[number].done(), outcomes[number].text());
            }
            CHECK(own.ask_one("SELECT balance FROM accounts WHERE id = 'a'") ==
                  (several ? "5" : "10"));
            CHECK(engine.marks().value() == 0);
        }
    }
}

TEST_CASE("races: programs that share a database keep the sum, in one phase and in two") {
    check_shared_database<mariadb_fixture>();
}

TEST_CASE("races: sets of rows in opposite orders end without a loss") {
    fresh_mariadb const own;
    settle::mariadb::database db{own.address()};
    settle::engine engine{db, settle::type<transfer_type>, settle::two_phases};
    std::vector<account> all;
    for (int number = 0; number < 40; ++number) all.push_back({std::to_string(number), 1000});
    CHECK(engine.create_all(accounts, all).created == all.size());
    std::atomic<bool> stopping = false;
    // Another program locks the rows in an order that is not settle's.
    std::jthread other{[&] {
        mariadb_session person{own.address()};
        while (!stopping) {
            try {
                person.ask("BEGIN; UPDATE accounts SET balance = balance WHERE id = '9'; "
                           "UPDATE accounts SET balance = balance WHERE id = '0'; "
                           "UPDATE accounts SET balance = balance WHERE id = '25'; COMMIT");
            } catch (std::runtime_error const&) {
                person.ask("ROLLBACK"); // a deadlock
            }
        }
    }};
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&, thread] {
                for (int round = 0; round < 6; ++round) {
                    std::vector<transfer> several;
                    for (int number = 0; number < 40; ++number) {
                        int const from = thread % 2 == 0 ? number : 39 - number;
                        several.push_back(
                            {std::to_string(from), std::to_string((from + 7) % 40), 1});
                    }
                    for (auto const& each : engine.run_all(several)) wrong += each.done() ? 0 : 1;
                }
            });
        }
    }
    stopping = true;
    other.join();
    CHECK(wrong == 0);
    CHECK(own.ask_one("SELECT SUM(balance) FROM accounts") == "40000");
    CHECK(engine.marks().value() == 0);
}

TEST_CASE("races: a batch sees each id that another program inserts meanwhile") {
    check_ids_of_batches<mariadb_fixture>();
}

TEST_CASE("races: round trips of plain records") { check_round_trips<mariadb_fixture>(); }

} // namespace
} // namespace settle_test
