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
void leave_behind(banks& all, std::string const& id, step last) {
    all.watch = kill_after(last);
    auto const engine = all.make();
    CHECK_THROWS_AS(std::ignore = engine->run(id, usual), killed);
    all.watch = nullptr;
}

} // namespace

TEST_CASE("payments: three databases commit, refuse and cancel as one") {
    shared_banks on;
    auto const engine = on.make();
    CHECK(engine->run("done", usual).done());
    CHECK(on.left.sum("a") == "1");
    CHECK(on.right.sum("b") == "2");

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
        CHECK(on.make()->run(refused.id, refused.id == "left"
                                             ? payment{"p0", "none", "b"}
                                             : payment{"p0", "a", "none"}) == refused);
    }
    auto const poor = engine->run("poor", payment{"p0", "a", "b", 60000});
    CHECK(poor.why == reason::guard_failed);
    on.check_settled(1);

    for (auto const last : {step::insert, step::apply, step::commit, step::confirm}) {
        bool const early = last == step::insert || last == step::apply;
        auto const recovered = "recovered " + std::string{settle::name_of(last)};
        leave_behind(on, recovered, last);
        CHECK(on.in_doubt().size() == (last == step::apply || last == step::commit ? 2 : 0));
        on.settle_all();
        CHECK(engine->find(recovered).state == state::done);
        auto const canceled = "canceled " + std::string{settle::name_of(last)};
        leave_behind(on, canceled, last);
        auto const outcome = engine->cancel(canceled);
        CHECK(outcome.canceled() == early);
        on.settle_all();
        CHECK(engine->find(canceled).state == (early ? state::canceled : state::done));
    }
    on.check_settled(7);
}

TEST_CASE("payments: many in one call") {
    shared_banks on;
    std::vector<payment> all;
    for (int at = 0; at < 40; ++at) {
        auto const row = "b" + std::to_string(at);
        on.left.beside.ask("INSERT INTO sums VALUES ('" + row + "', 0)");
        on.right.beside.ask("INSERT INTO sums VALUES ('" + row + "', 0)");
        all.push_back({"p" + std::to_string(at % 8), row, row});
    }
    for (auto const& outcome : on.make()->run_all(all)) CHECK(outcome.done());
    on.check_settled(40);
}

TEST_CASE("payments: a lost request or answer of either server is settled") {
    shared_banks on;
    text_proxy left_between{on.left_home.port()};
    text_proxy right_between{on.right_home.port()};
    settle::postgresql::resource left{on.left_home.address_at(left_between.port()),
                                      postgresql_backend::limits()};
    settle::mariadb::resource right{on.right_home.address_at(right_between.port()),
                                    mariadb_backend::limits()};
    auto const engine = make_payments(on.records, left, right, on.watch);
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
    on.settle_all();
    on.check_settled(done);
}

TEST_CASE("payments: a prepare that lands late does not stay in doubt") {
    shared_banks on;
    auto const near = on.make();
    /// The worker dies while its prepare is on the way.
    auto const hold = [&](char const* sql, bool by_cancel) {
        bool const is_right = std::string_view{sql}.starts_with("XA");
        text_proxy between{is_right ? on.right_home.port() : on.left_home.port()};
        auto const port_of = [&](bool right, int other) {
            return right == is_right ? between.port() : other;
        };
        auto const id = std::string{is_right ? "right" : "left"} + (by_cancel ? " cancel" : " run");
        CAPTURE(id);
        between.disturb(sql, text_fault::hold_request);
        {
            settle::postgresql::resource left{
                on.left_home.address_at(port_of(false, on.left_home.port())),
                postgresql_backend::limits()};
            settle::mariadb::resource right{
                on.right_home.address_at(port_of(true, on.right_home.port())),
                mariadb_backend::limits()};
            auto const far = make_payments(on.records, left, right, on.watch);
            on.watch = kill_after(step::apply);
            CHECK_THROWS_AS(std::ignore = far->run(id, usual), killed);
            CHECK(between.has_struck());
        }
        on.watch = nullptr;
        if (by_cancel) std::ignore = near->cancel(id, soon);
        CHECK(near->sweep().problem.empty());
        auto const part = settle::prepared_prefix(near->log()) + (is_right ? "2.0/" : "1.0/") + id;
        auto const has_landed = [&] {
            auto const names = on.in_doubt();
            return std::any_of(names.begin(), names.end(),
                               [&](auto const& name) { return name.starts_with(part); });
        };
        CHECK_FALSE(has_landed());
        between.release();
        CHECK(wait_until(std::chrono::seconds{10}, has_landed));
        on.settle_all();
        CHECK(near->find(id).state == (by_cancel ? state::canceled : state::done));
    };
    for (auto const* const sql : {postgresql_backend::prepare_sql, mariadb_backend::prepare_sql}) {
        hold(sql, true);
        hold(sql, false);
    }
    on.check_settled(2);
}

TEST_CASE("payments: a sweep ends stray names, and neither foreign nor unreadable names") {
    shared_banks on;
    auto const engine = on.make();
    CHECK(engine->run("done", usual).done());
    CHECK(engine->run("canceled", payment{"p0", "none", "b"}).canceled());
    leave_behind(on, "pending", step::apply);
    auto const pending = on.in_doubt();
    CHECK(pending.size() == 2);

    auto const prefix = settle::prepared_prefix(engine->log());
    std::vector<std::string> const foreign{"of " + on.left_home.name(),
                                           "settle/x" + on.left_home.name(),
                                           "settle/" + on.left_home.name() + "/1.0/t/5"};
    std::vector<std::string> const unreadable{prefix + "not a name", prefix + "1.0/t/05"};
    // A late prepare of a transaction that is done, of a canceled one, and of an unknown id.
    std::vector<std::string> const strays{prefix + "1.0/done/7", prefix + "1.0/canceled/7",
                                          prefix + "1.0/unknown/7"};
    mariadb_session by_hand{on.right.at};
    int row = 0;
    auto const change = [&] {
        return "INSERT INTO sums VALUES ('x" + std::to_string(row++) + "', 9)";
    };
    auto const xid_of = [&](std::string const& name) {
        return settle::mariadb::detail::xid_sql(
            name, settle::mariadb::detail::format_of(on.right_home.name()));
    };
    for (auto const& name : foreign) {
        mariadb_backend::prepare_foreign(on.right.at, name, change());
        postgresql_backend::prepare_foreign(on.left.at, name, change());
    }
    // In MariaDB a part has another number, and the format number of the database.
    auto const of_rest = [&](std::string name) { return name.replace(prefix.size(), 1, "2"); };
    for (auto const* const names : {&unreadable, &strays}) {
        for (auto const& name : *names) {
            postgresql_backend::prepare_foreign(on.left.at, name, change());
            auto const xid = xid_of(of_rest(name));
            mariadb_session one{on.right.at};
            for (auto const& sql :
                 {"XA START " + xid, change(), "XA END " + xid, "XA PREPARE " + xid}) {
                one.ask(sql);
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
    CHECK(on.in_doubt().size() == pending.size() + 2 * unreadable.size());
    CHECK(engine->sweep().undone == 0);

    // A person ends them.
    for (auto const& name : unreadable) {
        postgresql_backend::roll_back_foreign(on.left.beside, name);
        by_hand.ask("XA ROLLBACK " + xid_of(of_rest(name)));
    }
    CHECK(on.in_doubt() == pending);
    on.settle_all();
    for (auto const& name : foreign) {
        postgresql_backend::roll_back_foreign(on.left.beside, name);
        mariadb_backend::roll_back_foreign(by_hand, name);
    }
    on.check_settled(2);
}

TEST_CASE("payments: two logs share both databases and leave each other's names alone") {
    shared_banks on;
    scratch_file file;
    settle::sqlite::database records{file.path()};
    settle::postgresql::resource left{on.left_home.address(), postgresql_backend::limits()};
    settle::mariadb::resource right{on.right_home.address(), mariadb_backend::limits()};
    watcher watch;
    auto const other = make_payments(records, left, right, watch);
    other->create({"p0", 100});
    auto const engine = on.make();
    leave_behind(on, "t", step::apply);
    auto const own = on.in_doubt();
    CHECK(own.size() == 2);
    CHECK(other->thirds_in_doubt().empty());
    CHECK(other->rests_in_doubt().empty());
    // The other log has the same id, and cancels it.
    CHECK(other->cancel("t", unknown_too).canceled());
    auto const swept = other->sweep();
    CHECK(swept.looked_at == 0);
    CHECK(other->recover().done == 0);
    CHECK(on.in_doubt() == own);
    on.settle_all();
    CHECK(engine->find("t").state == state::done);
    on.check_settled(1);
}

TEST_CASE("payments: a list shows since when a part is in doubt, and its entry") {
    shared_banks on;
    leave_behind(on, "t", step::commit);
    auto const engine = on.make();
    auto const now = std::chrono::system_clock::now();
    auto const check = [&](std::vector<settle::doubtful_part> const& found, unsigned participant) {
        REQUIRE(found.size() == 1);
        CHECK(found[0].id == "t");
        CHECK(found[0].part == settle::part_number{participant, 0});
        CHECK(std::chrono::abs(now - found[0].prepared) < std::chrono::seconds{30});
        REQUIRE(found[0].waits_for);
        CHECK(found[0].waits_for->state == state::applied);
        CHECK(found[0].waits_for->committed == found[0].epoch_number);
        CHECK_FALSE(found[0].waits_for->owner.empty());
    };
    check(engine->thirds_in_doubt(), 1);
    check(engine->rests_in_doubt(), 2);
    on.settle_all();
    CHECK(engine->thirds_in_doubt().empty());
    on.check_settled(1);
}

TEST_CASE("payments: a list of the parts in doubt goes on after its session was ended") {
    shared_banks on;
    leave_behind(on, "t", step::commit);
    auto const engine = on.make();
    CHECK(engine->thirds_in_doubt().size() == 1);
    CHECK(engine->rests_in_doubt().size() == 1);
    psql_session left{on.left.at};
    mariadb_session right{on.right.at};
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
    on.settle_all();
    on.check_settled(1);
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
