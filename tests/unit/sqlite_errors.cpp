// SPDX-License-Identifier: BSL-1.0
// The condition of each result code of SQLite, and calls that end at once because no retry can
// help.
#include "sqlite_file.hpp"

#include <settle/sqlite/connection/error.hpp>
#include <settle/testing/fault_plan.hpp>
#include <settle/testing/manual_environment.hpp>

#include <csignal>
#include <set>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sqlite_test {
namespace {

using settle::condition;
using settle::errc;
using settle::verdict;
using settle::sqlite::database;

struct code_case {
    int code;
    condition expected;
};

constexpr code_case every_code[]{
    {SQLITE_ERROR, condition::permanent},
    {SQLITE_INTERNAL, condition::permanent},
    {SQLITE_PERM, condition::permanent},
    {SQLITE_ABORT, condition::retryable},
    {SQLITE_BUSY, condition::retryable},
    {SQLITE_LOCKED, condition::retryable},
    {SQLITE_NOMEM, condition::retryable},
    {SQLITE_READONLY, condition::permanent},
    {SQLITE_INTERRUPT, condition::retryable},
    {SQLITE_IOERR, condition::unknown},
    {SQLITE_CORRUPT, condition::permanent},
    {SQLITE_NOTFOUND, condition::permanent},
    {SQLITE_FULL, condition::permanent},
    {SQLITE_CANTOPEN, condition::permanent},
    {SQLITE_PROTOCOL, condition::retryable},
    {SQLITE_EMPTY, condition::permanent},
    {SQLITE_SCHEMA, condition::retryable},
    {SQLITE_TOOBIG, condition::permanent},
    {SQLITE_CONSTRAINT, condition::permanent},
    {SQLITE_MISMATCH, condition::permanent},
    {SQLITE_MISUSE, condition::permanent},
    {SQLITE_NOLFS, condition::permanent},
    {SQLITE_AUTH, condition::permanent},
    {SQLITE_FORMAT, condition::permanent},
    {SQLITE_RANGE, condition::permanent},
    {SQLITE_NOTADB, condition::permanent},
    // Extended codes: all that differ from their class (three of SQLITE_IOERR), and others.
    {SQLITE_ERROR_MISSING_COLLSEQ, condition::permanent},
    {SQLITE_ERROR_RETRY, condition::permanent},
    {SQLITE_ERROR_SNAPSHOT, condition::permanent},
    {SQLITE_ABORT_ROLLBACK, condition::retryable},
    {SQLITE_BUSY_RECOVERY, condition::retryable},
    {SQLITE_BUSY_SNAPSHOT, condition::retryable},
    {SQLITE_BUSY_TIMEOUT, condition::retryable},
    {SQLITE_LOCKED_SHAREDCACHE, condition::retryable},
    {SQLITE_LOCKED_VTAB, condition::retryable},
    {SQLITE_READONLY_RECOVERY, condition::permanent},
    {SQLITE_READONLY_CANTLOCK, condition::permanent},
    {SQLITE_READONLY_ROLLBACK, condition::permanent},
    {SQLITE_READONLY_DBMOVED, condition::permanent},
    {SQLITE_READONLY_CANTINIT, condition::permanent},
    {SQLITE_READONLY_DIRECTORY, condition::permanent},
    {SQLITE_CORRUPT_INDEX, condition::permanent},
    {SQLITE_CANTOPEN_ISDIR, condition::permanent},
    {SQLITE_CANTOPEN_DIRTYWAL, condition::permanent},
    {SQLITE_CONSTRAINT_CHECK, condition::permanent},
    {SQLITE_CONSTRAINT_TRIGGER, condition::permanent},
    {SQLITE_IOERR_READ, condition::unknown},
    {SQLITE_IOERR_SHORT_READ, condition::unknown},
    {SQLITE_IOERR_WRITE, condition::unknown},
    {SQLITE_IOERR_FSYNC, condition::unknown},
    {SQLITE_IOERR_SHMSIZE, condition::unknown},
    {SQLITE_IOERR_NOMEM, condition::retryable},
    {SQLITE_IOERR_CORRUPTFS, condition::permanent},
    {SQLITE_IOERR_DATA, condition::permanent},
};

TEST_CASE("sqlite errors: every result code is retryable, permanent or unknown") {
    for (auto const& row : every_code) {
        CAPTURE(row.code);
        std::error_code const code{row.code, settle::sqlite::sqlite_category()};
        CAPTURE(code.message());
        CHECK(code == row.expected);
    }
    // Each class is in the table.
    std::set<int> classes;
    for (auto const& one : every_code) classes.insert(settle::sqlite::primary_code(one.code));
    CHECK(classes.size() == 26);
}

/// An engine with a long patience for retryable errors.
template <typename... More>
auto patient_engine(database& db, More&&... more) {
    settle::options limits;
    limits.takeover = std::chrono::milliseconds{1};
    return settle::engine{db, settle::type<take_type>, limits, std::forward<More>(more)...};
}

/// A change by another program behind an engine, and its undo.
struct change_behind {
    char const* sql;
    char const* undo;
    char const* reply;
};

constexpr change_behind every_change[]{
    {"ALTER TABLE items RENAME TO gone", "ALTER TABLE gone RENAME TO items", "no such table: "},
    {"ALTER TABLE items RENAME COLUMN amount TO sum",
     "ALTER TABLE items RENAME COLUMN sum TO amount", "no such column: "},
    {"ALTER TABLE settle_entry RENAME TO gone", "ALTER TABLE gone RENAME TO settle_entry",
     "no such table: "},
    {"DROP VIEW settle_entries; ALTER TABLE settle_mark RENAME TO gone",
     "ALTER TABLE gone RENAME TO settle_mark", "no such table: "},
};

void check_permanent(settle::outcome const& outcome, change_behind const& how) {
    CAPTURE(how.sql);
    CHECK(outcome.verdict == verdict::undecided);
    CHECK(outcome.problem.code == condition::permanent);
    INFO(outcome.problem.text);
    CHECK(contains(outcome.problem.text, how.reply));
    CHECK(contains(outcome.problem.text, "another program has removed it: restore it"));
}

TEST_CASE("sqlite errors: a table dropped by another program is reported at once") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        for (auto const& change_of_it : every_change) {
            CAPTURE(how);
            folder const folder;
            database db{folder.file()};
            settle::testing::manual_environment const time;
            auto engine = patient_engine(db, how, settle::with_environment(time));
            engine.create(items, item{"A", 5}).value();
            CHECK(engine.run<take_type>(change{"A", 1, "", {}}).done());
            // One phase does not look into an empty table of marks.
            bool const marks = contains(change_of_it.sql, "settle_mark");
            if (how == settle::phases::one && marks) continue;
            sql(folder.file(), change_of_it.sql);
            auto const pauses = time.pauses();
            check_permanent(engine.run<take_type>("t", change{"A", 1, "", {}}), change_of_it);
            CHECK(time.pauses() == pauses);
            // After the repair the same engine continues, and the transaction takes effect once.
            sql(folder.file(), change_of_it.undo);
            CHECK(engine.run<take_type>("t", change{"A", 1, "", {}}).done());
            CHECK(engine.at(items, "A").amount == 3);
        }
    }
}

TEST_CASE("sqlite errors: a table dropped at any step is reported, and recovery succeeds later") {
    using enum settle::step;
    for (auto const when : {insert, apply, commit}) {
        CAPTURE(when);
        folder const folder;
        database db{folder.file()};
        bool struck = false;
        auto const strike = [&](settle::event const& seen) {
            if (seen.taken != when || struck) return;
            struck = true;
            sql(folder.file(), every_change[0].sql);
        };
        auto engine = patient_engine(db, settle::two_phases, settle::observed_by(strike));
        engine.create(items, item{"A", 5}).value();
        auto const outcome = engine.run<take_type>("t", change{"A", 1, "", {}});
        CHECK(struck);
        check_permanent(outcome, every_change[0]);
        auto const found = engine.recover({.older_than = std::chrono::seconds{0}});
        CHECK(found.skipped.size() == 1);
        sql(folder.file(), every_change[0].undo);
        CHECK(engine.recover({.older_than = std::chrono::seconds{0}}).done == 1);
        CHECK(engine.at(items, "A").amount == 4);
    }
}

TEST_CASE("sqlite errors: a locked file is reported in every round") {
    folder const folder;
    database db{folder.file(), {.busy_timeout = std::chrono::milliseconds{1}}};
    settle::options limits;
    limits.patience = std::chrono::milliseconds{20};
    bool dies = false;
    auto const die = [&](settle::event const& seen) {
        if (dies && seen.taken == settle::step::apply) throw settle::testing::crash{};
    };
    settle::engine engine{db, settle::type<take_type>, settle::two_phases, limits,
                          settle::observed_by(die)};
    engine.create(items, item{"A", 5}).value();
    // An entry that a purge would erase.
    CHECK(engine.run<take_type>("old", change{"A", 1, "", {}}).done());
    sql(folder.file(), "UPDATE settle_entry SET created = 0, modified = 0");
    dies = true;
    CHECK_THROWS_AS(std::ignore = engine.run<take_type>("t", change{"A", 1, "", {}}),
                    settle::testing::crash);
    dies = false;
    CHECK(engine.submit<take_type>("s", change{"A", 1, "", {}}).problem.empty());
    // A mark without an entry, for the sweep.
    sql(folder.file(),
        "INSERT INTO settle_mark SELECT 'stray', participant, line, collection, key, "
        "epoch, effect, confirm, undo, image FROM settle_mark");

    sqlite3* other = nullptr;
    REQUIRE(sqlite3_open(folder.file().c_str(), &other) == SQLITE_OK);
    REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
    auto const check_reported = [](settle::error const& problem) {
        INFO(problem);
        CHECK(problem.code == condition::retryable);
        CHECK(contains(problem.message(), "let it end its transaction"));
    };
    auto const found = engine.recover({.older_than = std::chrono::seconds{0}});
    CHECK(found.undecided == 1);
    check_reported(found.problem);
    auto const worked = engine.work();
    CHECK(worked.undecided == 1);
    check_reported(worked.problem);
    check_reported(engine.sweep().problem);
    check_reported(engine.purge().problem);
    check_reported(engine.create(items, item{"B", 5}).error());
    // Reading needs no lock.
    CHECK(engine.marks().value() == 2);
    CHECK(engine.find("t").value());
    CHECK(engine.at(items, "A").amount == 3);

    sqlite3_close(other);
    CHECK(engine.sweep().undone == 1);
    CHECK(engine.recover({.older_than = std::chrono::seconds{0}}).done == 1);
    CHECK(engine.work().done == 1);
    CHECK(engine.purge().erased == 1);
}

TEST_CASE("sqlite errors: creating many records in a locked file ends in time with the error") {
    folder const folder;
    database db{folder.file(), {.busy_timeout = std::chrono::milliseconds{1}}};
    settle::options limits;
    limits.patience = std::chrono::milliseconds{20};
    limits.longest_pause = std::chrono::hours::max();
    // Only the pauses of a call move this clock.
    settle::testing::manual_environment const time;
    settle::engine engine{db, settle::type<take_type>, limits, settle::with_environment(time)};
    sqlite3* other = nullptr;
    REQUIRE(sqlite3_open(folder.file().c_str(), &other) == SQLITE_OK);
    REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
    std::vector<item> const two{item{"A", 5}, item{"B", 5}};
    for (bool const has_deadline : {false, true}) {
        CAPTURE(has_deadline);
        settle::batch_options call;
        if (has_deadline) call.deadline = std::chrono::milliseconds{10};
        auto const began = time.elapsed();
        auto const report = engine.create_all(items, two, call);
        CHECK(time.elapsed() - began == std::chrono::milliseconds{has_deadline ? 10 : 20});
        CHECK(report.created == 0);
        REQUIRE(report.refused.size() == 2);
        CHECK(report.refused[1].number == 1);
        CHECK(report.refused[1].problem.code == condition::retryable);
        CHECK(contains(report.problem.message(), "let it end its transaction"));
    }
    sqlite3_close(other);
    CHECK(engine.create_all(items, two).created == 2);
}

/// Runs a function in a process that may not make files longer than that; its exit code. A success
/// is 41 or more, since a sanitizer ends a process with 1.
template <typename Function>
int limited(::rlim_t most, Function&& function) {
    ::pid_t const pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::rlimit const limit{most, most};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(99);
        ::_exit(function());
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("sqlite errors: a full disk is reported, also at open") {
    std::set<int> seen;
    for (::rlim_t const most : {8U << 10U, 20U << 10U, 40U << 10U, 80U << 10U, 150U << 10U}) {
        CAPTURE(most);
        folder const folder;
        int const code = limited(most, [&] {
            auto opened = database::open(folder.file());
            if (!opened) return contains(opened.error().text, "the disk is full") ? 41 : 91;
            try {
                auto engine = patient_engine(**opened);
                if (auto const made = engine.create(items, item{"A", 100000}); !made) {
                    return contains(made.error().text, "disk is full") ? 42 : 95;
                }
                for (int i = 0; i < 1000; ++i) {
                    auto const outcome = engine.run<take_type>(change{"A", 1, "", {}});
                    if (outcome.done()) continue;
                    bool const full = outcome.problem.code == condition::permanent &&
                                      contains(outcome.problem.text, "disk is full");
                    return full ? 43 : 92;
                }
            } catch (settle::failure const& problem) {
                return contains(problem.what(), "disk is full") ? 41 : 93;
            }
            return 94;
        });
        CHECK(code >= 41);
        CHECK(code <= 43);
        seen.insert(code);
    }
    CHECK(seen.contains(41));
    CHECK(seen.contains(43));
}

TEST_CASE("sqlite errors: a later failed read is not reported as a full disk") {
    folder const folder;
    int const code = limited(8U << 10U, [&] {
        sqlite3* connection = nullptr;
        sqlite3_open(folder.file().c_str(), &connection);
        int const written = sqlite3_exec(connection,
                                         "CREATE TABLE t(a); INSERT INTO t VALUES("
                                         "zeroblob(100000))",
                                         nullptr, nullptr, nullptr);
        auto const says_full = [&](int what) {
            auto const problem = settle::sqlite::detail::describe(connection, what, "go on");
            return contains(problem.text, "disk is full");
        };
        if (written == SQLITE_OK || !says_full(SQLITE_IOERR_WRITE)) return 91;
        return says_full(SQLITE_IOERR_READ) ? 92 : 41;
    });
    CHECK(code == 41);
}

} // namespace
} // namespace sqlite_test
