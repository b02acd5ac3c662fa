// SPDX-License-Identifier: BSL-1.0
// Prepared transactions of PostgreSQL and MariaDB, and records of SQLite, as one transaction.
#include "banks.hpp"

#include <settle/sqlite.hpp>

namespace payments_test {
namespace {

using settle::errc;
using settle::reason;
using settle::state;
using settle::step;

payment const usual{"p0", "a", "b"};
settle::cancel_options const soon{false, std::chrono::milliseconds{300}, {}};
settle::cancel_options const unknown_too{true, {}, {}};

/// Databases of the shared servers.
struct shared_databases {
    fresh_postgresql left_home;
    fresh_mariadb right_home;
};
struct shared_banks : shared_databases, banks {
    shared_banks() : banks(left_home.address(), right_home.address()) {}
};

/// A transaction whose worker was killed after a step.
void leave_behind(banks& databases, std::string const& id, step last) {
    databases.watch = kill_after(last);
    auto const engine = databases.make();
    CHECK_THROWS_AS(std::ignore = engine->run(id, usual), killed);
    databases.watch = nullptr;
}

} // namespace

TEST_CASE("payments: three databases commit, refuse and cancel as one") {
    shared_banks banks;
    auto const engine = banks.make();
    CHECK(engine->run("done", usual).done());
    CHECK(banks.left.sum("a") == "1");
    CHECK(banks.right.sum("b") == "2");

    auto const left = engine->run("left", payment{"p0", "none", "b"});
    CHECK(left.canceled());
    CHECK(left.why == reason::refused);
    CHECK(left.participant == "third");
    CHECK(left.problem.text.find("no row none") != std::string::npos);
    auto const right = engine->run("right", payment{"p0", "a", "none"});
    CHECK(right.why == reason::refused);
    CHECK(right.participant == "rest");
    for (auto const& refused : {left, right}) {
        CHECK(engine->find(refused.id).why_text == refused.problem.text);
        CHECK(banks.make()->run(refused.id, refused.id == "left"
                                                ? payment{"p0", "none", "b"}
                                                : payment{"p0", "a", "none"}) == refused);
    }
    auto const poor = engine->run("poor", payment{"p0", "a", "b", 60000});
    CHECK(poor.why == reason::guard_failed);
    banks.check_settled(1);

    for (auto const last : {step::insert, step::apply, step::commit, step::confirm}) {
        bool const early = last == step::insert || last == step::apply;
        auto const recovered = "recovered " + std::string{settle::name_of(last)};
        leave_behind(banks, recovered, last);
        CHECK(banks.in_doubt().size() == (last == step::apply || last == step::commit ? 2 : 0));
        banks.settle_all();
        CHECK(engine->find(recovered).state == state::done);
        auto const canceled = "canceled " + std::string{settle::name_of(last)};
        leave_behind(banks, canceled, last);
        auto const outcome = engine->cancel(canceled);
        CHECK(outcome.canceled() == early);
        banks.settle_all();
        CHECK(engine->find(canceled).state == (early ? state::canceled : state::done));
    }
    banks.check_settled(7);
}

TEST_CASE("payments: many in one call") {
    shared_banks banks;
    std::vector<payment> batch;
    for (int index = 0; index < 40; ++index) {
        auto const row = "b" + std::to_string(index);
        banks.left.beside.ask("INSERT INTO sums VALUES ('" + row + "', 0)");
        banks.right.beside.ask("INSERT INTO sums VALUES ('" + row + "', 0)");
        batch.push_back({"p" + std::to_string(index % 8), row, row});
    }
    for (auto const& outcome : banks.make()->run_all(batch)) CHECK(outcome.done());
    banks.check_settled(40);
}

TEST_CASE("payments: a lost request or answer of either server is settled") {
    shared_banks banks;
    text_proxy left_between{banks.left_home.port()};
    text_proxy right_between{banks.right_home.port()};
    settle::postgresql::resource left{banks.left_home.address_at(left_between.port()),
                                      postgresql_backend::limits()};
    settle::mariadb::resource right{banks.right_home.address_at(right_between.port()),
                                    mariadb_backend::limits()};
    auto const engine = make_payments(banks.records, left, right, banks.watch);
    std::int64_t done = 0;
    for (auto const fault : {text_fault::drop_request, text_fault::drop_reply}) {
        for (auto const* const sql :
             {postgresql_backend::prepare_sql, mariadb_backend::prepare_sql,
              postgresql_backend::commit_sql, mariadb_backend::commit_sql}) {
            auto& between = std::string_view{sql}.starts_with("XA") ? right_between : left_between;
            between.disturb(sql, fault);
            CAPTURE(std::string{sql});
            auto const outcome = engine->run(usual);
            INFO(outcome);
            CHECK(between.has_struck());
            CHECK(outcome.done());
            ++done;
        }
    }
    banks.settle_all();
    banks.check_settled(done);
}

TEST_CASE("payments: a prepare that lands late does not stay in doubt") {
    shared_banks banks;
    auto const near = banks.make();
    /// The worker dies while its prepare is on the way.
    auto const hold = [&](char const* sql, bool by_cancel) {
        bool const is_right = std::string_view{sql}.starts_with("XA");
        text_proxy between{is_right ? banks.right_home.port() : banks.left_home.port()};
        auto const port_of = [&](bool right, int other) {
            return right == is_right ? between.port() : other;
        };
        auto const id = std::string{is_right ? "right" : "left"} + (by_cancel ? " cancel" : " run");
        CAPTURE(id);
        between.disturb(sql, text_fault::hold_request);
        {
            settle::postgresql::resource left{
                banks.left_home.address_at(port_of(false, banks.left_home.port())),
                postgresql_backend::limits()};
            settle::mariadb::resource right{
                banks.right_home.address_at(port_of(true, banks.right_home.port())),
                mariadb_backend::limits()};
            auto const far = make_payments(banks.records, left, right, banks.watch);
            banks.watch = kill_after(step::apply);
            CHECK_THROWS_AS(std::ignore = far->run(id, usual), killed);
            CHECK(between.has_struck());
        }
        banks.watch = nullptr;
        if (by_cancel) std::ignore = near->cancel(id, soon);
        CHECK(near->sweep().problem.empty());
        auto const part = settle::prepared_prefix(near->log()) + (is_right ? "2.0/" : "1.0/") + id;
        auto const has_landed = [&] {
            auto const names = banks.in_doubt();
            return std::any_of(names.begin(), names.end(),
                               [&](auto const& name) { return name.starts_with(part); });
        };
        CHECK_FALSE(has_landed());
        between.release();
        CHECK(wait_until(std::chrono::seconds{10}, has_landed));
        banks.settle_all();
        CHECK(near->find(id).state == (by_cancel ? state::canceled : state::done));
    };
    for (auto const* const sql : {postgresql_backend::prepare_sql, mariadb_backend::prepare_sql}) {
        hold(sql, true);
        hold(sql, false);
    }
    banks.check_settled(2);
}

TEST_CASE("payments: a sweep ends stray names, and neither foreign nor unreadable names") {
    shared_banks banks;
    auto const engine = banks.make();
    CHECK(engine->run("done", usual).done());
    CHECK(engine->run("canceled", payment{"p0", "none", "b"}).canceled());
    leave_behind(banks, "pending", step::apply);
    auto const pending = banks.in_doubt();
    CHECK(pending.size() == 2);

    auto const prefix = settle::prepared_prefix(engine->log());
    std::vector<std::string> const foreign{"of " + banks.left_home.name(),
                                           "settle/x" + banks.left_home.name(),
                                           "settle/" + banks.left_home.name() + "/1.0/t/5"};
    std::vector<std::string> const unreadable{prefix + "not a name", prefix + "1.0/t/05"};
    // A late prepare of a transaction that is done, of a canceled one, and of an unknown id.
    std::vector<std::string> const strays{prefix + "1.0/done/7", prefix + "1.0/canceled/7",
                                          prefix + "1.0/unknown/7"};
    mariadb_session by_hand{banks.right.at};
    int row = 0;
    auto const change = [&] {
        return "INSERT INTO sums VALUES ('x" + std::to_string(row++) + "', 9)";
    };
    auto const xid_of = [&](std::string const& name) {
        return settle::mariadb::detail::xid_sql(
            name, settle::mariadb::detail::format_of(banks.right_home.name()));
    };
    for (auto const& name : foreign) {
        mariadb_backend::prepare_foreign(banks.right.at, name, change());
        postgresql_backend::prepare_foreign(banks.left.at, name, change());
    }
    // In MariaDB a part has another number, and the format number of the database.
    auto const of_rest = [&](std::string name) { return name.replace(prefix.size(), 1, "2"); };
    for (auto const* const names : {&unreadable, &strays}) {
        for (auto const& name : *names) {
            postgresql_backend::prepare_foreign(banks.left.at, name, change());
            auto const xid = xid_of(of_rest(name));
            mariadb_session session{banks.right.at};
            for (auto const& sql :
                 {"XA START " + xid, change(), "XA END " + xid, "XA PREPARE " + xid}) {
                session.ask(sql);
            }
        }
    }
    auto const swept = engine->sweep();
    INFO(swept.problem);
    CHECK(swept.problem.empty());
    CHECK(swept.undone == 2 * strays.size());
    CHECK(swept.tombstones == 1);
    CHECK(swept.skipped.size() == 2 * unreadable.size());
    for (auto const& one : swept.skipped) {
        CHECK(one.problem.code == errc::damaged);
        CHECK(one.problem.text.find("Commit it or roll it back by hand. See prepared#names") !=
              std::string::npos);
    }
    CHECK(engine->find("unknown").why == reason::mark_without_entry);
    CHECK(banks.in_doubt().size() == pending.size() + 2 * unreadable.size());
    CHECK(engine->sweep().undone == 0);

    // A person ends them.
    for (auto const& name : unreadable) {
        postgresql_backend::roll_back_foreign(banks.left.beside, name);
        by_hand.ask("XA ROLLBACK " + xid_of(of_rest(name)));
    }
    CHECK(banks.in_doubt() == pending);
    banks.settle_all();
    for (auto const& name : foreign) {
        postgresql_backend::roll_back_foreign(banks.left.beside, name);
        mariadb_backend::roll_back_foreign(by_hand, name);
    }
    banks.check_settled(2);
}

TEST_CASE("payments: two logs share both databases and leave each other's names alone") {
    shared_banks banks;
    scratch_file file;
    settle::sqlite::database records{file.path()};
    settle::postgresql::resource left{banks.left_home.address(), postgresql_backend::limits()};
    settle::mariadb::resource right{banks.right_home.address(), mariadb_backend::limits()};
    watcher watch;
    auto const other = make_payments(records, left, right, watch);
    other->create({"p0", 100});
    auto const engine = banks.make();
    leave_behind(banks, "t", step::apply);
    auto const own = banks.in_doubt();
    CHECK(own.size() == 2);
    CHECK(other->thirds_in_doubt().empty());
    CHECK(other->rests_in_doubt().empty());
    // The other log has the same id, and cancels it.
    CHECK(other->cancel("t", unknown_too).canceled());
    auto const swept = other->sweep();
    CHECK(swept.looked_at == 0);
    CHECK(other->recover().done == 0);
    CHECK(banks.in_doubt() == own);
    banks.settle_all();
    CHECK(engine->find("t").state == state::done);
    banks.check_settled(1);
}

TEST_CASE("payments: a list shows since when a part is in doubt, and its entry") {
    shared_banks banks;
    leave_behind(banks, "t", step::commit);
    auto const engine = banks.make();
    auto const now = std::chrono::system_clock::now();
    auto const check = [&](std::vector<settle::doubtful_part> const& parts, unsigned participant) {
        REQUIRE(parts.size() == 1);
        CHECK(parts[0].id == "t");
        CHECK(parts[0].part == settle::part_number{participant, 0});
        CHECK(std::chrono::abs(now - parts[0].prepared) < std::chrono::seconds{30});
        REQUIRE(parts[0].waits_for);
        CHECK(parts[0].waits_for->state == state::applied);
        CHECK(parts[0].waits_for->committed == parts[0].epoch_number);
        CHECK_FALSE(parts[0].waits_for->owner.empty());
    };
    check(engine->thirds_in_doubt(), 1);
    check(engine->rests_in_doubt(), 2);
    banks.settle_all();
    CHECK(engine->thirds_in_doubt().empty());
    banks.check_settled(1);
}

TEST_CASE("payments: a list of the parts in doubt goes on after its session was ended") {
    shared_banks banks;
    leave_behind(banks, "t", step::commit);
    auto const engine = banks.make();
    CHECK(engine->thirds_in_doubt().size() == 1);
    CHECK(engine->rests_in_doubt().size() == 1);
    psql_session left{banks.left.at};
    mariadb_session right{banks.right.at};
    for (int round = 0; round < 3; ++round) {
        left.ask("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                 "WHERE datname = current_database() AND pid <> pg_backend_pid()");
        CHECK(engine->thirds_in_doubt().size() == 1);
        for (auto const& row : right.ask("SELECT id FROM information_schema.processlist "
                                         "WHERE db = DATABASE() "
                                         "AND id <> CONNECTION_ID()")) {
            mariadb_backend::kill(right, row[0]);
        }
        CHECK(engine->rests_in_doubt().size() == 1);
    }
    banks.settle_all();
    banks.check_settled(1);
}

TEST_CASE("payments: an engine refuses a server that prepares nothing") {
    postgresql_server const own{{"max_prepared_transactions=0"}};
    fresh_mariadb const other;
    scratch_file file;
    settle::sqlite::database records{file.path()};
    settle::postgresql::resource left{postgresql_backend::address_of(own)};
    settle::mariadb::resource right{other.address()};
    watcher watch;
    try {
        auto const engine = make_payments(records, left, right, watch);
        FAIL("it was accepted");
    } catch (settle::failure const& caught) {
        CHECK(caught.problem().code == errc::unfit_store);
        CHECK(caught.problem().text ==
              "settle: this server prepares no native transactions. Set max_prepared_transactions "
              "to at least the number that can be prepared at once, for example 100, and restart "
              "it");
    }
}

} // namespace payments_test
