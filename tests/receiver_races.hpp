// SPDX-License-Identifier: BSL-1.0
// What receivers on SQL servers have in common: callers, processes and servers that disturb each
// other.
#pragma once

#include "forked_child.hpp"
#include "receiver_checks.hpp"

#include <settle/adapter/sql_connection.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace receiver_checks {

using namespace std::chrono_literals;
using settle_test::child;
using settle_test::say;

/// A handler whose apply is a function.
/// Shape:   Office - besides what receiver_checks.hpp asks for it has limits() (patient), the texts
///          locked, locks_keys (of a statement), and sell_seat, requests_of_two_locks (of two
///          sessions), shortest_wait, hasten_deadlock(session),
///          waits(calls), the types storage and server, ask(sql), and the functions
///          make_flight(server, free), which returns the address, unmatched_rows(address) and
///          effects_at(address)
template <typename Office, typename Apply>
struct applying_as : Office::handler {
    explicit applying_as(Apply apply) : function(std::move(apply)) {}
    settle::service_answer apply(settle::sql_connection& db,
                                 settle::service_call const& call) const {
        return function(db, call);
    }
    Apply function;
};
template <typename Office, typename Apply>
auto applying(Apply apply) {
    return applying_as<Office, Apply>{std::move(apply)};
}

/// Each call of a wave is answered for itself.
template <typename Office>
void check_wave_call_by_call() {
    Office in{1000};
    std::map<std::string, int> runs;
    auto const handler =
        applying<Office>([&](settle::sql_connection& db, service_call const& call) {
            ++runs[std::string{call.key}];
            auto answer = typename Office::handler{}.apply(db, call);
            if (call.request == "5") throw std::runtime_error{"the printer is out of paper"};
            if (call.request == "6") Office::book_twice(db);
            return answer;
        });
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
    CHECK(contains(answers[6].text, Office::twice));
    CHECK(answers.back().status == call_status::unavailable);
    CHECK(in.effects() == 40);
    CHECK(in.bookings() == 50);
    CHECK(in.number("SELECT free FROM flight") == 960);
    // Rows: 50 of applies, 10 of them compensated, and 10 of refusals.
    CHECK(in.number("SELECT count(*) FROM settle_receiver") == 60);
}

/// Of two deliveries of one key at once, the handler sees one.
template <typename Office>
void check_two_deliveries() {
    Office in;
    auto hasty = Office::limits();
    hasty.lock_timeout = Office::shortest_wait;
    typename Office::database impatient{in.own.address(), "airline", hasty};
    std::atomic<int> runs = 0;
    std::latch inside{1};
    std::latch goes_on{1};
    auto const handler =
        applying<Office>([&](settle::sql_connection& db, service_call const& call) {
            if (++runs == 1) {
                inside.count_down();
                goes_on.wait();
            }
            return typename Office::handler{}.apply(db, call);
        });
    auto const call = made_call(call_operation::apply, "a");
    service_answer first;
    service_answer second;
    std::jthread first_delivery{[&] { first = settle::receiver{in.db}.take(call, handler); }};
    inside.wait();
    auto const early = settle::receiver{impatient}.take(call, handler);
    CHECK(early.status == call_status::unavailable);
    CHECK_MESSAGE(contains(early.text, Office::locked), early.text);
    std::jthread second_delivery{[&] { second = settle::receiver{in.db}.take(call, handler); }};
    CHECK(in.waits(1));
    goes_on.count_down();
    first_delivery.join();
    second_delivery.join();
    CHECK(first == service_answer::ok(R"({"seats":1})"));
    CHECK(second == first);
    CHECK(runs == 1);
    CHECK(in.effects() == 1);
}

/// Handlers that lock each other are called again.
template <typename Office>
void check_deadlock() {
    Office in;
    in.ask("CREATE TABLE seat(id varchar(9) PRIMARY KEY, sold bigint NOT NULL)");
    in.ask("INSERT INTO seat VALUES('x', 0), ('y', 0)");
    std::atomic<int> runs = 0;
    std::latch both{2};
    std::latch ended{1};
    auto const handler =
        applying<Office>([&](settle::sql_connection& db, service_call const& call) {
            // The repeated handler begins after the other one, which may be late to wake.
            if (runs >= 2) ended.wait();
            Office::hasten_deadlock(db);
            auto const sell = [&](char const* id) { db.execute(Office::sell_seat, id); };
            bool const forward = call.key == "a";
            sell(forward ? "x" : "y");
            if (++runs <= 2) both.arrive_and_wait();
            sell(forward ? "y" : "x");
            return service_answer::ok();
        });
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

/// Waves with the same keys in other orders wait for each other, and no more.
/// Shape:   Network - as of lose_every_message_of()
template <typename Network>
void check_orders_of_keys() {
    using Office = typename Network::office;
    constexpr int keys = 40;
    Office in{1000};
    typename Network::proxy between{in.own.port()};
    typename Office::database db{Network::address(in, between), "airline", Office::limits()};
    std::latch inside{1};
    std::latch goes_on{1};
    auto const holder =
        applying<Office>([&](settle::sql_connection& session, service_call const& call) {
            inside.count_down();
            goes_on.wait();
            return typename Office::handler{}.apply(session, call);
        });
    std::mutex mutex;
    std::map<std::string, int> runs;
    auto const handler =
        applying<Office>([&](settle::sql_connection& session, service_call const& call) {
            {
                std::lock_guard const guard{mutex};
                ++runs[std::string{call.key}];
            }
            return typename Office::handler{}.apply(session, call);
        });
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
    CHECK(between.requests(Office::locks_keys) == Office::requests_of_two_locks);
    runs[names[20]] += 1;
    for (auto const& name : names) CHECK(runs[name] == 1);
    CHECK(in.effects() == keys);
}

/// Processes that share keys take effect once for each.
template <typename Office>
void check_processes() {
    constexpr int keys = 60;
    constexpr std::size_t wave = 15;
    Office in{1000};
    auto const address = in.own.address();
    auto const serve = [&](int to, bool backwards) {
        typename Office::database db{address, "airline", Office::limits()};
        settle::receiver airline_receiver{db};
        int count = 0;
        // The result names the run of the handler.
        auto const handler =
            applying<Office>([&](settle::sql_connection& session, service_call const& call) {
                std::ignore = typename Office::handler{}.apply(session, call);
                return service_answer::ok(std::to_string(::getpid()) + "0000" +
                                          std::to_string(++count));
            });
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

/// Receivers make their tables at once.
template <typename Office>
void check_tables_at_once() {
    for (int round = 0; round < 5; ++round) {
        typename Office::storage const own;
        std::latch start{6};
        std::vector<std::jthread> threads;
        for (int i = 0; i < 6; ++i) {
            threads.emplace_back([&] {
                start.arrive_and_wait();
                auto const made = Office::database::open(own.address(), "airline");
                CHECK_MESSAGE(made.has_value(), made.problem());
            });
        }
    }
}

/// A process that is killed in a handler leaves nothing.
template <typename Office>
void check_killed_process() {
    Office in;
    child first{[&](int to) {
        typename Office::database db{in.own.address(), "airline"};
        auto const stopped =
            applying<Office>([&](settle::sql_connection& session, service_call const& call) {
                auto answer = typename Office::handler{}.apply(session, call);
                say(to, "inside");
                for (;;) ::pause();
                return answer;
            });
        std::ignore = settle::receiver{db}.take(made_call(call_operation::apply, "a"), stopped);
    }};
    REQUIRE(first.line() == "inside");
    first.kill();
    service_answer answer;
    do
        answer = in.airline_receiver.take(made_call(call_operation::apply, "a"),
                                          typename Office::handler{});
    while (answer.status == call_status::unavailable);
    CHECK(answer.status == call_status::ok);
    CHECK(in.bookings() == 1);
}

/// A forked child must not use the receiver of its parent.
template <typename Office>
void check_forked_child() {
    Office in;
    child child{[&](int to) {
        say(to, in.airline_receiver
                    .take(made_call(call_operation::apply, "a"), typename Office::handler{})
                    .text);
    }};
    CHECK(contains(child.line(), "before fork()"));
    CHECK(
        in.airline_receiver.take(made_call(call_operation::apply, "a"), typename Office::handler{})
            .status == call_status::ok);
}

/// A server is killed under load.
template <typename Office>
void check_killed_server() {
    typename Office::server server;
    auto const address = Office::make_flight(server, 1'000'000);
    std::atomic<bool> stopping = false;
    std::array<std::map<std::string, service_answer>, 4> received;
    {
        // Opened before the server is killed.
        std::vector<std::unique_ptr<typename Office::database>> databases;
        for (std::size_t thread = 0; thread < received.size(); ++thread) {
            databases.push_back(std::make_unique<typename Office::database>(address, "airline"));
        }
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < received.size(); ++thread) {
            threads.emplace_back([&, thread] {
                settle::receiver airline_receiver{*databases[thread]};
                for (int i = 0; !stopping; ++i) {
                    auto const key = std::to_string(thread) + "-" + std::to_string(i);
                    received[thread][key] = airline_receiver.take(
                        made_call(call_operation::apply, key), typename Office::handler{});
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
    CHECK(Office::unmatched_rows(address) == 0);
    typename Office::database db{address, "airline"};
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
    airline_receiver.take_all(calls, again, typename Office::handler{});
    for (auto const& one : again) CHECK_MESSAGE(one.status == call_status::ok, one.text);
    CHECK(Office::effects_at(address) == static_cast<std::int64_t>(calls.size()));
    CHECK(count[call_status::ok] > 20);
}

} // namespace receiver_checks
