// SPDX-License-Identifier: BSL-1.0
// Limits that end a call of an engine: rows that another program holds, slow statements, processes
// that stand still, a server without connections, and a disk without room.
#include "bank_story.hpp"
#include "proxy.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <sys/mount.h>
#include <sys/stat.h>

namespace settle_test {
namespace {

using settle::condition;
using settle::verdict;

TEST_CASE("bank limits: a row that another program holds delays only its own transactions") {
    struct limit {
        std::chrono::milliseconds lock, statement;
        pg::sqlstate expected;
    };
    for (limit const& each :
         {limit{200ms, 20s, pg::lock_not_available}, limit{20s, 200ms, pg::query_canceled}}) {
        for (auto const how : all_phases) {
            CAPTURE(static_cast<int>(each.expected));
            CAPTURE(static_cast<int>(how));
            fresh_schema const own;
            bank_story story;
            bank_story::open(own.address());
            auto limits = short_limits();
            limits.lock_timeout = each.lock;
            limits.statement_timeout = each.statement;
            limits.answer_timeout = 30s;
            pg::database database{own.address(), limits};
            auto teller = bank_engine(database, how, 500ms);
            bank::transfer const held{"0", "1", 5};
            pool other{own.address(), {}};
            {
                auto holder = other.take();
                holder->begin();
                holder->send_sql("UPDATE accounts SET balance = 0 WHERE id = '0'", "hold a row");
                holder->sync();
                auto const outcome = teller.run("held", held);
                story.note(outcome);
                CHECK(outcome.verdict == verdict::undecided);
                CHECK(outcome.problem.code == each.expected);
                CHECK(outcome.problem.code == condition::retryable);
                CHECK(says(outcome.problem,
                           "(SQLSTATE " + pg::sqlstate_of(outcome.problem.code) + ")"));
                auto const free = teller.run("free", bank::transfer{"2", "3", 5});
                CHECK(free.done());
                story.note(free);
            }
            auto const again = teller.run("held", held);
            CHECK(again.done());
            story.note(again);
            story.check(own.address());
        }
    }
}

/// Its effects are exclusive, so that a wave reads its record before it writes.
struct reopening {
    std::string id;
    std::int64_t balance = 0;
};
SETTLE_STRUCT(reopening, id, balance);
constexpr auto reopening_type = settle::transaction<reopening, "reopening">(
    settle::participant<"account">(bank::accounts, settle::param<&reopening::id>)
        .confirm(settle::field<&bank::account::balance> = settle::param<&reopening::balance>));

TEST_CASE("bank limits: a process that stands still in a native transaction loses its session") {
    for (auto const how : all_phases) {
        CAPTURE(static_cast<int>(how));
        fresh_schema const own;
        bank_story::open(own.address());
        proxy between{own.port()};
        auto limits = short_limits();
        limits.idle_timeout = 200ms;
        pg::database database{own.address_at(between.port(), proxy::options), limits};
        bool ended = false;
        settle::engine teller{database, how, settle::type<reopening_type>,
                              settle::observed_by([&](settle::event const& seen) {
                                  ended = ended || seen.problem.find("25P03") != seen.problem.npos;
                              })};
        // The second round trip of a wave arrives when the server has ended the session.
        bool const inserts_first = how == settle::phases::two;
        between.add(
            {.sql = "", .nth = inserts_first ? 3 : 2, .what = fault::delay_request, .time = 600ms});
        CHECK(teller.run("t", reopening{"0", 7}).done());
        CHECK(ended);
        CHECK(ask_one(own.address(), "SELECT balance FROM accounts WHERE id = '0'") == "7");
        CHECK(teller.marks().value() == 0);
    }
}

TEST_CASE("bank limits: a server without a connection for each thread") {
    postgresql_server server{
        {"max_connections=6", "superuser_reserved_connections=0", "max_wal_senders=0"}};
    bank_story::open(server.address());
    pg::database database{server.address(), bank_limits()};
    auto teller = bank_engine(database, settle::phases::two, 1s);
    auto const end_sessions = [&] {
        ask(server.address(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                              "WHERE application_name = 'settle'");
    };
    CHECK(teller.run("first", bank::transfer{"0", "1", 1}).done());
    end_sessions();
    std::vector<std::unique_ptr<pool>> others;
    for (int i = 0; i < 6; ++i) {
        others.push_back(std::make_unique<pool>(server.address(), short_limits()));
    }
    auto const outcome = teller.run("second", bank::transfer{"0", "1", 1});
    CHECK(outcome.verdict == verdict::undecided);
    CHECK(outcome.problem.code == pg::too_many_connections);
    CHECK(says(outcome.problem, "(SQLSTATE 53300). Raise max_connections of the server"));
    others.resize(2);
    tellers load{server.address(), 8};
    CHECK(load.progress(100));
    load.stop();
    CHECK(load.longest() < 30s);
    others.clear();
    // The server frees their connections later.
    REQUIRE(wait_until(60s, [&] {
        try {
            end_sessions();
            return true;
        } catch (std::runtime_error const&) {
            return false;
        }
    }));
    load.story.note(teller.run("first", bank::transfer{"0", "1", 1}));
    load.story.check(server.address());
}

/// A disk of a few megabytes inside a server's folder. Only root can mount it, and not in every
/// container: a test without it says so, and ends.
class small_disk {
public:
    small_disk(postgresql_server const& server, std::string const& size)
        : path_{server.folder() / "small"} {
        struct stat status{};
        REQUIRE(::stat(server.folder().c_str(), &status) == 0);
        std::filesystem::create_directory(path_);
        auto const how = "mode=0700,size=" + size + ",uid=" + std::to_string(status.st_uid) +
                         ",gid=" + std::to_string(status.st_gid);
        is_there_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, how.c_str()) == 0;
        if (!is_there_) MESSAGE("a small disk cannot be mounted here: " << std::strerror(errno));
    }
    small_disk(small_disk const&) = delete;
    small_disk& operator=(small_disk const&) = delete;
    ~small_disk() {
        if (is_there_) ::umount2(path_.c_str(), MNT_DETACH);
    }

    [[nodiscard]] bool is_there() const { return is_there_; }
    [[nodiscard]] std::filesystem::path const& path() const { return path_; }
    void fill() const {
        std::ofstream filler{path_ / "filler", std::ios::binary};
        std::string const block(65'536, 'x');
        while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
        }
    }
    void make_room() const { std::filesystem::remove(path_ / "filler"); }

private:
    std::filesystem::path path_;
    bool is_there_ = false;
};

TEST_CASE("bank limits: a full disk of the tables ends calls at once, and with room they succeed") {
    postgresql_server server;
    small_disk const disk{server, "48m"};
    if (!disk.is_there()) return;
    ask(server.address(), "CREATE TABLESPACE small LOCATION '" + disk.path().string() + "'");
    ask(server.address(), "CREATE DATABASE bank TABLESPACE small");
    auto const address = server.address("bank");
    bank_story::open(address);
    tellers load{address};
    CHECK(load.progress());
    disk.fill();
    pg::database database{address, bank_limits()};
    auto teller = bank_engine(database, settle::phases::two);
    settle::outcome outcome;
    // Pages that are there take some more rows.
    bool const full = wait_until(30s, [&] {
        outcome = teller.run(bank::transfer{"0", "1", 1});
        load.story.note(outcome);
        return outcome.problem.code == pg::disk_full;
    });
    CHECK(full);
    CHECK(outcome.verdict == verdict::undecided);
    CHECK(outcome.problem.code == condition::permanent);
    CHECK(says(outcome.problem, "(SQLSTATE 53100)"));
    CHECK(says(outcome.problem, "Make room"));
    disk.make_room();
    CHECK(load.progress());
    load.stop();
    load.story.check(address);
}

TEST_CASE("long: bank limits: a full disk of the server's journal stops it, and nothing is lost") {
    postgresql_server server;
    bank_story::open(server.address());
    server.stop();
    small_disk const disk{server, "100m"};
    if (!disk.is_there()) return;
    auto const journal = server.folder() / "data" / "pg_wal";
    int const copied =
        server_process::run({"/bin/sh", "-c",
                             "cp -a '" + journal.string() + "' '" + disk.path().string() +
                                 "/wal' && " + "rm -r '" + journal.string() + "' && ln -s '" +
                                 disk.path().string() + "/wal' '" + journal.string() + "'"});
    REQUIRE(copied == 0);
    server.start();
    tellers load{server.address()};
    CHECK(load.progress());
    disk.fill();
    bool const stopped = wait_until(60s, [&] {
        try {
            // A new file of the journal.
            ask(server.address(), "SELECT pg_switch_wal()");
        } catch (std::runtime_error const&) {
            // The server has ended all sessions.
        }
        return end_of_file(server.folder() / "log").find("PANIC") != std::string::npos;
    });
    CHECK(stopped);
    std::this_thread::sleep_for(1s);
    server.kill();
    disk.make_room();
    server.start();
    CHECK(load.progress());
    load.stop();
    load.story.check(server.address());
}

} // namespace
} // namespace settle_test
