// SPDX-License-Identifier: BSL-1.0
// The receiver on SQLite: rows and work in one native transaction, in real files.
#include "sqlite_office.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace sqlite_receiver_test {

TEST_CASE("sqlite receiver: a repeat gets the kept answer, also after the file is opened again") {
    folder const files;
    service_answer first;
    {
        office in{files.file()};
        first = in.airline_receiver.take(apply_call("a", "2"), seats{});
        CHECK(first == service_answer::ok(R"({"ticket":1})"));
        CHECK(in.airline_receiver.take(apply_call("a", "2"), seats{}) == first);
        CHECK(books_of(in.db) == books{8, 1, 0, 0});
    }
    office in{files.file()};
    CHECK(in.airline_receiver.take(apply_call("a", "2"), seats{}) == first);
    CHECK(in.airline_receiver.take(apply_call("b", "2"), seats{}) ==
          service_answer::ok(R"({"ticket":2})"));
    CHECK(in.airline_receiver.take(confirm_call("a"), seats{}) == service_answer::ok());
    CHECK(in.airline_receiver.take(confirm_call("a"), seats{}) == service_answer::ok());
    CHECK(in.airline_receiver.take(compensate_call("b"), seats{}) == service_answer::ok());
    CHECK(in.airline_receiver.take(compensate_call("b"), seats{}) == service_answer::ok());
    CHECK(in.airline_receiver.take(apply_call("a", "2"), seats{}) == first);
    CHECK(books_of(in.db) == books{8, 2, 1, 1});
    // The later operations have the result of the apply.
    CHECK(sql_value(files.file(), "SELECT carried FROM booking WHERE key = 'a'") == first.text);
    CHECK(sql_value(files.file(), "SELECT carried FROM booking WHERE key = 'b'") ==
          R"({"ticket":2})");
}

TEST_CASE("sqlite receiver: a refusal undoes the work and is kept") {
    folder const files;
    office in{files.file()};
    auto const refused = in.airline_receiver.take(apply_call("a", "11"), seats{});
    CHECK(refused == service_answer::refused("the flight has too few seats"));
    CHECK(books_of(in.db) == books{10, 0, 0, 0});
    CHECK(status_of(in, "a") == receiver_status::refused);
    in.db.change([](receiver_session& own) { own.change("UPDATE flight SET free = 100"); }).value();
    CHECK(in.airline_receiver.take(apply_call("a", "11"), seats{}) == refused);
    CHECK(in.airline_receiver.take(apply_call("a", "11"), seats{}) == refused);
    CHECK(in.airline_receiver.take(apply_call("a", "1"), seats{}).status == call_status::refused);
    CHECK(in.airline_receiver.take(compensate_call("a"), seats{}) == service_answer::ok());
    CHECK(in.airline_receiver.take(apply_call("a", "11"), seats{}) == refused);
    CHECK(books_of(in.db) == books{100, 0, 0, 0});
    // PostgreSQL holds no NUL.
    applying const full{[](receiver_session&, service_call const&) {
        return service_answer::refused({"no\0seat", 7});
    }};
    CHECK(in.airline_receiver.take(apply_call("c"), full) == service_answer::refused("no seat"));
}

/// Moves the file of a database.
struct move {
    std::string file;
    std::string moved = file + ".moved";
    void operator()() const { std::filesystem::rename(file, moved); }
};

TEST_CASE("sqlite receiver: a change whose file moves within its commit has an unknown end") {
    folder const files;
    office in{files.file()};
    move moving{files.file()};
    auto const ended = in.db.change([&](receiver_session& own) {
        own.change("UPDATE flight SET free = 100");
        // SQLite calls it inside of the commit, after the last look at the files before it.
        auto const strike = [](void* state) {
            (*static_cast<move*>(state))();
            return 0;
        };
        sqlite3_commit_hook(own.handle(), strike, &moving);
    });
    REQUIRE(std::filesystem::exists(moving.moved));
    REQUIRE_FALSE(ended.has_value());
    CHECK(ended.problem().code == settle::condition::unknown);
    CHECK(contains(ended.problem().text, "is no longer the file that is open"));
}

TEST_CASE("sqlite receiver: a change whose file has moved before its commit is undone") {
    folder const files;
    move const moving{files.file()};
    {
        office in{moving.file};
        auto const ended = in.db.change([&](receiver_session& own) {
            own.change("UPDATE flight SET free = 100");
            moving();
            // A check of the files is not older than a millisecond when a commit begins.
            std::this_thread::sleep_for(milliseconds{2});
        });
        REQUIRE_FALSE(ended.has_value());
        CHECK(ended.problem().code == errc::store_moved);
    }
    std::filesystem::rename(moving.moved, moving.file);
    CHECK(sql_value(moving.file, "SELECT free FROM flight") == "10");
}

TEST_CASE("sqlite receiver: a call after its compensation takes no effect") {
    folder const files;
    office in{files.file()};
    CHECK(in.airline_receiver.take(apply_call("late"), seats{}).status == call_status::ok);
    CHECK(in.airline_receiver.take(compensate_call("late"), seats{}).status == call_status::ok);
    CHECK(in.airline_receiver.take(apply_call("late"), seats{}).status == call_status::refused);
    CHECK(in.airline_receiver.take(compensate_call("empty"), seats{}).status == call_status::ok);
    CHECK(in.airline_receiver.take(apply_call("empty"), seats{}).status == call_status::refused);
    CHECK(in.airline_receiver.take(compensate_call("empty"), seats{}).status == call_status::ok);
    CHECK(books_of(in.db) == books{10, 1, 0, 1});
    CHECK(status_of(in, "late") == receiver_status::compensated);
    CHECK(status_of(in, "empty") == receiver_status::closed);

    auto const wrong = in.airline_receiver.take(confirm_call("late"), seats{});
    CHECK(wrong.status == call_status::unavailable);
    CHECK(contains(wrong.text, "no effect to confirm"));
    CHECK(in.airline_receiver.take(apply_call("done"), seats{}).status == call_status::ok);
    CHECK(in.airline_receiver.take(confirm_call("done"), seats{}).status == call_status::ok);
    auto const late = in.airline_receiver.take(compensate_call("done"), seats{});
    CHECK(late.status == call_status::unavailable);
    CHECK(contains(late.text, "cannot be compensated"));
    CHECK(books_of(in.db) == books{9, 2, 1, 1});
}

TEST_CASE("sqlite receiver: a key is closed before its apply, or returns the row of its apply") {
    folder const files;
    office in{files.file()};
    auto const closed = in.airline_receiver.close("a").value();
    CHECK(closed.standing.status == receiver_status::closed);
    CHECK(in.airline_receiver.take(apply_call("a"), seats{}).status == call_status::refused);
    CHECK(in.airline_receiver.close("a").value() == closed);

    auto const ticket = in.airline_receiver.take(apply_call("b"), seats{});
    auto const applied = in.airline_receiver.close("b").value();
    CHECK(applied.standing.status == receiver_status::applied);
    CHECK(applied.answer == ticket.text);
    CHECK(in.airline_receiver.take(apply_call("b"), seats{}) == ticket);
    CHECK(books_of(in.db) == books{9, 1, 0, 0});
    CHECK(in.airline_receiver.close("").problem().code == errc::bad_text);
}

TEST_CASE("sqlite receiver: a first apply after the last moment is refused, and that is kept") {
    folder const files;
    office in{files.file()};
    auto timed = apply_call("late");
    timed.last_moment = in.clock.now();
    in.clock.advance(milliseconds{1});
    auto const refused = in.airline_receiver.take(timed, seats{});
    CHECK(refused.status == call_status::refused);
    CHECK(contains(refused.text, "last moment"));
    timed.last_moment = timestamp::max();
    CHECK(in.airline_receiver.take(timed, seats{}) == refused);

    auto kept = apply_call("kept");
    kept.last_moment = in.clock.now();
    auto const ticket = in.airline_receiver.take(kept, seats{});
    CHECK(ticket.status == call_status::ok);
    in.clock.advance(std::chrono::hours{1});
    CHECK(in.airline_receiver.take(kept, seats{}) == ticket);
    CHECK(books_of(in.db) == books{9, 1, 0, 0});
}

TEST_CASE("sqlite receiver: a purge erases rows with an end, after the clocks' difference") {
    folder const files;
    office in{files.file()};
    auto const last = in.clock.now();
    auto const send = [&](call_operation operation, std::string_view key, bool has_apply = true,
                          std::string_view request = "1") {
        auto call = made_call(operation, key, request);
        call.last_moment = last;
        call.has_apply = has_apply;
        return in.airline_receiver.take(call, seats{}).status;
    };
    using enum call_operation;
    CHECK(send(apply, "applied") == call_status::ok);
    CHECK(send(apply, "confirmed") == call_status::ok);
    CHECK(send(confirm, "confirmed") == call_status::ok);
    CHECK(send(apply, "compensated") == call_status::ok);
    CHECK(send(compensate, "compensated") == call_status::ok);
    CHECK(send(apply, "refused", true, "100") == call_status::refused);
    CHECK(send(compensate, "closed") == call_status::ok);
    CHECK(send(confirm, "mail", false) == call_status::ok);

    CHECK(in.airline_receiver.purge().value() == 0);
    in.clock.advance(std::chrono::minutes{5});
    CHECK(in.airline_receiver.purge().value() == 0);
    in.clock.advance(milliseconds{1});
    CHECK(in.airline_receiver.purge(3).value() == 3);
    CHECK(in.airline_receiver.purge().value() == 1);
    CHECK(in.airline_receiver.purge().value() == 0);
    auto const left = in.airline_receiver.list().value();
    REQUIRE(left.size() == 2);
    CHECK(left[0].key == "applied");
    CHECK(left[1].key == "mail");

    // After the purge, a late copy of an ended call takes no effect.
    auto const before = books_of(in.db);
    for (auto const* key : {"confirmed", "compensated", "refused", "closed"}) {
        CHECK(send(apply, key) == call_status::refused);
    }
    CHECK(send(confirm, "mail", false) == call_status::ok);
    CHECK(in.airline_receiver.purge().value() == 4);
    CHECK(send(confirm, "confirmed") == call_status::ok);
    CHECK(send(compensate, "compensated") == call_status::ok);
    CHECK(books_of(in.db) == before);
}

TEST_CASE("sqlite receiver: a key that no row can have is not taken") {
    folder const files;
    office in{files.file()};
    std::string const longest(1024, 'k');
    CHECK(in.airline_receiver.take(apply_call(longest), seats{}).status == call_status::ok);
    for (std::string const& key :
         {std::string{}, longest + "k", std::string{"\xff"}, std::string{"a\0b", 3}}) {
        auto const answer = in.airline_receiver.take(apply_call(key), seats{});
        CHECK(answer.status == call_status::unavailable);
        CHECK(contains(answer.text, "settle: the key of the call"));
    }
    CHECK(books_of(in.db) == books{9, 1, 0, 0});
}

TEST_CASE("sqlite receiver: a wave is one native transaction, in order") {
    folder const files;
    office in{files.file()};
    std::array const calls{apply_call("a"),       apply_call("a"), compensate_call("a"),
                           apply_call("b", "20"), apply_call("c"), confirm_call("c"),
                           compensate_call("d"),  apply_call("d")};
    std::array<service_answer, 8> answers;
    in.airline_receiver.take_all(calls, answers, seats{});
    CHECK(answers[0].status == call_status::ok);
    CHECK(answers[1] == answers[0]);
    CHECK(answers[2].status == call_status::ok);
    CHECK(answers[3].status == call_status::refused);
    CHECK(answers[4].status == call_status::ok);
    CHECK(answers[5].status == call_status::ok);
    CHECK(answers[6].status == call_status::ok);
    CHECK(answers[7].status == call_status::refused);
    CHECK(books_of(in.db) == books{9, 2, 1, 1});
    in.airline_receiver.take_all({}, {}, seats{});
}

TEST_CASE("sqlite receiver: a long wave is split, and every call gets its answer") {
    folder const files;
    office in{files.file()};
    std::vector<std::string> keys;
    for (int i = 0; i < 600; ++i) keys.push_back("k" + std::to_string(i));
    std::vector<service_call> calls;
    for (auto const& key : keys) calls.push_back(apply_call(key));
    std::vector<service_answer> answers(calls.size());
    in.airline_receiver.take_all(calls, answers, seats{});
    // The flight has ten seats.
    for (std::size_t i = 0; i < answers.size(); ++i) {
        CHECK(answers[i].status == (i < 10 ? call_status::ok : call_status::refused));
    }
    CHECK(books_of(in.db) == books{0, 10, 0, 0});
}

TEST_CASE("sqlite receiver: while another program writes, a call is unavailable") {
    folder const files;
    receiver_database db{files.file(), "airline", {.busy_timeout = milliseconds{1}}};
    create_tables(db, 10);
    receiver airline_receiver{db};
    sqlite3* other = nullptr;
    REQUIRE(sqlite3_open(files.file().c_str(), &other) == SQLITE_OK);
    REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
    std::array const calls{apply_call("a"), apply_call("b")};
    std::array<service_answer, 2> answers;
    airline_receiver.take_all(calls, answers, seats{});
    for (auto const& one : answers) {
        CHECK(one.status == call_status::unavailable);
        CHECK(contains(one.text, "database is locked"));
    }
    CHECK(airline_receiver.close("a").problem().code == settle::condition::retryable);
    CHECK(airline_receiver.purge().problem().code == settle::condition::retryable);
    REQUIRE(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(other);
    airline_receiver.take_all(calls, answers, seats{});
    CHECK(answers[1].status == call_status::ok);
    CHECK(books_of(db) == books{8, 2, 0, 0});
}

TEST_CASE("sqlite receiver: a file of another receiver or version is refused") {
    folder const files;
    std::string const path = files.file();
    auto const opened = [&](std::string const& name) {
        return refusal([&] { receiver_database{path, name}; });
    };
    CHECK(opened("airline") == "");
    CHECK(opened("airline") == "");
    CHECK(contains(opened("hotel"), "belongs to the receiver 'airline', and this is 'hotel'"));
    CHECK(contains(opened(""), "the name of the receiver"));
    CHECK(receiver_database::open(path, "hotel").problem().code == errc::unfit_store);
    sqlite_test::sql(path, "UPDATE settle_receiver_meta SET value = '2' "
                           "WHERE name = 'schema_version'");
    CHECK(contains(opened("airline"), "have version '2' and this library needs version 1"));
    CHECK(receiver_database::open(path, "airline").problem().code == errc::other_version);
    sqlite_test::sql(path, "DROP TABLE settle_receiver_meta");
    CHECK(contains(opened("airline"), "has only one of the tables"));
    CHECK(contains(refusal([&] { receiver_database{files.file("no/folder"), "airline"}; }),
                   "cannot be opened"));
}

TEST_CASE("sqlite receiver: a file can hold a receiver beside records, a log and an application") {
    folder const files;
    std::string const path = files.file();
    sqlite_test::sql(path, "PRAGMA application_id = 42");
    office in{path};
    CHECK(in.airline_receiver.take(apply_call("a"), seats{}).status == call_status::ok);
    CHECK(sql_value(path, "PRAGMA application_id") == "42");
    CHECK(sql_value(path, "SELECT status FROM settle_receiver") == "applied");

    std::string const both = files.file("both.db");
    settle::sqlite::database records{both};
    auto engine = sqlite_test::engine_on(records);
    office beside{both};
    CHECK(beside.airline_receiver.take(apply_call("a"), seats{}).status == call_status::ok);
    CHECK(engine.create(sqlite_test::items, {"i", 1}).has_value());
}

TEST_CASE("sqlite receiver: rows are listed in pages, by status and transaction") {
    folder const files;
    office in{files.file()};
    for (auto const* key : {"c", "a", "b"}) {
        auto call = apply_call(key);
        call.transaction = key;
        call.line = 7;
        CHECK(in.airline_receiver.take(call, seats{}).status == call_status::ok);
    }
    CHECK(in.airline_receiver.take(compensate_call("b"), seats{}).status == call_status::ok);
    auto const page = in.airline_receiver.list({}, {}, 2).value();
    REQUIRE(page.size() == 2);
    CHECK(page[0].key == "a");
    CHECK(page[0].service == "airline");
    CHECK(page[0].transaction == "a");
    CHECK(page[0].participant == "flight");
    CHECK(page[0].line == 7);
    CHECK(page[0].created == in.clock.now());
    CHECK(page[0].standing.last_moment == timestamp::max());
    CHECK(page[1].standing.status == receiver_status::compensated);
    auto const rest = in.airline_receiver.list({}, page[1].key, 2).value();
    REQUIRE(rest.size() == 1);
    CHECK(rest[0].key == "c");
    CHECK(in.airline_receiver.list({receiver_status::compensated}).value().size() == 1);
    CHECK(in.airline_receiver.list({receiver_status::applied, "c"}).value().size() == 1);
    CHECK(in.airline_receiver.list({receiver_status::refused}).value().empty());
    CHECK(in.airline_receiver.find("a").value() == page[0]);
    CHECK(in.airline_receiver.find("z").value() == std::nullopt);
    sqlite_test::sql(files.file(), "UPDATE settle_receiver SET status = 'lost' WHERE key = 'a'");
    CHECK(in.airline_receiver.list().problem().code == errc::damaged);
    auto const damaged = in.airline_receiver.take(apply_call("a"), seats{});
    CHECK(damaged.status == call_status::unavailable);
    CHECK(contains(damaged.text, "the row 'a' of the table settle_receiver is damaged"));
}

TEST_CASE("sqlite receiver: threads and connections that share keys take effect once for each") {
    constexpr int keys = 40;
    folder const files;
    office first{files.file()};
    office second{files.file()};
    first.db.change([](receiver_session& own) { own.change("UPDATE flight SET free = 1000"); })
        .value();
    std::array<std::array<service_answer, keys>, 6> answers;
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread_index = 0; thread_index < answers.size(); ++thread_index) {
            threads.emplace_back([&, thread_index] {
                auto& in = thread_index % 2 == 0 ? first : second;
                for (int i = 0; i < keys; ++i) {
                    auto& answer = answers[thread_index][static_cast<std::size_t>(i)];
                    std::string const key = "k" + std::to_string(i);
                    do answer = in.airline_receiver.take(apply_call(key), seats{});
                    while (answer.status == call_status::unavailable);
                }
            });
        }
    }
    for (auto const& one : answers) CHECK(one == answers[0]);
    for (auto const& one : answers[0]) CHECK(one.status == call_status::ok);
    CHECK(books_of(first.db) == books{1000 - keys, keys, 0, 0});
}

} // namespace sqlite_receiver_test
