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
    CHECK(version_of(path) == "1");
}

TEST_CASE("sqlite open: a file is reopened unchanged") {
    folder const first_folder;
    std::string name;
    {
        database db{first_folder.file()};
        name = db.bind_log().name();
        CHECK(db.bind_log().name() == name);
    }
    database db{first_folder.file()};
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
    for (std::string const version : {"2", "0"}) {
        sql(folder.file(),
            "UPDATE settle_meta SET value = '" + version + "' WHERE name = 'schema_version'");
        std::string const reply = opening(folder.file());
        CHECK(contains(reply, "the store was made by another version: "));
        CHECK(contains(reply, "have version " + version + " and this library needs version 1."));
    }
    sql(folder.file(), "DELETE FROM settle_meta WHERE name = 'schema_version'");
    CHECK(contains(opening(folder.file()), "have version unknown and"));
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
