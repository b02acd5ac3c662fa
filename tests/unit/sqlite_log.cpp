// SPDX-License-Identifier: BSL-1.0
// The log in SQLite: compare-and-set of entries, listings, damage, and the view for people.
#include "sqlite_file.hpp"

#include <settle/sqlite/connection/connection.hpp>
#include <settle/testing/entry_writer.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace sqlite_test {
namespace {

using settle::entry;
using settle::errc;
using settle::log_answer;
using settle::reason;
using settle::state;
using settle::step;
using settle::timestamp;
using settle::sqlite::database;
using settle::testing::entry_wave;
using settle::testing::test_transaction;
using direction = settle::forward<take_type>;

timestamp at(std::int64_t milliseconds) {
    return timestamp{std::chrono::milliseconds{milliseconds}};
}

/// A log, and workers that write its entries.
struct bench {
    folder directory{};
    database db{directory.file()};
    settle::sqlite::log_session log = db.bind_log();
    change parameters{"A", 5, "", {}};

    using writer = settle::testing::entry_writer<settle::sqlite::log_session>;

    [[nodiscard]] std::string path() const { return directory.file(); }

    /// A worker that knows an entry as it is now.
    writer worker_on(std::string const& id) {
        return {log, test_transaction::of<direction>(id, parameters),
                settle::standing_of(read(id))};
    }
    /// Inserts an entry that is pending under an epoch.
    writer pending(std::string const& id, settle::epoch number = 7) {
        writer inserted{log, test_transaction::of<direction>(id, parameters)};
        CHECK(inserted.insert(state::pending, number, at(1000), "host/1", at(1000)) ==
              log_answer::taken);
        return inserted;
    }
    [[nodiscard]] entry read(std::string const& id) { return *log.read(id).value(); }
    [[nodiscard]] std::string ids(settle::entry_filter const& filter, std::string const& after = "",
                                  std::size_t limit = 100) {
        std::string listed;
        auto const page = log.list(filter, after, limit);
        for (auto const& one : page.value()) listed += one.id + ' ';
        return listed;
    }
};

TEST_CASE("sqlite log: an entry is read as it was inserted and changed") {
    bench bench;
    auto work = bench.pending("one", settle::epoch_limit - 1);
    entry expected;
    expected.id = "one";
    expected.type = "take";
    expected.definition = direction::definition();
    expected.parameters = settle::encode_json(bench.parameters);
    expected.state = state::pending;
    expected.epoch_number = settle::epoch_limit - 1;
    expected.owner = "host/1";
    expected.created = at(1000);
    expected.modified = at(1000);
    CHECK(bench.read("one") == expected);

    auto again = bench.worker_on("one");
    std::vector<settle::image> const images{{0, 0, R"({"id":"A"})", R"({"id":"A"})"}};
    CHECK(work.commit(at(2000), "an owner that a commit ignores", images) == log_answer::taken);
    expected.state = state::applied;
    expected.committed = expected.epoch_number;
    expected.modified = at(2000);
    expected.images = images;
    CHECK(bench.read("one") == expected);
    // The repeated change finds another state.
    CHECK(again.commit(at(3000), "host/1", images) == log_answer::conflict);
    CHECK(bench.read("one") == expected);
    CHECK_FALSE(bench.log.read("two").value().has_value());
}

TEST_CASE("sqlite log: a claim takes the owner, and an old epoch changes nothing") {
    bench bench;
    bench.pending("one");
    auto first = bench.worker_on("one");
    auto second = bench.worker_on("one");
    CHECK(first.claim(at(2000), "host/2") == log_answer::taken);
    CHECK(second.claim(at(3000), "host/3") == log_answer::conflict);
    entry const entry = bench.read("one");
    CHECK(entry.owner == "host/2");
    CHECK(entry.epoch_number == 8);
    CHECK(entry.attempts == 1);
    CHECK(entry.modified == at(2000));
}

TEST_CASE("sqlite log: the first reason stays, with the part that failed") {
    bench bench;
    auto work = bench.pending("one");
    CHECK(work.cancel(at(2000), "host/1", reason::guard_failed, 0) == log_answer::taken);
    entry const entry = bench.read("one");
    CHECK(entry.state == state::canceling);
    CHECK(entry.why == reason::guard_failed);
    CHECK(entry.participant == "item");
    CHECK_FALSE(entry.line.has_value());
    sql(bench.path(), "UPDATE settle_entry SET epoch = 8");
    CHECK(bench.worker_on("one").close(at(3000), "host/1") == log_answer::taken);
    CHECK(bench.read("one").state == state::canceled);
    CHECK(bench.read("one").why == reason::guard_failed);
    CHECK(bench.read("one").participant == "item");
}

TEST_CASE("sqlite log: an existing id is a conflict, and other entries of the wave are inserted") {
    bench bench;
    bench.pending("one");
    entry_wave wave{step::insert};
    for (char const* id : {"zero", "one", "two", "two"}) {
        wave.add_insert<direction>(id, bench.parameters, state::pending, 9);
    }
    wave.send(bench.log, at(1), "host/1");
    CHECK(wave.reply(0) == log_answer::taken);
    CHECK(wave.reply(1) == log_answer::conflict);
    CHECK(wave.reply(2) == log_answer::taken);
    CHECK(wave.reply(3) == log_answer::conflict);
    CHECK(bench.read("one").epoch_number == 7);
    CHECK(bench.ids({}) == "one two zero ");
}

/// Inserts pending entries; the wave commits them.
void add_commits(bench& bench, entry_wave& commits, std::vector<std::string> const& ids) {
    for (auto const& id : ids) {
        auto made = bench.pending(id);
        commits.add_change<direction>(id, bench.parameters, settle::testing::commit_of(made.view()))
            .row = made.transaction().row;
    }
}
std::string answers(entry_wave const& wave) {
    std::string reply;
    for (auto const& one : wave.results()) reply += one.reply == log_answer::taken ? '+' : '-';
    return reply;
}

TEST_CASE("sqlite log: a changed entry is a conflict, and other changes of the wave succeed") {
    bench bench;
    entry_wave wave{step::commit};
    add_commits(bench, wave, {"a", "b", "c", "d", "e", "f"});
    // Other workers claim b and end d; e is purged and inserted again.
    sql(bench.path(), "UPDATE settle_entry SET epoch = 8 WHERE id = 'b'");
    sql(bench.path(), "UPDATE settle_entry SET state = 5, open = NULL WHERE id = 'd'");
    sql(bench.path(), "DELETE FROM settle_entry WHERE id = 'e'");
    bench.pending("e", 9);
    std::reverse(wave.writes().begin(), wave.writes().end());
    wave.send(bench.log, at(2000), "host/1");
    CHECK(answers(wave) == "+--+-+");
    for (char const* id : {"a", "c", "f"}) {
        CHECK(bench.read(id).state == state::applied);
        CHECK(bench.read(id).committed == 7);
        CHECK(bench.read(id).modified == at(2000));
    }
    CHECK(bench.read("b").state == state::pending);
    CHECK(bench.read("b").committed == 0);
    CHECK(bench.read("d").state == state::canceled);
    CHECK(bench.read("e").epoch_number == 9);
    CHECK(sql(bench.path(), "SELECT DISTINCT committed FROM settle_entries ORDER BY 1") ==
          std::vector<std::string>{"0", "7"});
}

TEST_CASE("sqlite log: entries are found at any row, and one of two equal commits succeeds") {
    bench bench;
    entry_wave wave{step::commit};
    add_commits(bench, wave, {"a", "b", "c", "d"});
    // The rows of b and c have moved, and the write of d names the row of a.
    sql(bench.path(), "UPDATE settle_entry SET number = 5000 WHERE id = 'b'");
    sql(bench.path(), "UPDATE settle_entry SET number = 70 WHERE id = 'c'");
    auto& writes = wave.writes();
    writes[3].row = writes[0].row;
    writes.insert(writes.end(), {writes[0], writes[1]});
    wave.send(bench.log, at(2000), "host/1");
    CHECK(answers(wave) == "++++--");
    CHECK(sql(bench.path(), "SELECT number FROM settle_entry WHERE state = 2 ORDER BY number") ==
          std::vector<std::string>{"1", "4", "70", "5000"});
}

TEST_CASE("sqlite log: the entry of a tombstone has neither type nor parameters") {
    bench bench;
    bench::writer work{bench.log, test_transaction::of<settle::undescribed>("one", {})};
    CHECK(work.insert(state::canceled, 3, at(5), "host/1", at(5), reason::mark_without_entry) ==
          log_answer::taken);
    entry const entry = bench.read("one");
    CHECK(entry.type.empty());
    CHECK(entry.parameters.empty());
    CHECK(entry.state == state::canceled);
    CHECK(entry.why == reason::mark_without_entry);
}

TEST_CASE("sqlite log: listings filter by state and by the last change, and are paged") {
    bench bench;
    for (int i = 0; i < 6; ++i) {
        bench.pending("entry-" + std::to_string(i));
        sql(bench.path(), "UPDATE settle_entry SET state = " + std::to_string(i) +
                              ", modified = " + std::to_string(i * 10) + " WHERE id = 'entry-" +
                              std::to_string(i) + "'");
    }
    CHECK(bench.ids({}) == "entry-0 entry-1 entry-2 entry-3 entry-4 entry-5 ");
    CHECK(bench.ids({}, "entry-1", 2) == "entry-2 entry-3 ");
    CHECK(bench.ids({}, "entry-5") == "");
    CHECK(bench.ids({.unfinished = true}) == "entry-1 entry-2 entry-4 ");
    CHECK(bench.ids({.unfinished = true, .before = at(20)}) == "entry-1 entry-2 ");
    CHECK(bench.ids({.unfinished = true}, "entry-1", 1) == "entry-2 ");
    for (int i = 0; i < 6; ++i) {
        auto const wanted = static_cast<state>(i);
        std::string const id = "entry-" + std::to_string(i) + " ";
        CHECK(bench.ids({.state = wanted}) == id);
        CHECK(bench.ids({.state = wanted, .before = at(i * 10 - 1)}) == "");
        bool const open =
            wanted == state::pending || wanted == state::applied || wanted == state::canceling;
        CHECK(bench.ids({.state = wanted, .unfinished = true}) == (open ? id : ""));
    }
}

TEST_CASE("sqlite log: unfinished entries are found by their own index") {
    bench bench;
    auto const plan = [&](std::string const& condition) {
        std::string text;
        for (auto const& row :
             sql(bench.path(), "EXPLAIN QUERY PLAN SELECT id FROM settle_entry AS e "
                               "WHERE e.id > 'x' AND " +
                                   condition + " ORDER BY e.id LIMIT 5")) {
            text += row + '\n';
        }
        return text;
    };
    CHECK(contains(plan("e.open = 1 AND e.state NOT IN (0, 3, 5)"), "settle_entry_open"));
    CHECK(contains(plan("e.open = 1 AND e.state = ?4"), "settle_entry_open"));
}

TEST_CASE("sqlite log: a damaged entry is named by a read and delays no listing") {
    bench bench;
    bench.pending("good");
    auto const problem_of = [&](std::string const& assignment) {
        sql(bench.path(), "DELETE FROM settle_entry WHERE id = 'bad'");
        bench.pending("bad");
        sql(bench.path(), "UPDATE settle_entry SET " + assignment + " WHERE id = 'bad'");
        auto const answer = bench.log.read("bad");
        REQUIRE_FALSE(answer.has_value());
        CHECK(answer.problem().code == errc::damaged);
        auto const page = bench.log.list({}, "", 10).value();
        REQUIRE(page.size() == 2);
        CHECK(page[0].id == "bad");
        CHECK(page[0].parameters.empty());
        CHECK(page[1] == bench.read("good"));
        return answer.problem().text;
    };
    CHECK(problem_of("state = 9") ==
          "settle: the entry 'bad' is damaged: its column 'state' holds a number without a "
          "meaning. Repair its row in settle_entry. See errors#damaged");
    CHECK(contains(problem_of("state = 'x'"), "'state'"));
    CHECK(contains(problem_of("reason = -1"), "'reason'"));
    CHECK(contains(problem_of("epoch = -1"), "'epoch' holds no epoch"));
    CHECK(contains(problem_of("committed = 1.5"), "'committed' holds no epoch"));
    CHECK(contains(problem_of("attempts = -1"), "'attempts'"));
    CHECK(contains(problem_of("owner = 77"), "'name' is NULL"));
    CHECK(contains(problem_of("type = 77"), "'name' is NULL"));
    CHECK(contains(problem_of("created = 'now'"), "'created' holds no integer"));
    CHECK(contains(problem_of("parameters = x'00'"), "'parameters' holds no text"));
    CHECK(contains(problem_of("images = '[{]'"), "'images': the stored JSON is damaged"));
    CHECK(contains(problem_of("line = 'x'"), "'line' holds no integer"));
    CHECK(contains(problem_of("revision = -1"), "'revision'"));
    CHECK(contains(problem_of("stages_kept = 256"), "'stages_kept'"));
    CHECK(contains(problem_of("results = '[{]'"), "'results': the stored JSON is damaged"));
    CHECK(contains(problem_of("results = x'00'"), "'results' holds no text"));
}

TEST_CASE("sqlite log: any value as the text of a reason leaves its entry readable") {
    bench bench;
    bench.pending("t");
    auto const text_of = [&](std::string const& value) {
        sql(bench.path(), "UPDATE settle_entry SET reason_text = " + value);
        auto const answer = bench.log.read("t");
        REQUIRE(answer.has_value());
        CHECK(bench.log.list({}, "", 10).value().at(0) == answer.value());
        return answer.value()->why_text;
    };
    CHECK(text_of("'sold out'") == "sold out");
    CHECK(text_of("'a' || CAST(x'FF' AS TEXT) || 'b'") == "a");
    CHECK(text_of("'a' || char(0) || 'b'") == "a");
    CHECK(text_of("x'414243'").empty());
    CHECK(text_of("17") == "17");
    CHECK(text_of("NULL").empty());
    CHECK(text_of("printf('%.*c', 9000000, 'x')") == std::string(500, 'x'));
    CHECK(text_of("'x' || replace(printf('%.*c', 400, 'x'), 'x', '\xE2\x82\xAC')").size() == 499);
}

TEST_CASE("sqlite log: an entry with an id that is not UTF-8 is listed once, and pages continue") {
    bench bench;
    for (char const* id : {"a", "b", "c"}) bench.pending(id);
    sql(bench.path(), "UPDATE settle_entry SET id = CAST(x'62FF' AS TEXT) WHERE id = 'b'");
    std::vector<std::string> seen;
    for (std::string after; seen.size() < 10;) {
        auto const page = bench.log.list({}, after, 1).value();
        if (page.empty()) break;
        after = page.back().id;
        seen.push_back(after);
    }
    CHECK(seen == std::vector<std::string>{"a", "b\xFF", "c"});
}

TEST_CASE("sqlite log: an entry without a time of its last change is listed as an old entry") {
    bench bench;
    bench.pending("one");
    CHECK(bench.ids({.unfinished = true, .before = at(999)}) == "");
    sql(bench.path(), "UPDATE settle_entry SET modified = 'never'");
    CHECK(bench.ids({.unfinished = true, .before = at(999)}) == "one ");
}

TEST_CASE("sqlite log: an entry dated by a wrong clock does not end a purge") {
    bench bench;
    for (int i = 0; i < 9; ++i) bench.pending(std::to_string(i));
    sql(bench.path(), "UPDATE settle_entry SET state = 3, open = NULL WHERE id <> '4'");
    sql(bench.path(), "UPDATE settle_entry SET created = 99999 WHERE id = '0'");
    sql(bench.path(), "UPDATE settle_entry SET created = 'long ago' WHERE id = '2'");
    std::uint64_t erased = 0;
    for (int step = 0; step < 10; ++step) {
        auto const gone = bench.log.purge(at(2000), 3).value();
        erased += gone.erased;
        if (!gone.more) break;
    }
    CHECK(erased == 6);
    CHECK(bench.ids({}) == "0 2 4 ");
}

TEST_CASE("sqlite log: a purge reads every entry once beside other writers") {
    bench bench;
    bench.pending("first");
    sql(bench.path(), "UPDATE settle_entry SET state = 3, open = NULL, created = 9999");
    sql(bench.path(),
        "WITH RECURSIVE more(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM more "
        "WHERE n < 25000) INSERT INTO settle_entry(number, id, state, epoch, committed, "
        "attempts, reason, owner, created, modified) SELECT n, 'young' || n, 3, 1, 1, "
        "0, 0, 1, 9999, 1 FROM more");
    sql(bench.path(), "UPDATE settle_entry SET created = 1 WHERE number = 24000");
    settle::sqlite::detail::connection const other{bench.path(), std::chrono::milliseconds{0}};
    other.execute("BEGIN IMMEDIATE", "write meanwhile");
    settle::purged gone;
    for (std::int64_t const passed : {10'000, 20'000}) {
        gone = bench.log.purge(at(2000), 5, gone.passed).value();
        CHECK(gone.erased == 0);
        CHECK(gone.more);
        CHECK(gone.passed == passed);
    }
    other.execute("COMMIT", "write meanwhile");
    gone = bench.log.purge(at(2000), 5, gone.passed).value();
    CHECK(gone.erased == 1);
    CHECK_FALSE(gone.more);
    CHECK(gone.passed == 25'000);
}

TEST_CASE("sqlite log: recovery skips and reports a damaged entry") {
    folder const folder;
    database db{folder.file()};
    auto engine = engine_on(db);
    engine.create(items, item{"A", 10}).value();
    CHECK(engine.submit<take_type>("a", change{"A", 1, "", {}}).problem.empty());
    CHECK(engine.submit<take_type>("b", change{"A", 2, "", {}}).problem.empty());
    sql(folder.file(), "UPDATE settle_entry SET epoch = 'x' WHERE id = 'a'");
    auto const report = engine.work();
    CHECK(report.done == 1);
    REQUIRE(report.skipped.size() == 1);
    CHECK(report.skipped[0].id == "a");
    CHECK(report.skipped[0].problem.code == errc::damaged);
    // The page has no reason; a read of this entry has it.
    CHECK(contains(report.skipped[0].problem.text, "its column 'epoch'"));
    CHECK(engine.read(items, "A").value()->amount == 8);
}

/// Runs a transfer of 1 from A until its worker ends after the apply.
void leave_applied(folder const& folder) {
    struct killed : settle::testing::crash {};
    database db{folder.file()};
    settle::engine engine{db, settle::two_phases, settle::type<take_type>,
                          settle::observed_by([](settle::event const& seen) {
                              if (seen.taken == step::apply) throw killed{};
                          })};
    engine.create(items, item{"A", 10}).value();
    CHECK_THROWS_AS(std::ignore = engine.run("t", change{"A", 1, "", {}}), killed);
}

TEST_CASE("sqlite log: an entry with an epoch below its marks is reported at once") {
    folder const folder;
    leave_applied(folder);
    auto const epoch_in = [&](char const* table) {
        return std::stoll(sql_value(folder.file(), std::string{"SELECT epoch FROM "} + table));
    };
    auto const left = epoch_in("settle_entry");
    REQUIRE(epoch_in("settle_mark") == left);
    // Two claims reach the epoch of the mark; the second must not adopt the mark.
    sql(folder.file(), "UPDATE settle_mark SET epoch = epoch + 2");
    database db{folder.file()};
    settle::engine engine{db, settle::type<take_type>};
    auto const report = engine.recover({.older_than = std::chrono::milliseconds{0}});
    CHECK(report.done == 0);
    REQUIRE(report.skipped.size() == 1);
    CHECK(report.skipped[0].id == "t");
    CHECK(contains(report.skipped[0].problem.text, "with a later epoch than the entry has"));
    CHECK(epoch_in("settle_entry") == left + 2);
    CHECK(epoch_in("settle_mark") == left + 2);

    sql(folder.file(), "UPDATE settle_mark SET epoch = epoch + 100");
    auto const outcome = engine.run("t", change{"A", 1, "", {}});
    CHECK(outcome.verdict == settle::verdict::undecided);
    CHECK(outcome.problem.code == errc::damaged);
    CHECK(epoch_in("settle_mark") == left + 102);

    // The epochs agree again, so recovery settles the entry.
    sql(folder.file(), "UPDATE settle_mark SET epoch = (SELECT epoch FROM settle_entry)");
    CHECK(engine.recover({.older_than = std::chrono::milliseconds{0}}).done == 1);
    CHECK(engine.read(items, "A").value()->amount == 9);
    CHECK(engine.marks().value() == 0);
}

TEST_CASE("sqlite log: the outcome of a done entry does not depend on its epoch") {
    folder const folder;
    leave_applied(folder);
    database db{folder.file()};
    settle::engine engine{db, settle::type<take_type>};
    CHECK(engine.recover({.older_than = std::chrono::milliseconds{0}}).done == 1);
    sql(folder.file(), "UPDATE settle_entry SET epoch = 9223372036854775807");
    CHECK(engine.run("t", change{"A", 1, "", {}}).verdict == settle::verdict::done);
    CHECK(engine.cancel("t").verdict == settle::verdict::done);
}

TEST_CASE("sqlite log: an entry with an epoch beyond the limit is reported and unchanged") {
    folder const folder;
    leave_applied(folder);
    sql(folder.file(), "UPDATE settle_entry SET epoch = 9223372036854775807");
    database db{folder.file()};
    settle::engine engine{db, settle::type<take_type>};
    auto const report = engine.recover({.older_than = std::chrono::milliseconds{0}});
    REQUIRE(report.skipped.size() == 1);
    CHECK(contains(report.skipped[0].problem.text,
                   "epoch 9223372036854775807 is higher than any valid epoch"));
    CHECK(engine.run("t", change{"A", 1, "", {}}).problem.code == errc::damaged);
    CHECK(engine.cancel("t").problem.code == errc::damaged);
    CHECK(sql_value(folder.file(), "SELECT epoch FROM settle_entry") == "9223372036854775807");
}

TEST_CASE("sqlite log: the view shows states, reasons, types and times as text") {
    folder const folder;
    database db{folder.file()};
    auto engine = engine_on(db);
    engine.create(items, item{"A", 10}).value();
    CHECK(engine.run<take_type>("a", change{"A", 1, "", {}}).done());
    CHECK(engine.run<take_type>("b", change{"A", 100, "", {}}).canceled());
    CHECK(engine.cancel("c", {.even_if_unknown = true}).canceled());
    sql(folder.file(), "UPDATE settle_entry SET created = 1735689600123 WHERE id = 'a'");
    std::string const ask = "SELECT id, type, state, reason, participant FROM settle_entries";
    std::vector<std::string> const rows{"a|take|done|NULL|NULL",
                                        "b|take|canceled|guard failed|item",
                                        "c|NULL|canceled|cancel asked|NULL"};
    CHECK(sql(folder.file(), ask) == rows);
    CHECK(sql_value(folder.file(), "SELECT created FROM settle_entries WHERE id = 'a'") ==
          "2025-01-01T00:00:00.123Z");
    CHECK(sql_value(folder.file(), "SELECT parameters ->> 'amount' FROM settle_entries") == "1");
    CHECK(sql_value(folder.file(), "SELECT owner FROM settle_entries") == engine.owner());

    if (std::system("command -v sqlite3 >/dev/null 2>&1") != 0) {
        MESSAGE("SKIPPED: the sqlite3 shell is not installed");
        return;
    }
    std::string const command = "sqlite3 '" + folder.file() + "' '" + ask + "'";
    std::unique_ptr<FILE, int (*)(FILE*)> const shell{::popen(command.c_str(), "r"), ::pclose};
    std::string out(1000, '\0');
    out.resize(std::fread(out.data(), 1, out.size(), shell.get()));
    CHECK(out == "a|take|done||\nb|take|canceled|guard failed|item\nc||canceled|cancel asked|\n");
}

} // namespace
} // namespace sqlite_test
