// SPDX-License-Identifier: BSL-1.0
// Opening a database file: the tables of a new file, and the sentences for refused files.
#include "sqlite_file.hpp"

#include <settle/testing/entry_writer.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace sqlite_test {
namespace {

using settle::condition;
using settle::errc;
using settle::sqlite::database;

std::string opening(std::string const& path) {
    return refusal([&] { database{path}; });
}

std::string version_of(std::string const& path) {
    return sql_value(path, "SELECT value FROM settle_meta WHERE name = 'schema_version'");
}

/// For programs that wait for each other: a slow disk is no reason for a refusal.
settle::sqlite::database_options const patient{.busy_timeout = std::chrono::hours{1}};

/// The refusals of four concurrent threads, each of which calls function(its number).
template <typename Function>
std::vector<std::string> refusals_of_threads(Function const& function) {
    std::vector<std::string> all(4);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < all.size(); ++i) {
            threads.emplace_back([&, i] { all[i] = refusal([&] { function(i); }); });
        }
    }
    return all;
}

TEST_CASE("sqlite open: a new file gets the tables, a write-ahead log and settle's name") {
    folder const folder;
    std::string const path = folder.file();
    {
        database const db{path};
    }
    CHECK(sql_value(path, "PRAGMA application_id") == std::to_string(0x7365746c));
    CHECK(sql_value(path, "PRAGMA journal_mode") == "wal");
    CHECK(sql(path, "SELECT name FROM sqlite_master WHERE name LIKE 'settle_%' AND type IN "
                    "('table', 'view') ORDER BY name") ==
          std::vector<std::string>{"settle_bound", "settle_entries", "settle_entry", "settle_mark",
                                   "settle_meta", "settle_owner", "settle_type"});
    CHECK(version_of(path) == "8");
}

TEST_CASE("sqlite open: a file is reopened unchanged") {
    folder const here;
    std::string name;
    {
        database db{here.file()};
        name = db.bind_log().name();
        CHECK(db.bind_log().name() == name);
    }
    database db{here.file()};
    CHECK(db.bind_log().name() == name);
    folder const elsewhere;
    database other{elsewhere.file()};
    CHECK(other.bind_log().name() != name);
}

TEST_CASE("sqlite open: a user's file keeps its application id of 0") {
    folder const folder;
    sql(folder.file(), "CREATE TABLE mine(x)");
    {
        database const db{folder.file()};
    }
    CHECK(sql_value(folder.file(), "PRAGMA application_id") == "0");
    CHECK(opening(folder.file()) == "");
}

TEST_CASE("sqlite open: an empty file is a new file") {
    folder const folder;
    std::ofstream{folder.file()}.close();
    CHECK(opening(folder.file()) == "");
    CHECK(sql_value(folder.file(), "PRAGMA application_id") == std::to_string(0x7365746c));
}

TEST_CASE("sqlite open: a file that is not a database is refused and unchanged") {
    folder const folder;
    std::string const text(2000, 'x');
    std::ofstream{folder.file()} << text;
    std::string const reply = opening(folder.file());
    CHECK(contains(reply, "settle: '" + folder.file() +
                              "' is not a SQLite database. Name another file. "
                              "See sqlite#open-a-file"));
    std::ifstream file{folder.file()};
    std::string const after{std::istreambuf_iterator<char>{file}, {}};
    CHECK(after == text);
}

TEST_CASE("sqlite open: a path that cannot be opened is refused") {
    folder const folder;
    CHECK(contains(opening(folder.file("no/such/folder.db")),
                   "cannot be opened: its folder does not exist"));
    CHECK(contains(opening(folder.file("")), "cannot be opened: it is a folder or a device"));
    CHECK(contains(opening("/dev/null"), "cannot be opened: it is a folder or a device"));
    CHECK(contains(opening(""), "takes the path of a file"));
    CHECK(contains(opening(":memory:"), "use settle::memory::database"));
}

TEST_CASE("sqlite open: a path that looks like a URI is a file name") {
    folder const folder;
    auto const before = std::filesystem::current_path();
    std::filesystem::current_path(std::filesystem::path{folder.file()}.parent_path());
    std::string const reply = opening("file:a?mode=ro");
    std::filesystem::current_path(before);
    CHECK(reply == "");
    CHECK(std::filesystem::exists(folder.file("file:a?mode=ro")));
}

TEST_CASE("sqlite open: a file of another application is refused and unchanged") {
    folder const folder;
    sql(folder.file(), "PRAGMA application_id = 252006675; CREATE TABLE theirs(x)");
    CHECK(contains(opening(folder.file()),
                   "belongs to another application (its application_id is 252006675)"));
    CHECK(sql_value(folder.file(), "PRAGMA journal_mode") == "delete");
    CHECK(sql(folder.file(), "SELECT name FROM sqlite_master") ==
          std::vector<std::string>{"theirs"});
}

TEST_CASE("sqlite open: a file that uses a reserved name is refused and unchanged") {
    folder const folder;
    sql(folder.file(), "CREATE TABLE settle_mark(x)");
    CHECK(contains(opening(folder.file()),
                   "has the table 'settle_mark', and settle's own tables are "
                   "missing. Rename it"));
    CHECK(sql_value(folder.file(), "PRAGMA journal_mode") == "delete");
    CHECK(sql_value(folder.file(), "SELECT count(*) FROM sqlite_master") == "1");
    // All other names that begin so are the user's.
    sql(folder.file(), "DROP TABLE settle_mark; CREATE TABLE settle_batches(x)");
    CHECK(opening(folder.file()).empty());
}

TEST_CASE("sqlite open: a file of another text encoding is refused and unchanged") {
    folder const folder;
    sql(folder.file(), "PRAGMA encoding = 'UTF-16le'; CREATE TABLE mine(x TEXT PRIMARY KEY)");
    std::string const reply = opening(folder.file());
    CHECK(contains(reply, "settle: '" + folder.file() +
                              "' keeps its texts as UTF-16le, which has "
                              "another order than UTF-8. Copy it into a new file"));
    CHECK(sql(folder.file(), "SELECT name FROM sqlite_master WHERE type = 'table'") ==
          std::vector<std::string>{"mine"});
    CHECK(sql_value(folder.file(), "PRAGMA journal_mode") == "delete");
}

TEST_CASE("sqlite open: tables of another version are refused with the needed version") {
    folder const folder;
    {
        database const db{folder.file()};
    }
    for (std::string const version : {"9", "2"}) {
        sql(folder.file(),
            "UPDATE settle_meta SET value = '" + version + "' WHERE name = 'schema_version'");
        std::string const reply = opening(folder.file());
        CHECK(contains(reply, "the store was made by another version: "));
        CHECK(contains(reply, "have version " + version + " and this library needs version 8."));
    }
    sql(folder.file(), "DELETE FROM settle_meta WHERE name = 'schema_version'");
    CHECK(contains(opening(folder.file()), "have version unknown and"));
}

/// The tables of version 3 with a pending entry. The view has only two of its columns.
char const* const version_3 =
    "CREATE TABLE settle_meta(name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;"
    "INSERT INTO settle_meta(name, value) VALUES('schema_version', '3');"
    "INSERT INTO settle_meta(name, value) VALUES('log', 'sqlite-of-before');"
    "CREATE TABLE settle_type(number INTEGER PRIMARY KEY, name TEXT NOT NULL, "
    "definition TEXT NOT NULL, UNIQUE(name, definition));"
    "CREATE TABLE settle_owner(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE settle_entry(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "type INTEGER, state INTEGER NOT NULL, epoch INTEGER NOT NULL, committed INTEGER NOT NULL, "
    "attempts INTEGER NOT NULL, reason INTEGER NOT NULL, owner INTEGER NOT NULL, "
    "created INTEGER NOT NULL, modified INTEGER NOT NULL, parameters TEXT, participant TEXT, "
    "line INTEGER, images TEXT, open INTEGER);"
    "CREATE INDEX settle_entry_open ON settle_entry(id) WHERE open = 1;"
    "CREATE TABLE settle_mark(id TEXT NOT NULL, participant INTEGER NOT NULL, "
    "line INTEGER NOT NULL, collection TEXT NOT NULL, key NOT NULL, epoch INTEGER NOT NULL, "
    "effect TEXT NOT NULL, confirm TEXT, undo TEXT, image TEXT, "
    "PRIMARY KEY(key, collection, id, participant, line)) WITHOUT ROWID;"
    "CREATE TABLE settle_bound(collection TEXT NOT NULL, key NOT NULL, marks INTEGER NOT NULL, "
    "least TEXT, most TEXT, PRIMARY KEY(key, collection)) WITHOUT ROWID;"
    "CREATE VIEW settle_entries AS SELECT e.id AS id, t.name AS type FROM settle_entry AS e "
    "LEFT JOIN settle_type AS t ON t.number = e.type;"
    "INSERT INTO settle_owner VALUES(1, 'host/1');"
    "INSERT INTO settle_entry(id, state, epoch, committed, attempts, reason, owner, created, "
    "modified, open) VALUES('old', 1, 7, -7, 0, 0, 1, 1000, 2000, 1)";

TEST_CASE("sqlite open: tables of version 3 get the new columns and keep their entries") {
    folder const here;
    sql(here.file(), version_3);
    {
        database db{here.file()};
        auto log = db.bind_log();
        CHECK(log.name() == "sqlite-of-before");
        settle::entry const old = log.read("old").value().value();
        CHECK(old.state == settle::state::pending);
        CHECK(old.epoch_number == 7);
        CHECK(old.owner == "host/1");
        CHECK(old.revision == 0);
        CHECK(old.stages_kept == 0);
        CHECK(old.results.empty());
        CHECK(old.why_text.empty());
        settle::testing::entry_writer worker{
            log, settle::testing::test_transaction::of<settle::forward<take_type>>("old", {}),
            settle::standing_of(old)};
        auto const now = settle::timestamp{std::chrono::milliseconds{3000}};
        CHECK(worker.claim(now, "host/2") == settle::log_answer::taken);
        CHECK(worker.keep(now, "host/2", {{0, 0, "1"}}) == settle::log_answer::taken);
        CHECK(log.read("old").value()->results.size() == 1);
    }
    CHECK(version_of(here.file()) == "8");
    CHECK(sql_value(here.file(), "SELECT id || state || revision || stages_kept || results "
                                 "FROM settle_entries") ==
          R"(oldpending11[{"participant":0,"line":0,"value":1}])");
    // A new file has the same columns in the same order.
    folder const elsewhere;
    {
        database const fresh{elsewhere.file()};
    }
    std::string const columns = "SELECT name || type || \"notnull\" || ifnull(dflt_value, '') "
                                "FROM pragma_table_info('settle_entry')";
    CHECK(sql(here.file(), columns) == sql(elsewhere.file(), columns));
    CHECK(sql(here.file(), "SELECT sql FROM sqlite_master WHERE name = 'settle_entries'") ==
          sql(elsewhere.file(), "SELECT sql FROM sqlite_master WHERE name = 'settle_entries'"));
}

TEST_CASE("sqlite open: tables of version 4 get the text of a reason, also beside an old program") {
    folder const folder;
    {
        database const db{folder.file()};
    }
    sql(folder.file(), "DROP VIEW settle_entries;"
                       "ALTER TABLE settle_entry DROP COLUMN reason_text;"
                       "ALTER TABLE settle_entry DROP COLUMN call_tries;"
                       "ALTER TABLE settle_entry DROP COLUMN next_try;"
                       "ALTER TABLE settle_entry DROP COLUMN tried_in;"
                       "ALTER TABLE settle_entry DROP COLUMN traceparent;"
                       "UPDATE settle_meta SET value = '4' WHERE name = 'schema_version';"
                       "INSERT INTO settle_owner VALUES(1, 'host/1')");
    auto const insert = [&](std::string const& id) {
        sql(folder.file(),
            "INSERT INTO settle_entry(id, state, epoch, committed, attempts, reason, "
            "owner, created, modified, participant, revision, stages_kept) "
            "VALUES('" +
                id + "', 5, 7, 0, 0, 11, 1, 1000, 2000, 'room', 0, 0)");
    };
    insert("before");
    database db{folder.file()};
    insert("beside");
    CHECK(version_of(folder.file()) == "8");
    auto log = db.bind_log();
    for (char const* const id : {"before", "beside"}) {
        settle::entry const old = log.read(id).value().value();
        CHECK(old.why == settle::reason::refused);
        CHECK(old.why_text.empty());
    }
    CHECK(sql_value(folder.file(), "SELECT count(*) FROM settle_entries "
                                   "WHERE reason = 'refused' AND reason_text IS NULL") == "2");
}

TEST_CASE("sqlite open: concurrent threads raise tables of version 3 once") {
    for (int round = 0; round < 10; ++round) {
        folder const folder;
        sql(folder.file(), version_3);
        auto const refusals =
            refusals_of_threads([&](std::size_t) { database const db{folder.file(), patient}; });
        CHECK(refusals == std::vector<std::string>(4));
        CHECK(sql_value(folder.file(), "SELECT count(*) FROM pragma_table_info('settle_entry')") ==
              "24");
    }
}

TEST_CASE("sqlite open: a view of an earlier build is made anew, and entries stay") {
    std::string const drop = "DROP VIEW settle_entries";
    for (std::string const& before :
         {drop + "; CREATE VIEW settle_entries AS SELECT id, state FROM settle_entry", drop}) {
        folder const folder;
        std::string const path = folder.file();
        {
            database const db{path};
        }
        auto const view = "SELECT sql FROM sqlite_master WHERE name = 'settle_entries'";
        auto const present = sql_value(path, view);
        sql(path, "INSERT INTO settle_entry(id, state, epoch, committed, attempts, reason, owner, "
                  "created, modified, open) VALUES('one', 6, 7, -7, 0, 0, 1, 1000, 2000, 1)");
        sql(path, before);
        auto const refusals =
            refusals_of_threads([&](std::size_t) { database const db{path, patient}; });
        CHECK(refusals == std::vector<std::string>(4));
        CHECK(sql_value(path, view) == present);
        CHECK(sql_value(path, "SELECT id || ' ' || state FROM settle_entries") == "one deciding");
        // The view of this build stays as it is.
        auto const version = sql_value(path, "PRAGMA schema_version");
        {
            database const db{path};
        }
        CHECK(sql_value(path, "PRAGMA schema_version") == version);
    }
}

TEST_CASE("sqlite open: tables of version 3 that lack a table stay as they are") {
    folder const folder;
    sql(folder.file(), version_3);
    sql(folder.file(), "DROP TABLE settle_entry");
    CHECK(contains(opening(folder.file()), "settle_entry"));
    CHECK(version_of(folder.file()) == "3");
    CHECK(sql_value(folder.file(), "SELECT count(*) FROM sqlite_master "
                                   "WHERE name = 'settle_entries'") == "1");
}

TEST_CASE("sqlite open: a read-only file is refused") {
    folder const folder;
    {
        database const db{folder.file()};
    }
    namespace fs = std::filesystem;
    fs::permissions(folder.file(),
                    fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
    // Root may do everything, so a child without root's rights tries.
    pid_t const child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);
        auto const opened = database::open(folder.file());
        bool const refused = !opened.has_value() && opened.problem().code == condition::permanent &&
                             contains(opened.problem().text, "can only be read");
        ::_exit(refused ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("sqlite open: `open` returns an error where the constructor throws") {
    folder const folder;
    CHECK(database::open(folder.file()).has_value());
    auto const no = database::open(folder.file("no/such.db"));
    REQUIRE_FALSE(no.has_value());
    CHECK(no.problem().code == condition::permanent);
    CHECK(contains(no.problem().text, "cannot be opened"));
}

TEST_CASE("sqlite open: the wait for other writers may be infinite or 0, and not negative") {
    using std::chrono::hours;
    for (hours const limit : {hours{-1}, hours::min()}) {
        folder const folder;
        auto const no = database::open(folder.file(), {.busy_timeout = limit});
        REQUIRE_FALSE(no.has_value());
        CHECK(no.problem().code == errc::bad_option);
        CHECK(contains(no.problem().text, "database_options::busy_timeout is -"));
        CHECK_FALSE(std::filesystem::exists(folder.file()));
    }
    for (hours const given : {hours{0}, hours{24 * 365}, hours::max()}) {
        folder const here;
        database db{here.file(), {.busy_timeout = given}};
        auto engine = engine_on(db);
        CHECK(engine.create(items, item{"A", 10}).has_value());
    }
}

TEST_CASE("sqlite open: concurrent programs create the tables once") {
    for (int round = 0; round < 5; ++round) {
        folder const folder;
        std::vector<pid_t> children;
        for (int i = 0; i < 4; ++i) {
            pid_t const child = ::fork();
            if (child == 0) {
                std::string const reply = refusal([&] {
                    database db{folder.file(), patient};
                    auto engine = engine_on(db);
                    engine.create(items, item{std::to_string(i), 1}).value();
                });
                if (!reply.empty()) std::fprintf(stderr, "%s\n", reply.c_str());
                ::_exit(reply.empty() ? 0 : 1);
            }
            children.push_back(child);
        }
        for (pid_t const child : children) {
            int status = -1;
            REQUIRE(::waitpid(child, &status, 0) == child);
            CHECK(status == 0);
        }
        CHECK(sql_value(folder.file(), "SELECT count(*) FROM items") == "4");
        CHECK(sql_value(folder.file(), "SELECT count(*) FROM settle_meta") == "5");
    }
}

TEST_CASE("sqlite open: concurrent threads create the tables once") {
    folder const folder;
    auto const refusals = refusals_of_threads([&](std::size_t number) {
        database db{folder.file(), patient};
        auto engine = engine_on(db);
        engine.create(items, item{std::to_string(number), 1}).value();
    });
    CHECK(refusals == std::vector<std::string>(4));
    CHECK(sql_value(folder.file(), "SELECT count(*) FROM items") == "4");
}

TEST_CASE("sqlite open: engines on one database open and close while others work") {
    folder const folder;
    database db{folder.file()};
    engine_on(db).create(items, item{"A", 100}).value();
    std::vector<int> done(4);
    {
        std::vector<std::jthread> threads;
        for (int& count : done) {
            threads.emplace_back([&] {
                for (int i = 0; i < 10; ++i) {
                    auto engine = engine_on(db);
                    count += engine.run<take_type>(change{"A", 1, "", {}}).done() ? 1 : 0;
                    static_cast<void>(engine.read(items, "A").value());
                }
            });
        }
    }
    CHECK(done == std::vector<int>(4, 10));
    CHECK(sql_value(folder.file(), "SELECT amount FROM items") == "60");
    CHECK(sql_value(folder.file(), "SELECT count(*) FROM settle_mark") == "0");
    CHECK(sql_value(folder.file(), "SELECT count(*) FROM settle_owner") == "1");
    CHECK(sql_value(folder.file(), "SELECT count(*) FROM settle_type") == "1");
}

TEST_CASE("sqlite open: records that belong to another log are refused") {
    folder const folder;
    database db{folder.file()};
    static_cast<void>(db.bind<items_type>("first"));
    std::string const reply = refusal([&] { static_cast<void>(db.bind<numbers_type>("second")); });
    CHECK(contains(reply, "the store belongs to another log: "));
    CHECK(contains(reply, "settle: this store belongs to the log 'first'"));
    CHECK(sql(folder.file(), "SELECT name FROM sqlite_master WHERE name = 'numbers'").empty());
    database again{folder.file()};
    CHECK(contains(refusal([&] { engine_on(again); }), "belongs to the log 'first'"));
}

} // namespace
} // namespace sqlite_test
