// SPDX-License-Identifier: BSL-1.0
// A child refuses objects made before fork(), and its end does not affect the parent.
#include "sqlite_file.hpp"

#include <settle/memory.hpp>
#include <settle/running/calls/listing.hpp>
#include <settle/running/calls/recovery.hpp>
#include <settle/settle.hpp>
#include <settle/sqlite.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using settle::errc;
using sqlite_test::folder;

/// Calls a function in a child process and returns its text, or "threw: " and the exception's text.
/// A check fails if a signal ends the child, such as the alarm of a child that hangs.
std::string reply_of_child(std::function<std::string()> const& function) {
    int channel[2];
    REQUIRE(::pipe(channel) == 0);
    ::pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(900);
        std::string text;
        try {
            text = function();
        } catch (std::exception const& thrown) {
            text = std::string{"threw: "} + thrown.what();
        }
        bool const written =
            ::write(channel[1], text.data(), text.size()) == static_cast<::ssize_t>(text.size());
        ::_exit(written ? 0 : 1);
    }
    ::close(channel[1]);
    std::string text;
    std::array<char, 4096> buffer{};
    for (::ssize_t count; (count = ::read(channel[0], buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    ::close(channel[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK_MESSAGE(WIFEXITED(status), "the child was ended by signal " << WTERMSIG(status));
    CHECK(WEXITSTATUS(status) == 0);
    return text;
}

template <typename Database>
auto bank_on(Database& db) {
    return settle::engine{db, settle::type<bank::transfer_type>};
}

template <typename Engine>
void open_two_accounts(Engine& engine) {
    for (char const* id : {"A", "B"}) {
        engine.create(bank::accounts, bank::account{id, 100, 100}).value();
    }
}

bool names_fork(settle::error const& problem) {
    return problem.code == errc::forked && problem.text.find("before fork()") != std::string::npos;
}

/// The calls that are not refused, by name; nothing when all are.
template <typename Engine>
std::string calls_that_work(Engine& engine) {
    std::string working_calls;
    auto const check = [&](char const* name, settle::error const& problem) {
        if (!names_fork(problem))
            working_calls += std::string{name} + ": " + problem.message() + '\n';
    };
    auto const refused = [&](char const* name, settle::outcome const& outcome) {
        check(name, outcome.problem);
        if (outcome.verdict != settle::verdict::refused)
            working_calls += std::string{name} + " ran\n";
    };
    auto const throws = [&](char const* name, auto const& walk) {
        try {
            walk();
            working_calls += std::string{name} + " walked\n";
        } catch (settle::failure const& thrown) {
            check(name, thrown.problem());
        }
    };
    bank::transfer const transfer{"A", "B", 1};
    refused("run", engine.run("child", transfer));
    refused("run without an id", engine.run(transfer));
    refused("submit", engine.submit("child", transfer));
    refused("cancel", engine.cancel("before"));
    refused("reverse", engine.reverse("before"));
    check("run_all", engine.run_all(std::vector{transfer}).report.problem);
    check("work", engine.work().problem);
    check("recover", engine.recover().problem);
    check("sweep", engine.sweep().problem);
    check("purge", engine.purge().problem);
    check("find", engine.find("before").problem());
    check("read", engine.read(bank::accounts, "A").problem());
    check("create", engine.create(bank::accounts, {"C", 1, 1}).problem());
    check("marks", engine.marks().problem());
    check("page", engine.page({}, "", 1).problem());
    throws("list", [&] {
        for (settle::entry const& entry : engine.list()) working_calls += entry.id;
    });
    throws("scan", [&] {
        for (bank::account const& account : engine.scan(bank::accounts))
            working_calls += account.id;
    });
    return working_calls;
}

template <typename Database>
std::string built_on(Database& db) {
    try {
        auto const engine = bank_on(db);
        return "an engine was built for " + engine.owner();
    } catch (settle::failure const& thrown) {
        return names_fork(thrown.problem()) ? "" : thrown.what();
    }
}

TEST_CASE("fork: a child cannot use an engine or a database of its parent") {
    folder const folder;
    auto const check = [](auto db) {
        auto engine =
            std::make_unique<decltype(bank_on(*db))>(*db, settle::type<bank::transfer_type>);
        open_two_accounts(*engine);
        REQUIRE(engine->run("before", bank::transfer{"A", "B", 1}).done());
        CHECK(reply_of_child([&] {
                  return calls_that_work(*engine) + built_on(*db) + "all refused";
              }) == "all refused");
        // The child destroys its copies, and the parent continues with its own.
        CHECK(reply_of_child([&]() -> std::string {
                  engine.reset();
                  db.reset();
                  return "ended";
              }) == "ended");
        CHECK(engine->run("after", bank::transfer{"A", "B", 1}).done());
        CHECK(engine->read(bank::accounts, "B").value()->balance == 102);
        CHECK_FALSE(engine->find("child").value().has_value());
    };
    check(std::make_unique<settle::memory::database>());
    check(std::make_unique<settle::sqlite::database>(folder.file()));
    settle::sqlite::database again{folder.file()};
    auto engine = bank_on(again);
    CHECK(engine.read(bank::accounts, "B").value()->balance == 102);
    CHECK(sqlite_test::sql_value(folder.file(), "PRAGMA integrity_check") == "ok");
}

TEST_CASE("fork: a child may use a file that its parent had closed, as another owner") {
    folder const folder;
    std::string parent;
    {
        settle::sqlite::database db{folder.file()};
        auto engine = bank_on(db);
        open_two_accounts(engine);
        parent = engine.owner();
        // While the file is open here, a child's connection would have no locks.
        auto const reply = reply_of_child([&]() -> std::string {
            settle::sqlite::database other{folder.file()};
            return "opened";
        });
        CHECK(reply.find("was open when this process was forked") != std::string::npos);
        CHECK(reply_of_child([&] {
                  settle::sqlite::database other{folder.file("another")};
                  return std::string{"opened"};
              }) == "opened");
    }
    auto const child = reply_of_child([&] {
        settle::sqlite::database db{folder.file()};
        settle::sqlite::database beside{folder.file()};
        auto engine = bank_on(db);
        auto const outcome = engine.run("child", bank::transfer{"A", "B", 1});
        return outcome.done() && !settle::is_gone(engine.owner()) ? engine.owner() : outcome.text();
    });
    CHECK(child != parent);
    CHECK(settle::is_gone(child));
    CHECK_FALSE(settle::is_gone(parent));
    settle::sqlite::database db{folder.file()};
    auto engine = bank_on(db);
    CHECK(engine.find("child").value()->owner == child);
}

TEST_CASE("fork: a child draws other ids and epochs and recognizes its dead parent") {
    settle::system_environment const world;
    static_cast<void>(world.random());
    static_cast<void>(settle::is_gone("nobody"));
    auto const next = [&] { return std::to_string(world.random()); };
    auto const in_child = reply_of_child(next);
    CHECK(in_child != reply_of_child(next));
    CHECK(in_child != next());
    // A grandchild outlives its parent, and is not mistaken for it.
    auto const reply = reply_of_child([]() -> std::string {
        auto const parent = settle::this_process();
        if (settle::is_gone(parent)) return "gone too early";
        if (::fork() != 0) ::_exit(0);
        for (int tries = 0; tries < 500; ++tries) {
            if (settle::is_gone(parent)) return "gone";
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        return "alive";
    });
    CHECK(reply == "gone");
}

TEST_CASE("fork: a child does not wait for its parent's recovery thread") {
    settle::memory::database db;
    auto engine = bank_on(db);
    auto keeper = std::make_unique<settle::recovery_thread<decltype(engine)>>(engine);
    CHECK(reply_of_child([&]() -> std::string {
              keeper.reset();
              return "ended";
          }) == "ended");
}

} // namespace
