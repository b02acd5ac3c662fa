// SPDX-License-Identifier: BSL-1.0
// Waves beside other sessions: a mark that is committed while a wave waits for its row, deadlocks,
// held rows, and transactions of several programs.
#include "fixtures.hpp"
#include "patient_limits.hpp"

#include <settle/settle.hpp>
#include <settle/testing/requests.hpp>

#include <doctest/doctest.h>

#include <future>
#include <thread>

namespace {

using settle::field;
using settle::param;
using settle::participant;
using settle_test::ask;
using settle_test::ask_one;
using settle_test::fresh_schema;
using settle_test::patient_limits;

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance));
};
constexpr settle::collection<account, "accounts", &account::id> accounts;
using accounts_type = std::remove_const_t<decltype(accounts)>;

struct transfer {
    BOOST_HANA_DEFINE_STRUCT(transfer, (std::string, source), (std::string, destination),
                             (std::int64_t, amount));
};
constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

struct setting {
    BOOST_HANA_DEFINE_STRUCT(setting, (std::string, id), (std::int64_t, balance));
};
constexpr auto setting_type = settle::transaction<setting, "setting">(
    participant<"account">(accounts, param<&setting::id>)
        .confirm(field<&account::balance> = param<&setting::balance>));

/// A session of another program.
class other_session {
public:
    explicit other_session(std::string const& address)
        : handle_(PQconnectdb(address.c_str()), PQfinish) {}
    void run(std::string const& sql) {
        PGresult* const found = PQexec(handle_.get(), sql.c_str());
        auto const status = PQresultStatus(found);
        INFO(PQresultErrorMessage(found));
        CHECK((status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK));
        PQclear(found);
    }

private:
    std::unique_ptr<PGconn, void (*)(PGconn*)> handle_;
};

/// Waits until so many sessions of the schema wait for a lock.
void wait_for_waiters(fresh_schema const& own, std::string const& count) {
    using namespace std::chrono_literals;
    for (int tries = 0; tries < 1000; ++tries) {
        auto const waiting =
            ask_one(own.address(), "SELECT count(*) FROM pg_stat_activity WHERE "
                                   "wait_event_type = 'Lock' AND query LIKE '%" +
                                       own.name() + "%' AND pid <> pg_backend_pid()");
        if (waiting == count) return;
        std::this_thread::sleep_for(5ms);
    }
    FAIL("no session waits for a lock");
}

} // namespace

TEST_CASE("races: a mark that was committed while a wave waited for its row is seen") {
    fresh_schema const own;
    settle::postgresql::database db{own.address(), patient_limits()};
    auto session = db.bind<accounts_type>(db.bind_log().name());
    REQUIRE(session.create<accounts_type>({"a", 1}).has_value());
    other_session holder{own.address()};
    holder.run("BEGIN; SELECT * FROM accounts WHERE id = 'a' FOR UPDATE; "
               "INSERT INTO settle_mark VALUES ('accounts', 'a', 'other', 0, 0, 5, 'set', "
               "'{\"balance\":7}', '{\"balance\":1}', '{}')");
    auto wave = std::async(std::launch::async, [&] {
        settle::testing::part_wave applied{settle::step::apply};
        applied.add<settle::forward<setting_type>>("mine", {"a", 9}, 6);
        applied.send(session);
        return applied.answers(0);
    });
    wait_for_waiters(own, "1");
    // One statement that looks at both has its snapshot before it waits.
    auto naive = std::async(std::launch::async, [&] {
        return ask(own.address(), "UPDATE " + own.name() +
                                      ".accounts SET balance = 100 WHERE id = 'a' AND "
                                      "NOT EXISTS (SELECT FROM settle_mark WHERE key = 'a') "
                                      "RETURNING id");
    });
    wait_for_waiters(own, "2");
    holder.run("COMMIT");
    CHECK(wave.get() == "busy");
    CHECK(naive.get().size() == 1);
    CHECK(ask_one(own.address(), "SELECT count(*) FROM settle_mark") == "1");
}

TEST_CASE("races: only the transaction waits whose row another session holds") {
    using namespace std::chrono_literals;
    fresh_schema const own;
    settle::postgresql::database_options short_waits;
    short_waits.lock_timeout = 100ms;
    {
        // Other tests create tables at the same time, and only one session of a database may.
        settle::postgresql::database patient{own.address(), patient_limits()};
        auto made = patient.bind<accounts_type>(patient.bind_log().name());
        for (char const* id : {"a", "b", "c", "d", "e"}) {
            REQUIRE(made.create<accounts_type>({id, 10}).has_value());
        }
    }
    settle::postgresql::database db{own.address(), short_waits};
    auto session = db.bind<accounts_type>(db.bind_log().name());
    other_session holder{own.address()};
    holder.run("BEGIN; SELECT * FROM accounts WHERE id = 'c' FOR UPDATE");
    settle::testing::part_wave applied{settle::step::apply};
    for (char const* id : {"a", "b", "c", "d"}) {
        applied.add<settle::forward<transfer_type>>(id, {id, "e", 1}, 6);
    }
    applied.send(session);
    CHECK(applied.answers(0) == "applied, applied");
    CHECK(applied.answers(1) == "applied, applied");
    CHECK(applied.answers(2) == "unavailable, applied");
    CHECK(applied.answers(3) == "applied, applied");
    holder.run("COMMIT");
    CHECK(session.marks(std::nullopt, 10).value().size() == 7);
}

TEST_CASE("races: a create waits for a concurrent insert of its key and reports record_exists") {
    fresh_schema const own;
    settle::postgresql::database db{own.address(), patient_limits()};
    auto session = db.bind<accounts_type>(db.bind_log().name());
    other_session holder{own.address()};
    holder.run("BEGIN; INSERT INTO accounts VALUES ('a', 5)");
    auto made =
        std::async(std::launch::async, [&] { return session.create<accounts_type>({"a", 1}); });
    wait_for_waiters(own, "1");
    holder.run("COMMIT");
    auto const answer = made.get();
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.problem().code == settle::errc::record_exists);
    CHECK(session.read<accounts_type>("a").value()->balance == 5);
}

TEST_CASE("races: programs that share a database keep the sum, in one phase and in two") {
    fresh_schema const own;
    constexpr int count = 6;
    constexpr std::int64_t opening = 1000;
    {
        settle::postgresql::database db{own.address()};
        auto session = db.bind<accounts_type>(db.bind_log().name());
        for (int i = 0; i < count; ++i) {
            REQUIRE(session.create<accounts_type>({std::to_string(i), opening}).has_value());
        }
    }
    std::atomic<int> wrong = 0;
    auto const work = [&](unsigned number, settle::phases how) {
        settle::postgresql::database db{own.address()};
        settle::engine engine{db, settle::type<transfer_type>, settle::type<setting_type>, how};
        std::vector<std::pair<std::string, transfer>> all;
        for (unsigned i = 0; i < 60; ++i) {
            auto const from = (i * 7 + number) % count;
            auto const to = (from + 1 + i % (count - 1)) % count;
            all.emplace_back(std::to_string(number) + "-" + std::to_string(i),
                             transfer{std::to_string(from), std::to_string(to), 1 + i % 5});
        }
        for (auto const& one : engine.run_all(all, settle::batch_options{.window = 20})) {
            wrong += one.done() ? 0 : 1;
        }
        for (unsigned i = 0; i < 10; ++i) {
            auto const [id, given] = all[i];
            wrong += engine.run(id + "x", given).done() ? 0 : 1;
        }
    };
    {
        std::vector<std::jthread> all;
        for (unsigned thread = 0; thread < 4; ++thread) {
            all.emplace_back(work, thread,
                             thread % 2 == 0 ? settle::phases::one : settle::phases::two);
        }
    }
    CHECK(wrong == 0);
    settle::postgresql::database db{own.address()};
    settle::engine engine{db, settle::type<transfer_type>};
    CHECK(engine.marks().value() == 0);
    CHECK(ask_one(own.address(), "SELECT sum(balance) FROM accounts") ==
          std::to_string(count * opening));
    CHECK(ask_one(own.address(), "SELECT count(*) FROM settle_entries WHERE state = 'done'") ==
          "280");
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

TEST_CASE("races: round trips of plain records") {
    fresh_schema const own;
    settle::postgresql::database db{own.address()};
    settle::engine one{db, settle::type<transfer_type>, settle::phases::one};
    settle::engine two{db, settle::type<transfer_type>, settle::phases::two};
    one.create(accounts, account{"a", 100}).value();
    one.create(accounts, account{"b", 100}).value();
    auto const trips = [&](auto& engine) {
        auto const before = db.round_trips();
        CHECK(engine.run(transfer{"a", "b", 1}).done());
        return db.round_trips() - before;
    };
    CHECK(trips(one) == 1);
    // Insert, apply, commit, confirm and close.
    CHECK(trips(two) == 5);
}
