// SPDX-License-Identifier: BSL-1.0
// Transactions that are answered at their commit, on a server that is killed while they are
// finished: it loses what it has not flushed.
#include "../any_age.hpp"
#include "late_bank.hpp"
#include "servers.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>

namespace at_commit {

using namespace late_entries;
using namespace std::chrono_literals;
namespace {

/// A worker that ends after a step.
struct ended_here : settle::testing::crash {};

/// Only what a session waits for is flushed.
arguments flushing_late() {
    return {"wal_writer_delay=10s", "wal_level=minimal", "max_wal_senders=0", "autovacuum=off"};
}

/// Accounts beside the log on one server, and vaults on another, which is killed.
struct two_servers {
    postgresql_server books{};
    postgresql_server cellar{flushing_late()};
    std::mutex mutex{};
    std::condition_variable changed{};
    std::string seen{}; ///< the steps of all engines
    std::function<void(settle::step)> action{};

    two_servers() {
        ask(books.address(), accounts_sql);
        ask(cellar.address(), vaults_sql);
    }
    void restart_cellar() {
        cellar.kill();
        cellar.start();
    }
    void note(settle::step taken) {
        std::function<void(settle::step)> acts;
        {
            std::lock_guard const guard{mutex};
            seen.append(name_of(taken)).append(", ");
            acts = action;
        }
        changed.notify_all();
        if (acts) acts(taken);
    }
    /// Calls a function after the first such step.
    void once_after(settle::step chosen, std::function<void()> const& function) {
        std::lock_guard const guard{mutex};
        action = [this, chosen, function](settle::step taken) {
            if (taken != chosen) return;
            {
                std::lock_guard const inner{mutex};
                action = {};
            }
            function();
        };
    }
    [[nodiscard]] bool ends() {
        std::unique_lock guard{mutex};
        return changed.wait_for(guard, 20s, [&] { return seen.ends_with("end, "); });
    }
    [[nodiscard]] std::string gold_and_marks() const {
        return ask_one(cellar.address(), "SELECT gold || ' ' || (SELECT count(*) FROM "
                                         "settle_mark) FROM vaults");
    }
    [[nodiscard]] std::string state() const {
        return ask_one(books.address(), "SELECT state FROM settle_entry");
    }
};

struct voucher {
    BOOST_HANA_DEFINE_STRUCT(voucher, (std::string, id), (std::int64_t, worth));
};
constexpr settle::collection<voucher, "vouchers", &voucher::id> vouchers;
struct redemption {
    BOOST_HANA_DEFINE_STRUCT(redemption, (std::string, voucher), (std::string, to),
                             (std::int64_t, worth));
};
constexpr auto redemption_type = settle::transaction<redemption, "redemption">(
    participant<"voucher">(vouchers, param<&redemption::voucher>)
        .require(field<&voucher::worth> == param<&redemption::worth>)
        .confirm(settle::erase),
    participant<"to">(accounts, param<&redemption::to>)
        .confirm(field<&account::balance> += param<&redemption::worth>));

std::string const done_number = "3";
std::string const applied_number = "2";

/// A program with databases of its own.
struct program {
    explicit program(two_servers& made)
        : all{&made}, books{made.books.address()}, cellar{made.cellar.address()} {}

    auto engine() {
        settle::options limits;
        limits.answer = settle::at_commit;
        return settle::engine{
            books,
            settle::bind(vaults, cellar),
            settle::bind(vouchers, cellar),
            settle::type<deposit_type>,
            settle::type<redemption_type>,
            limits,
            settle::observed_by([to = all](settle::event const& event) { to->note(event.taken); })};
    }

    two_servers* all;
    settle::postgresql::database books;
    settle::postgresql::database cellar;
};

} // namespace

TEST_CASE("at commit: a server that is killed loses what nobody forced") {
    postgresql_server server{flushing_late()};
    ask(server.address(), "CREATE TABLE rows (n int)");
    auto const flushed = [](psql_session& session, std::string const& position) {
        return session.ask_one("SELECT pg_current_wal_flush_lsn() >= '" + position + "'") == "t";
    };
    auto const insert = [](psql_session& session, std::string const& number) {
        session.ask("BEGIN; SET LOCAL synchronous_commit = off; INSERT INTO rows VALUES(" + number +
                    "); COMMIT");
        return session.ask_one("SELECT pg_current_wal_insert_lsn()");
    };
    {
        psql_session session{server.address()};
        insert(session, "0"); // the first one may be flushed
        auto const kept = insert(session, "1");
        CHECK(!flushed(session, kept));
        session.ask(std::string{settle::postgresql::detail::dialect::with_disk});
        CHECK(flushed(session, kept));
        CHECK(!flushed(session, insert(session, "2")));
    }
    server.kill();
    server.start();
    CHECK(ask_one(server.address(), "SELECT max(n) FROM rows") == "1");
}

TEST_CASE("at commit: a server is killed after the confirm, and again after the close") {
    two_servers servers;
    program first{servers};
    auto engine = first.engine();
    servers.once_after(settle::step::confirm, [&] { servers.restart_cellar(); });
    auto const answered = engine.run("t", deposit{"A", "V", 60});
    CHECK(answered.done());
    CHECK(!answered.finished);
    REQUIRE(servers.ends());
    CHECK(servers.seen.starts_with("apply, decide, confirm, force, "));
    CHECK(servers.seen.ends_with("confirm, force, close, end, "));
    CHECK(servers.state() == done_number);
    servers.restart_cellar();
    CHECK(servers.gold_and_marks() == "60 0");
}

TEST_CASE("at commit: a recovery finds nothing to confirm, and a server is killed after it") {
    two_servers servers;
    {
        program first{servers};
        auto engine = first.engine();
        servers.once_after(settle::step::confirm, [] { throw ended_here{}; });
        CHECK(!engine.run("t", deposit{"A", "V", 60}).finished);
    }
    CHECK(servers.gold_and_marks() == "60 0");
    CHECK(servers.state() == applied_number);
    program second{servers};
    auto engine = second.engine();
    CHECK(engine.recover(of_any_age()).done == 1);
    CHECK(servers.state() == done_number);
    servers.restart_cellar();
    CHECK(servers.gold_and_marks() == "60 0");
}

// A recovery locks the row of a part, and this lock alone makes its commit wait for the disk. An
// erased record has no row.
TEST_CASE("at commit: a recovery finds no record to confirm, and a server is killed after it") {
    two_servers servers;
    auto const vouchers_and_marks = [&] {
        return ask_one(servers.cellar.address(), "SELECT count(*) || ' ' || (SELECT count(*) FROM "
                                                 "settle_mark) FROM vouchers");
    };
    {
        program first{servers};
        auto engine = first.engine();
        engine.create(vouchers, {"V", 60}).value();
        servers.once_after(settle::step::confirm, [] { throw ended_here{}; });
        CHECK(!engine.run("t", redemption{"V", "A", 60}).finished);
    }
    CHECK(vouchers_and_marks() == "0 0");
    CHECK(servers.state() == applied_number);
    program second{servers};
    auto engine = second.engine();
    CHECK(engine.recover(of_any_age()).done == 1);
    CHECK(servers.state() == done_number);
    servers.restart_cellar();
    CHECK(vouchers_and_marks() == "0 0");
}

TEST_CASE("at commit: a server is killed, and the engine ends before it is back") {
    two_servers servers;
    {
        program first{servers};
        auto engine = first.engine();
        servers.once_after(settle::step::confirm, [&] { servers.cellar.kill(); });
        CHECK(!engine.run("t", deposit{"A", "V", 60}).finished);
    }
    servers.cellar.start();
    // What a reader sees until somebody recovers.
    CHECK(servers.gold_and_marks() == "0 1");
    CHECK(servers.state() == applied_number);
    program second{servers};
    auto engine = second.engine();
    CHECK(engine.recover(of_any_age()).done == 1);
    servers.restart_cellar();
    CHECK(servers.gold_and_marks() == "60 0");
    CHECK(servers.state() == done_number);
}

} // namespace at_commit
