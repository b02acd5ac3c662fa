// SPDX-License-Identifier: BSL-1.0
// Processes that take calls are killed: inside a handler, and at any moment. Row and work stay
// together, and every answer that left the process stays true.
#include <unit/sqlite_file.hpp>

#include <forked_child.hpp>
#include <receiver_service.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace receiver_kill {
namespace {

using namespace airline;
using settle_test::child;
using settle_test::say;
using sqlite_test::contains;
using sqlite_test::folder;

/// A handler that is stopped between its writes and its answer.
struct stopped : seats {
    int to = -1;

    service_answer apply(receiver_session& db, service_call const& call) const {
        auto answer = seats::apply(db, call);
        say(to, "inside");
        for (;;) ::pause();
        return answer;
    }
};

TEST_CASE("receiver: a process that is killed inside a handler leaves neither row nor work") {
    folder const files;
    child first{[&](int to) {
        receiver_database db{files.file(), "airline"};
        create_tables(db, 10);
        settle::receiver airline_receiver{db};
        stopped handler;
        handler.to = to;
        std::ignore = airline_receiver.take(apply_call("a"), handler);
    }};
    REQUIRE(first.line() == "inside");
    first.kill();

    receiver_database db{files.file(), "airline"};
    settle::receiver airline_receiver{db};
    CHECK(books_of(db) == books{10, 0, 0, 0});
    CHECK_FALSE(airline_receiver.find("a").value());
    CHECK(airline_receiver.take(apply_call("a"), seats{}) == service_answer::ok(R"({"ticket":1})"));
    CHECK(books_of(db) == books{9, 1, 0, 0});
}

TEST_CASE("receiver: processes that are killed at any moment keep every answer") {
    constexpr int rounds = 40;
    constexpr std::int64_t free = 1'000'000;
    folder const files;
    std::size_t answered = 0;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::string> answers;
        std::string const prefix = std::to_string(round) + "-";
        {
            child child{[&](int to) {
                receiver_database db{files.file(), "airline"};
                create_tables(db, free);
                settle::receiver airline_receiver{db};
                for (int i = 0;; ++i) {
                    std::string const key = prefix + std::to_string(i);
                    say(to, key + ' ' + airline_receiver.take(apply_call(key), seats{}).text);
                    if (i % 3 != 0) continue;
                    auto const undone = airline_receiver.take(compensate_call(key), seats{});
                    say(to, std::string{name_of(undone.status)});
                }
            }};
            answers.push_back(child.line());
            std::this_thread::sleep_for(std::chrono::microseconds{round * 977 % 9000});
            child.kill();
            for (auto text = child.line(); !text.empty(); text = child.line())
                answers.push_back(text);
        }
        receiver_database db{files.file(), "airline"};
        settle::receiver airline_receiver{db};
        std::string key;
        for (auto const& text : answers) {
            auto const space = text.find(' ');
            bool const applied = space != std::string::npos;
            if (applied) key = text.substr(0, space);
            auto const row = airline_receiver.find(key).value();
            REQUIRE(row.has_value());
            if (applied) CHECK(row->answer == text.substr(space + 1));
            else CHECK(row->standing.status == receiver_status::compensated);
            ++answered;
        }
        auto const stored_books = books_of(db);
        std::int64_t applied = 0;
        std::int64_t compensated = 0;
        for (auto const& one : airline_receiver.list({}, {}, 1'000'000).value()) {
            ++applied;
            if (one.standing.status == receiver_status::compensated) ++compensated;
        }
        CHECK(stored_books == books{free - applied + compensated, applied, 0, compensated});
    }
    CHECK(answered > rounds);
}

TEST_CASE("receiver: a child that was forked later must not use its parent's receiver") {
    folder const files;
    receiver_database db{files.file(), "airline"};
    create_tables(db, 10);
    settle::receiver airline_receiver{db};
    child child{[&](int to) {
        say(to, airline_receiver.take(apply_call("a"), seats{}).text);
        say(to, airline_receiver.list().problem().text);
        say(to, sqlite_test::refusal([&] { receiver_database{files.file(), "airline"}; }));
    }};
    for (int i = 0; i < 3; ++i) CHECK(contains(child.line(), "before fork()"));
    CHECK(airline_receiver.take(apply_call("a"), seats{}).status == call_status::ok);
    CHECK(books_of(db) == books{9, 1, 0, 0});
}

} // namespace
} // namespace receiver_kill
