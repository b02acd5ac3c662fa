// SPDX-License-Identifier: BSL-1.0
// A database whose files are no longer the files at their paths: no call reports done for records
// that no other process will see.
#include "other_process.hpp"
#include "sqlite_file.hpp"

#include <settle/running/calls/listing.hpp>

#include <functional>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace sqlite_test {
namespace {

namespace fs = std::filesystem;
using settle::errc;
using settle::sqlite::database;

/// A folder of one database, with a folder above it and a second path that leads to it.
struct location {
    folder above{};
    fs::path directory = fs::path{above.file("data")};
    std::string file = directory / "t.db";
    std::string link = directory / "link.db";

    location() {
        fs::create_directory(directory);
        fs::create_symlink(file, link);
    }
};

struct damage {
    char const* name;
    void (*strike)(location const&);
    bool by_link = false; ///< the database is opened by the second name
};

constexpr damage every_damage[]{
    {"deleted", [](location const& location) { fs::remove(location.file); }},
    {"moved", [](location const& location) { fs::rename(location.file, location.file + ".old"); }},
    {"replaced by another database",
     [](location const& location) {
         fs::copy_file(location.file, location.file + ".new");
         fs::rename(location.file + ".new", location.file);
     }},
    {"its log deleted", [](location const& location) { fs::remove(location.file + "-wal"); }},
    {"its log replaced",
     [](location const& location) {
         fs::copy_file(location.file + "-wal", location.file + ".new");
         fs::rename(location.file + ".new", location.file + "-wal");
     }},
    {"the index of its log deleted",
     [](location const& location) { fs::remove(location.file + "-shm"); }},
    {"its folder renamed",
     [](location const& location) {
         fs::rename(location.directory, location.directory.string() + "2");
     }},
    {"a link that leads elsewhere",
     [](location const& location) {
         fs::remove(location.link);
         std::ofstream{location.file + ".other"};
         fs::create_symlink(location.file + ".other", location.link);
     },
     true},
};

/// The system's environment, with an action at one reading of the clock.
class striking_environment : public settle::system_environment {
public:
    [[nodiscard]] settle::timestamp now() const {
        if (state_->left > 0 && --state_->left == 0) state_->strike();
        return system_environment::now();
    }
    /// Shape:   times - the reading at which the action happens
    void arm(int times, std::function<void()> strike) const {
        state_->strike = std::move(strike);
        state_->left = times;
    }

private:
    struct state {
        int left = 0;
        std::function<void()> strike{};
    };
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

void check_refused(settle::outcome const& outcome) {
    CHECK(outcome.verdict == settle::verdict::undecided);
    CHECK(outcome.problem.code == errc::store_moved);
    CHECK(contains(outcome.problem.text, "is no longer the file that is open"));
}

/// Longer than the age that a check of the files may have when a call begins.
void wait_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds{2}); }

/// Opens and closes the file, as another part of the program might. POSIX then releases all locks
/// that this process has on it.
void open_and_close(std::string const& path) {
    int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
}

TEST_CASE("sqlite files: no call reports done once the file at the path is another file") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        for (auto const& wrong : every_damage) {
            CAPTURE(wrong.name);
            CAPTURE(how);
            location const location;
            database db{wrong.by_link ? location.link : location.file};
            settle::engine engine{db, settle::type<add_type>, how};
            engine.create(items, item{"A", 0}).value();
            CHECK(engine.run<add_type>("one", change{"A", 1, "", {}}).done());
            wrong.strike(location);
            wait_a_moment();
            check_refused(engine.run<add_type>("two", change{"A", 1, "", {}}));
            // The refusal lasts, also for earlier transactions and for reads.
            check_refused(engine.run<add_type>("one", change{"A", 1, "", {}}));
            CHECK(engine.read(items, "A").problem().code == errc::store_moved);
            CHECK(engine.create(items, item{"B", 0}).problem().code == errc::store_moved);
            CHECK(engine.find("one").problem().code == errc::store_moved);
            CHECK(engine.marks().problem().code == errc::store_moved);
            CHECK(engine.recover().problem.code == errc::store_moved);
            CHECK(engine.work().problem.code == errc::store_moved);
            CHECK(engine.sweep().problem.code == errc::store_moved);
            CHECK(engine.purge().problem.code == errc::store_moved);
            CHECK(contains(refusal([&] { engine_on(db); }), "is no longer the file that is open"));
        }
    }
}

TEST_CASE("sqlite files: a read and a listing are refused once the file is gone") {
    location const location;
    database db{location.file};
    auto engine = engine_on(db);
    engine.create(items, item{"A", 0}).value();
    fs::remove(location.file);
    wait_a_moment();
    CHECK(engine.read(items, "A").problem().code == errc::store_moved);
    CHECK(contains(refusal([&] {
                       for (auto const& one : engine.list()) CHECK(one.id.empty());
                   }),
                   "is no longer the file that is open"));
}

TEST_CASE("sqlite files: a file removed during a commit in one phase is noticed") {
    for (auto const& wrong : every_damage) {
        CAPTURE(wrong.name);
        location const location;
        database db{wrong.by_link ? location.link : location.file};
        striking_environment const world;
        settle::engine engine{db, settle::type<add_type>, settle::with_environment(world)};
        engine.create(items, item{"A", 0}).value();
        bool struck = false;
        // The third reading of the clock is inside the native transaction, for the entry's age.
        world.arm(3, [&] {
            struck = true;
            wrong.strike(location);
        });
        check_refused(engine.run<add_type>("one", change{"A", 1, "", {}}));
        CHECK(struck);
    }
}

TEST_CASE("sqlite files: a native transaction writes nothing after its write-ahead log is moved") {
    // The first two readings of the clock precede the native transaction; the third is inside it.
    for (int const look : {1, 2, 3}) {
        CAPTURE(look);
        location const location;
        std::string const moved = location.file + "-wal.old";
        database db{location.file};
        striking_environment const world;
        settle::engine engine{db, settle::type<add_type>, settle::with_environment(world)};
        engine.create(items, item{"A", 0}).value();
        std::uintmax_t size = 0;
        world.arm(look, [&] {
            wait_a_moment();
            fs::rename(location.file + "-wal", moved);
            size = fs::file_size(moved);
        });
        check_refused(engine.run<add_type>("one", change{"A", 1, "", {}}));
        CHECK(size > 0);
        CHECK(fs::file_size(moved) == size);
    }
}

TEST_CASE("sqlite files: a repeated batch gets no outcome from a removed file") {
    location const location;
    database db{location.file};
    bool strikes = false;
    auto const strike = [&](settle::event const& seen) {
        if (seen.taken != settle::step::read || !std::exchange(strikes, false)) return;
        fs::remove(location.file);
        wait_a_moment();
    };
    settle::engine engine{db, settle::type<add_type>, settle::observed_by(strike)};
    engine.create(items, item{"A", 0}).value();
    std::vector<std::pair<std::string, change>> changes;
    for (int i = 0; i < 12; ++i) changes.emplace_back(std::to_string(i), change{"A", 1, "", {}});
    for (auto const& one : engine.run_all(changes, {4, {}, {}})) CHECK(one.done());
    strikes = true;
    auto const outcomes = engine.run_all(changes, {4, {}, {}});
    CHECK_FALSE(strikes);
    REQUIRE(outcomes.size() == changes.size());
    // The first window was read before the file went.
    for (std::size_t i = 4; i < outcomes.size(); ++i) check_refused(outcomes[i]);
}

TEST_CASE("sqlite files: a file removed at any step of two phases is noticed") {
    using enum settle::step;
    for (auto const when : {insert, apply, commit, confirm}) {
        for (auto const& wrong : every_damage) {
            CAPTURE(when);
            CAPTURE(wrong.name);
            location const location;
            database db{wrong.by_link ? location.link : location.file};
            auto const strike = [&](settle::event const& seen) {
                if (seen.taken == when) wrong.strike(location);
            };
            settle::engine engine{db, settle::type<add_type>, settle::two_phases,
                                  settle::observed_by(strike)};
            engine.create(items, item{"A", 0}).value();
            check_refused(engine.run<add_type>("one", change{"A", 1, "", {}}));
        }
    }
}

TEST_CASE("sqlite files: a removed file of records is noticed if the log is elsewhere") {
    location const location;
    folder const elsewhere;
    database log{elsewhere.file()};
    database records{location.file};
    settle::engine engine{settle::log_in(log), settle::bind(items, records),
                          settle::type<add_type>};
    engine.create(items, item{"A", 0}).value();
    fs::remove(location.file);
    wait_a_moment();
    check_refused(engine.run<add_type>("one", change{"A", 1, "", {}}));
    CHECK(engine.find("one").value()->state == settle::state::pending);
}

TEST_CASE("sqlite files: a process that reads its own database keeps the write-ahead log") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        CAPTURE(how);
        other_process::shell sqlite3;
        location const location;
        {
            database db{location.file};
            settle::engine engine{db, settle::type<add_type>, how};
            engine.create(items, item{"A", 0}).value();
            for (int i = 0; i < 3; ++i) {
                open_and_close(location.file);
                CHECK(engine.run<add_type>(change{"A", 1, "", {}}).done());
                CHECK(sqlite3.run(location.file, "SELECT 1 FROM items"));
                CHECK(engine.run<add_type>(change{"A", 1, "", {}}).done());
            }
            CHECK(engine.at(items, "A").amount == 6);
        }
        CHECK(sql_value(location.file, "SELECT amount FROM items") == "6");
    }
}

TEST_CASE("sqlite files: a process that closes its own descriptor keeps the write-ahead log") {
    other_process::shell sqlite3;
    location const location;
    // Of two descriptors of one file, the database may use this one.
    int const own = ::open(location.file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    REQUIRE(own >= 0);
    database db{location.file};
    auto engine = engine_on(db);
    engine.create(items, item{"A", 0}).value();
    // Later than that, the folder counts as unchanged.
    std::this_thread::sleep_for(std::chrono::milliseconds{60});
    CHECK(engine.run<add_type>(change{"A", 1, "", {}}).done());
    ::close(own);
    std::string const other = location.directory.parent_path() / "other";
    int const reused = ::open(other.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    CHECK(reused == own);
    CHECK(engine.run<add_type>(change{"A", 1, "", {}}).done());
    CHECK(sqlite3.run(location.file, "SELECT 1 FROM items"));
    CHECK(engine.run<add_type>(change{"A", 1, "", {}}).done());
    ::close(reused);
}

/// Only root may read the folder, and this process is not root while the object lives.
class unreachable {
public:
    explicit unreachable(fs::path folder) : folder_(std::move(folder)) {
        fs::permissions(folder_, fs::perms::none);
        if (::geteuid() == 0) became_other_ = ::seteuid(65534) == 0;
    }
    unreachable(unreachable const&) = delete;
    unreachable& operator=(unreachable const&) = delete;
    ~unreachable() {
        if (became_other_ && ::seteuid(0) != 0) std::abort();
        fs::permissions(folder_, fs::perms::all);
    }

private:
    fs::path folder_;
    bool became_other_ = false;
};

TEST_CASE("sqlite files: a file that is inaccessible for a while is not lost") {
    location const location;
    database db{location.file};
    settle::options limits;
    limits.patience = std::chrono::milliseconds{20};
    settle::engine engine{db, settle::type<add_type>, limits};
    engine.create(items, item{"A", 0}).value();
    wait_a_moment();
    {
        unreachable const gone{location.directory.parent_path()};
        auto const outcome = engine.run<add_type>("one", change{"A", 1, "", {}});
        CHECK(outcome.verdict == settle::verdict::undecided);
        INFO(outcome.problem.text);
        CHECK(contains(outcome.problem.text, "t.db' cannot be checked: Permission denied."));
        CHECK(engine.read(items, "A").problem().code == settle::condition::unknown);
    }
    CHECK(engine.run<add_type>("one", change{"A", 1, "", {}}).done());
    CHECK(engine.at(items, "A").amount == 1);
}

TEST_CASE("sqlite files: a write-ahead log removed by another program is noticed") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        CAPTURE(how);
        other_process::shell sqlite3;
        location const location;
        {
            database db{location.file};
            settle::engine engine{db, settle::type<add_type>, how};
            engine.create(items, item{"A", 0}).value();
            CHECK(engine.run<add_type>("one", change{"A", 1, "", {}}).done());
            open_and_close(location.file);
            REQUIRE(sqlite3.run(location.file, "SELECT 1 FROM items"));
            CHECK_FALSE(fs::exists(location.file + "-wal"));
            check_refused(engine.run<add_type>("two", change{"A", 1, "", {}}));
            CHECK(sqlite3.run(location.file, "UPDATE items SET small = 7"));
            // A second connection of this process would use the deleted log.
            CHECK(contains(refusal([&] { database{location.file}; }),
                           "is no longer the file that is open"));
        }
        // Closing the database has not overwritten the other program's writes.
        CHECK(sql_value(location.file, "SELECT amount || '/' || small FROM items") == "1/7");
        CHECK(sql_value(location.file, "PRAGMA integrity_check") == "ok");
        database db{location.file};
        CHECK(engine_on(db).run<add_type>("two", change{"A", 1, "", {}}).done());
        CHECK(sql_value(location.file, "SELECT amount FROM items") == "2");
    }
}

TEST_CASE("sqlite files: the content of a deleted write-ahead log is saved if nothing else wrote") {
    location const location;
    {
        database db{location.file};
        auto engine = engine_on(db);
        engine.create(items, item{"A", 0}).value();
        CHECK(engine.run<add_type>("one", change{"A", 1, "", {}}).done());
        // As a file that was last written a while ago.
        fs::last_write_time(location.file,
                            fs::last_write_time(location.file) - std::chrono::minutes{1});
        wait_a_moment();
        CHECK(engine.at(items, "A").amount == 1);
        fs::remove(location.file + "-wal");
        wait_a_moment();
        CHECK(engine.read(items, "A").problem().code == errc::store_moved);
    }
    CHECK(sql_value(location.file, "SELECT amount FROM items") == "1");
}

TEST_CASE("sqlite files: another working directory and new neighbour files do not matter") {
    location const location;
    auto const before = fs::current_path();
    fs::current_path(location.directory);
    database db{"t.db"};
    fs::current_path(before);
    auto engine = engine_on(db);
    engine.create(items, item{"A", 0}).value();
    for (int i = 0; i < 3; ++i) {
        std::ofstream{location.file + std::to_string(i)};
        wait_a_moment();
        CHECK(engine.run<add_type>(change{"A", 1, "", {}}).done());
    }
    sql(location.file, "PRAGMA wal_checkpoint(TRUNCATE)");
    sql(location.file, "VACUUM");
    wait_a_moment();
    CHECK(engine.run<add_type>(change{"A", 1, "", {}}).done());
}

TEST_CASE("sqlite files: a file with two names is refused and unchanged") {
    location const location;
    sql(location.file, "CREATE TABLE other(a)");
    fs::create_hard_link(location.file, location.file + "2");
    for (auto const& name : {location.file, location.file + "2"}) {
        std::string const reply = refusal([&] { database{name}; });
        CHECK(contains(reply, "the store does not fit"));
        CHECK(contains(reply, "is a file of 2 names"));
    }
    CHECK(sql_value(location.file, "SELECT count(*) FROM sqlite_master") == "1");
    fs::remove(location.file + "2");
    database db{location.file};
}

} // namespace
} // namespace sqlite_test
