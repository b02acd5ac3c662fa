// SPDX-License-Identifier: BSL-1.0
// The receiver on PostgreSQL: rows and work in one native transaction.
#include "proxy.hpp"
#include "receiver_office.hpp"

#include <forked_child.hpp>

#include <latch>
#include <map>
#include <mutex>
#include <set>

namespace postgresql_receivers {
namespace {

using namespace std::chrono_literals;

} // namespace

TEST_CASE("receivers: the receiver on PostgreSQL has the grade barrier") {
    receiver_checks::check_grade<office>();
}
TEST_CASE("receivers: a refusal on PostgreSQL undoes the work, and its row is stored alone") {
    receiver_checks::check_refusal<office>();
}
TEST_CASE("receivers: a key on PostgreSQL that comes with another request is refused") {
    receiver_checks::check_another_request<office>();
}
TEST_CASE("receivers: a confirm on PostgreSQL whose row was lost is for a person") {
    receiver_checks::check_lost_row<office>();
}
TEST_CASE("receivers: work on PostgreSQL that fails is undone and may be sent again") {
    receiver_checks::check_failed_work<office>();
}
TEST_CASE("receivers: threads on PostgreSQL that share keys take effect once for each") {
    receiver_checks::check_threads<office>();
}
TEST_CASE("receivers: rows on PostgreSQL are listed and purged") {
    receiver_checks::check_rows<office>();
}
TEST_CASE("receivers: a schema of another receiver is refused") {
    receiver_checks::check_owner<office>();
}
TEST_CASE("receivers: tables of the first version on PostgreSQL are upgraded") {
    office in;
    auto const take = [](auto& receiver, char const* key) {
        return receiver.take(made_call(call_operation::apply, key), office::handler{});
    };
    auto const first = take(in.airline_receiver, "a");
    ask(in.own.address(), "ALTER TABLE settle_receiver DROP COLUMN request;"
                          "UPDATE settle_receiver_meta SET value = '1' "
                          "WHERE name = 'schema_version'");
    auto const again = in.another("airline").value();
    settle::receiver airline_receiver{*again};
    CHECK(take(airline_receiver, "a") == first);
    CHECK(take(airline_receiver, "b").status == settle::call_status::ok);
    auto const rows = airline_receiver.list().value();
    REQUIRE(rows.size() == 2);
    // A row without a fingerprint is not compared.
    CHECK(rows[0].request.empty());
    CHECK(rows[1].request.size() == 16);
    CHECK(in.another("airline").has_value());
}

TEST_CASE("receivers: statements that end the native transaction are refused on PostgreSQL") {
    office in;
    for (auto const* sql :
         {"COMMIT", " \n rollback", "/* a /* b */ COMMIT */ ; End", "-- a\nBEGIN", "ABORT",
          "PREPARE TRANSACTION 'x'", "SAVEPOINT a", "RELEASE settle_work", "START TRANSACTION",
          "ROLLBACK TO settle_work", "EXECUTE \"COMMIT\""}) {
        CAPTURE(sql);
        applying const ending{[&](receiver_session& db, service_call const& call) {
            auto answer = seats{}.apply(db, call);
            db.execute(sql);
            return answer;
        }};
        auto const answer = in.airline_receiver.take(made_call(call_operation::apply, "a"), ending);
        CHECK(answer.status == call_status::unavailable);
        CHECK_MESSAGE(contains(answer.text, "Remove this statement: "), answer.text);
        CHECK(in.bookings() == 0);
    }
    // The server refuses these itself.
    for (auto const* sql : {"SELECT 1; COMMIT", "DO $$ BEGIN COMMIT; END $$"}) {
        CAPTURE(sql);
        applying const ending{[&](receiver_session& db, service_call const& call) {
            auto answer = seats{}.apply(db, call);
            db.execute(sql);
            return answer;
        }};
        auto const answer = in.airline_receiver.take(made_call(call_operation::apply, "a"), ending);
        CHECK(answer.status == call_status::unavailable);
        CHECK(in.bookings() == 0);
    }
    CHECK_FALSE(in.airline_receiver.find("a").value());
}

TEST_CASE("receivers: each call of a wave on PostgreSQL is answered for itself") {
    office in{1000};
    std::map<std::string, int> runs;
    applying const handler{[&](receiver_session& db, service_call const& call) {
        ++runs[std::string{call.key}];
        auto answer = seats{}.apply(db, call);
        if (call.request == "5") throw std::runtime_error{"the printer is out of paper"};
        if (call.request == "6") office::book_twice(db);
        return answer;
    }};
    std::vector<std::string> keys;
    for (int i = 0; i < 100; ++i) keys.push_back("k" + std::to_string(i));
    std::vector<service_call> calls;
    for (auto const& key : keys) {
        auto const kind = calls.size() % 10;
        calls.push_back(made_call(call_operation::apply, key,
                                  kind == 2   ? "100000"
                                  : kind == 5 ? "5"
                                  : kind == 6 ? "6"
                                              : "1"));
        // A wave can have one key twice.
        if (kind == 8) calls.back().key = keys[calls.size() - 2];
        if (kind == 9) {
            calls.back() = made_call(call_operation::compensate, keys[calls.size() - 3]);
        }
    }
    std::string const broken{"k\0", 2};
    calls.push_back(made_call(call_operation::apply, broken));
    std::vector<service_answer> answers(calls.size());
    in.airline_receiver.take_all(calls, answers, handler);
    for (std::size_t index = 0; index < 100; ++index) {
        CAPTURE(index);
        auto const kind = index % 10;
        auto const expected = kind == 2                ? call_status::refused
                              : kind == 5 || kind == 6 ? call_status::unavailable
                                                       : call_status::ok;
        CHECK_MESSAGE(answers[index].status == expected, answers[index].text);
        CHECK(runs[keys[index]] == (kind < 8 ? 1 : 0));
    }
    CHECK(contains(answers[6].text, "duplicate key"));
    CHECK(answers.back().status == call_status::unavailable);
    CHECK(in.effects() == 40);
    CHECK(in.bookings() == 50);
    CHECK(in.number("SELECT free FROM flight") == 960);
    // Rows: 50 of applies, 10 of them compensated, and 10 of refusals.
    CHECK(in.number("SELECT count(*) FROM settle_receiver") == 60);
}

TEST_CASE("receivers: what a handler on PostgreSQL sets does not meet the next call of its wave") {
    office in;
    applying const handler{[&](receiver_session& db, service_call const& call) {
        std::string const zone{db.query("SHOW TimeZone").text(0, 0)};
        for (char const* const sql : {"SELECT set_config('TimeZone', 'Asia/Tokyo', true)",
                                      "SELECT set_config('search_path', 'pg_catalog', false)"}) {
            static_cast<void>(db.query(sql));
        }
        return service_answer::ok('"' + zone + ' ' + std::string{call.key} + '"');
    }};
    std::vector<service_call> const calls{made_call(call_operation::apply, "a"),
                                          made_call(call_operation::apply, "b")};
    std::vector<service_answer> answers(calls.size());
    in.airline_receiver.take_all(calls, answers, handler);
    CHECK(answers[0] == service_answer::ok(R"("UTC a")"));
    CHECK(answers[1] == service_answer::ok(R"("UTC b")"));
}

TEST_CASE("receivers: an error at the commit on PostgreSQL undoes its own call only") {
    office in;
    ask(in.own.address(),
        "CREATE TABLE size(people bigint PRIMARY KEY); INSERT INTO size VALUES(1);"
        "ALTER TABLE booking ADD FOREIGN KEY (people) REFERENCES size "
        "DEFERRABLE INITIALLY DEFERRED");
    std::array const calls{made_call(call_operation::apply, "a", "1"),
                           made_call(call_operation::apply, "b", "2"),
                           made_call(call_operation::apply, "c", "1")};
    std::array<service_answer, 3> answers;
    in.airline_receiver.take_all(calls, answers, seats{});
    CHECK(answers[0].status == call_status::ok);
    CHECK(answers[1].status == call_status::unavailable);
    CHECK_MESSAGE(contains(answers[1].text, "foreign key"), answers[1].text);
    CHECK(answers[2].status == call_status::ok);
    CHECK(in.effects() == 2);
    CHECK_FALSE(in.airline_receiver.find("b").value());
}

TEST_CASE("receivers: the round trips of calls on PostgreSQL") {
    office in{1000};
    proxy between{in.own.port()};
    receiver_database db{in.own.address_at(between.port(), proxy::options), "airline"};
    settle::receiver airline_receiver{db};
    auto const cost = [&](std::vector<service_call> const& calls) {
        std::vector<service_answer> answers(calls.size());
        between.reset_counts();
        airline_receiver.take_all(calls, answers, seats{});
        for (auto const& one : answers) CHECK_MESSAGE(one.status == call_status::ok, one.text);
        return between.requests();
    };
    std::vector<service_call> const three{made_call(call_operation::apply, "a"),
                                          made_call(call_operation::apply, "b"),
                                          made_call(call_operation::apply, "c")};
    // The handler has three statements. One more round trip puts the session right.
    CHECK(cost(three) == 2 + 3 * 3 + 1);
    CHECK(cost({made_call(call_operation::apply, "d")}) == 2 + 3 + 1);
    CHECK(cost(three) == 2);
    CHECK(cost({made_call(call_operation::confirm, "a"),
                made_call(call_operation::confirm, "b")}) == 2 + 2 + 1);
}

TEST_CASE("receivers: of two deliveries of one key at once on PostgreSQL, the handler sees one") {
    office in;
    settle::postgresql::database_options hasty;
    hasty.lock_timeout = 100ms;
    receiver_database impatient{in.own.address(), "airline", hasty};
    std::atomic<int> runs = 0;
    std::latch inside{1};
    std::latch goes_on{1};
    applying const handler{[&](receiver_session& db, service_call const& call) {
        if (++runs == 1) {
            inside.count_down();
            goes_on.wait();
        }
        return seats{}.apply(db, call);
    }};
    auto const made = made_call(call_operation::apply, "a");
    service_answer first;
    service_answer second;
    std::jthread one{[&] { first = settle::receiver{in.db}.take(made, handler); }};
    inside.wait();
    auto const early = settle::receiver{impatient}.take(made, handler);
    CHECK(early.status == call_status::unavailable);
    CHECK_MESSAGE(contains(early.text, "55P03"), early.text);
    std::jthread two{[&] { second = settle::receiver{in.db}.take(made, handler); }};
    CHECK(in.waits(1));
    goes_on.count_down();
    one.join();
    two.join();
    CHECK(first == service_answer::ok(R"({"seats":1})"));
    CHECK(second == first);
    CHECK(runs == 1);
    CHECK(in.effects() == 1);
}

TEST_CASE("receivers: handlers on PostgreSQL that lock each other are called again") {
    office in;
    ask(in.own.address(), "CREATE TABLE seat(id text PRIMARY KEY, sold bigint NOT NULL);"
                          "INSERT INTO seat VALUES('x', 0), ('y', 0)");
    std::atomic<int> runs = 0;
    std::latch both{2};
    std::latch ended{1};
    applying const handler{[&](receiver_session& db, service_call const& call) {
        // The repeated handler begins after the other one, which may be late to wake.
        if (runs >= 2) ended.wait();
        db.execute("SET LOCAL deadlock_timeout = '50ms'");
        auto const sell = [&](char const* id) {
            db.execute("UPDATE seat SET sold = sold + 1 WHERE id = $1", id);
        };
        bool const forward = call.key == "a";
        sell(forward ? "x" : "y");
        if (++runs <= 2) both.arrive_and_wait();
        sell(forward ? "y" : "x");
        return service_answer::ok();
    }};
    std::array<service_answer, 2> answers;
    {
        std::atomic<bool> first = true;
        auto const take = [&](char const* key, service_answer& answer) {
            answer = in.airline_receiver.take(made_call(call_operation::apply, key), handler);
            if (first.exchange(false)) ended.count_down();
        };
        std::jthread const one{[&] { take("a", answers[0]); }};
        std::jthread const two{[&] { take("b", answers[1]); }};
    }
    for (auto const& one : answers) CHECK_MESSAGE(one.status == call_status::ok, one.text);
    CHECK(runs == 3);
    CHECK(in.number("SELECT sum(sold) FROM seat WHERE sold = 2") == 4);
}

TEST_CASE("receivers: waves on PostgreSQL with the same keys in other orders") {
    constexpr int keys = 40;
    office in{1000};
    proxy between{in.own.port()};
    auto const options = std::string{proxy::options} + "&" + in.application();
    receiver_database db{in.own.address_at(between.port(), options), "airline", patient_limits()};
    std::latch inside{1};
    std::latch goes_on{1};
    applying const holder{[&](receiver_session& session, service_call const& call) {
        inside.count_down();
        goes_on.wait();
        return seats{}.apply(session, call);
    }};
    std::mutex mutex;
    std::map<std::string, int> runs;
    applying const handler{[&](receiver_session& session, service_call const& call) {
        {
            std::lock_guard const guard{mutex};
            ++runs[std::string{call.key}];
        }
        return seats{}.apply(session, call);
    }};
    std::vector<std::string> names;
    for (int i = 10; i < 10 + keys; ++i) names.push_back("k" + std::to_string(i));
    auto const serve = [&](bool backwards) {
        std::vector<service_call> calls;
        for (auto const& name : names) calls.push_back(made_call(call_operation::apply, name));
        if (backwards) std::reverse(calls.begin(), calls.end());
        std::vector<service_answer> answers(calls.size());
        settle::receiver{db}.take_all(calls, answers, handler);
        for (auto const& one : answers) CHECK_MESSAGE(one.status == call_status::ok, one.text);
    };
    between.reset_counts();
    {
        std::jthread const held{[&] {
            std::ignore =
                in.airline_receiver.take(made_call(call_operation::apply, names[20]), holder);
        }};
        inside.wait();
        // Each wave comes to the held key from another side.
        std::jthread const one{[&] { serve(false); }};
        std::jthread const two{[&] { serve(true); }};
        CHECK(in.waits(2));
        goes_on.count_down();
    }
    // A deadlock would have begun a native transaction again.
    CHECK(between.requests("pg_advisory_xact_lock") == 2);
    runs[names[20]] += 1;
    for (auto const& name : names) CHECK(runs[name] == 1);
    CHECK(in.effects() == keys);
}

TEST_CASE("receivers: processes on PostgreSQL that share keys take effect once for each") {
    constexpr int keys = 60;
    constexpr std::size_t wave = 15;
    office in{1000};
    auto const address = in.own.address();
    auto const serve = [&](int to, bool backwards) {
        receiver_database db{address, "airline", patient_limits()};
        settle::receiver airline_receiver{db};
        int count = 0;
        // The result names the run of the handler.
        applying const handler{[&](receiver_session& session, service_call const& call) {
            std::ignore = seats{}.apply(session, call);
            return service_answer::ok(std::to_string(::getpid()) + "0000" +
                                      std::to_string(++count));
        }};
        std::vector<std::string> names;
        for (int i = 0; i < keys; ++i) names.push_back("k" + std::to_string(i));
        std::map<std::string, std::string> received;
        if (backwards) std::reverse(names.begin(), names.end());
        for (std::size_t from = 0; from < names.size(); from += wave) {
            std::vector<service_call> calls;
            for (std::size_t at = from; at < from + wave; ++at) {
                calls.push_back(made_call(call_operation::apply, names[at]));
            }
            std::vector<service_answer> answers(wave);
            airline_receiver.take_all(calls, answers, handler);
            for (std::size_t at = 0; at < wave; ++at) received[names[from + at]] = answers[at].text;
        }
        for (auto const& [name, text] : received) say(to, name + " " + text);
    };
    std::array<child, 3> processes{child{[&](int to) { serve(to, false); }},
                                   child{[&](int to) { serve(to, true); }},
                                   child{[&](int to) { serve(to, false); }}};
    for (int i = 0; i < keys; ++i) {
        auto const line = processes[0].line();
        CHECK(contains(line, "0000"));
        CHECK(processes[1].line() == line);
        CHECK(processes[2].line() == line);
    }
    CHECK(in.effects() == keys);
}

TEST_CASE("receivers: receivers on PostgreSQL that make the tables at once") {
    for (int round = 0; round < 5; ++round) {
        fresh_schema const own;
        std::latch all{6};
        std::vector<std::jthread> threads;
        for (int i = 0; i < 6; ++i) {
            threads.emplace_back([&] {
                all.arrive_and_wait();
                auto const made = receiver_database::open(own.address(), "airline");
                CHECK_MESSAGE(made.has_value(), made.problem());
            });
        }
    }
}

TEST_CASE("receivers: a process on PostgreSQL that is killed in a handler leaves nothing") {
    office in;
    child first{[&](int to) {
        receiver_database db{in.own.address(), "airline"};
        applying const stopped{[&](receiver_session& session, service_call const& call) {
            auto answer = seats{}.apply(session, call);
            say(to, "inside");
            for (;;) ::pause();
            return answer;
        }};
        std::ignore = settle::receiver{db}.take(made_call(call_operation::apply, "a"), stopped);
    }};
    REQUIRE(first.line() == "inside");
    first.kill();
    service_answer answer;
    do answer = in.airline_receiver.take(made_call(call_operation::apply, "a"), seats{});
    while (answer.status == call_status::unavailable);
    CHECK(answer.status == call_status::ok);
    CHECK(in.bookings() == 1);
}

TEST_CASE("receivers: a forked child must not use its parent's receiver on PostgreSQL") {
    office in;
    child child{[&](int to) {
        say(to, in.airline_receiver.take(made_call(call_operation::apply, "a"), seats{}).text);
    }};
    CHECK(contains(child.line(), "before fork()"));
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a"), seats{}).status ==
          call_status::ok);
}

TEST_CASE("long: receivers: a server of PostgreSQL that is killed under load") {
    postgresql_server server;
    auto const address = server.address();
    make_flight(address, 1'000'000);
    std::atomic<bool> stopping = false;
    std::array<std::map<std::string, service_answer>, 4> received;
    {
        // Opened before the server is killed.
        std::vector<std::unique_ptr<receiver_database>> databases;
        for (std::size_t thread = 0; thread < received.size(); ++thread) {
            databases.push_back(std::make_unique<receiver_database>(address, "airline"));
        }
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < received.size(); ++thread) {
            threads.emplace_back([&, thread] {
                settle::receiver airline_receiver{*databases[thread]};
                for (int i = 0; !stopping; ++i) {
                    auto const key = std::to_string(thread) + "-" + std::to_string(i);
                    received[thread][key] =
                        airline_receiver.take(made_call(call_operation::apply, key), seats{});
                }
            });
        }
        for (int i = 0; i < 3; ++i) {
            std::this_thread::sleep_for(500ms);
            server.kill();
            std::this_thread::sleep_for(100ms);
            server.start();
        }
        std::this_thread::sleep_for(500ms);
        stopping = true;
    }
    CHECK(ask_one(address, "SELECT count(*) FROM settle_receiver AS r FULL JOIN booking AS b "
                           "ON b.key = r.key WHERE r.key IS NULL OR b.key IS NULL") == "0");
    receiver_database db{address, "airline"};
    settle::receiver airline_receiver{db};
    std::set<std::string> rows;
    for (auto const& row : airline_receiver.list({}, {}, 1'000'000).value()) rows.insert(row.key);
    std::map<call_status, int> count;
    std::vector<service_call> calls;
    for (auto const& mine : received) {
        for (auto const& [key, answer] : mine) {
            ++count[answer.status];
            calls.push_back(made_call(call_operation::apply, key));
            if (answer.status == call_status::unknown) continue;
            CHECK(rows.contains(key) == (answer.status == call_status::ok));
        }
    }
    std::vector<service_answer> again(calls.size());
    airline_receiver.take_all(calls, again, seats{});
    for (auto const& one : again) CHECK_MESSAGE(one.status == call_status::ok, one.text);
    CHECK(effects_at(address) == static_cast<std::int64_t>(calls.size()));
    CHECK(count[call_status::ok] > 20);
}

} // namespace postgresql_receivers
