// SPDX-License-Identifier: BSL-1.0
// Waves of calls: side by side, within a limit of calls, on connections that are kept, from several
// threads, within the time of the wave.
#include "calls.hpp"
#include "raw_server.hpp"

#include <settle/http/receiver_server.hpp>

#include <program.hpp>

#include <condition_variable>

#include <sys/resource.h>

using namespace settle_test;
using namespace std::chrono_literals;
using enum settle::call_status;
using settle::http::client;
using settle::http::options;
using settle::http::receiver_server;

namespace {

/// Counts the calls that are open at once; each stays until `needed` of them are there.
class gathering {
public:
    explicit gathering(int needed) : needed_(needed) {}

    service_answer enter(service_call const& call) {
        std::unique_lock guard{lock_};
        most_ = std::max(most_, ++open_);
        arrived_.notify_all();
        bool const complete = arrived_.wait_for(guard, 60s, [&] { return most_ >= needed_; });
        --open_;
        if (!complete) return service_answer::unknown("fewer came");
        return service_answer::ok("\"" + std::string{call.key} + "\"");
    }
    [[nodiscard]] int most() const { return most_; }

private:
    int needed_;
    int open_ = 0;
    int most_ = 0;
    std::mutex lock_;
    std::condition_variable arrived_;
};

std::vector<std::string> keys(int count) {
    std::vector<std::string> every;
    for (int at = 0; at < count; ++at) every.push_back("key-" + std::to_string(at));
    return every;
}

std::vector<service_call> calls_of(std::vector<std::string> const& every) {
    std::vector<service_call> calls;
    for (auto const& key : every) calls.push_back(seat_call(call_operation::apply, key));
    return calls;
}

void check_answers(std::vector<service_answer> const& answers,
                   std::vector<std::string> const& every) {
    for (std::size_t at = 0; at < every.size(); ++at) {
        CHECK(answers[at] == service_answer::ok("\"" + every[at] + "\""));
    }
}

} // namespace

TEST_CASE("a hundred calls of a wave are open at once") {
    gathering open{100};
    receiver_server server{"/airline", [&](auto& call) { return open.enter(call); }};
    client client{server.address()};
    auto const every = keys(100);
    check_answers(send_all(client, calls_of(every)), every);
    CHECK(open.most() == 100);
}

TEST_CASE("a wave of more calls than the limit is sent in turn") {
    gathering open{8};
    receiver_server server{"/airline", [&](auto& call) { return open.enter(call); }};
    options settings;
    settings.calls_at_once = 8;
    client client{server.address(), settings};
    auto const every = keys(150);
    check_answers(send_all(client, calls_of(every)), every);
    CHECK(open.most() == 8);
}

TEST_CASE("a server with fewer threads than connections answers every call") {
    settle::http::server_options few;
    few.threads = 3;
    // A connection that stays open would keep its thread.
    few.keep_alive = std::chrono::hours{1};
    receiver_server server{
        "/airline",
        [](auto& call) { return service_answer::ok("\"" + std::string{call.key} + "\""); }, few};
    auto const every = keys(200);
    client client{server.address()};
    for (int wave = 0; wave < 2; ++wave) check_answers(send_all(client, calls_of(every)), every);
}

namespace {

/// A server in a process of its own, so that its connections take no file descriptors of the
/// test's.
class other_server {
public:
    /// Shape:   answers - false: it takes requests, and never answers
    other_server(testing::scratch_folder const& folder, bool answers)
        : running_(folder, {"/usr/bin/python3", "-c", program_text, answers ? "1" : ""}) {
        // It prints its port when it is ready.
        while (!running_.printed().ends_with("\n")) {
            REQUIRE_FALSE(running_.has_ended());
            std::this_thread::sleep_for(10ms);
        }
    }
    ~other_server() { running_.signal(SIGKILL); }
    other_server(other_server const&) = delete;
    other_server& operator=(other_server const&) = delete;

    [[nodiscard]] std::string address() const {
        auto const port = running_.printed();
        return "http://127.0.0.1:" + port.substr(0, port.size() - 1) + "/airline";
    }

private:
    static constexpr auto program_text = R"(
import asyncio, sys
async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b'\r\n\r\n')
            length = [l for l in head.split(b'\r\n') if l.startswith(b'Content-Length: ')]
            await reader.readexactly(int(length[0][16:]))
            if sys.argv[1]:
                writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
                             b'Content-Length: 1\r\n\r\n1')
    except (asyncio.IncompleteReadError, ConnectionError): pass
async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
)";

    testing::program running_;
};

/// The limit of open files of this process, until the end of the block.
class file_limit {
public:
    explicit file_limit(rlim_t most) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit lower = before_;
        lower.rlim_cur = most;
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &lower) == 0);
    }
    ~file_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    file_limit(file_limit const&) = delete;
    file_limit& operator=(file_limit const&) = delete;

private:
    rlimit before_{};
};

} // namespace

TEST_CASE("clients share the descriptors of the process: idle connections make room") {
    testing::scratch_folder const folder{"http-descriptors"};
    other_server const first{folder, true};
    other_server const second{folder, true};
    file_limit const limit{300};
    client first_client{first.address()};
    client second_client{second.address()};
    auto const every = keys(250);
    for (client* const each : {&first_client, &second_client, &first_client}) {
        for (auto const& answer : send_all(*each, calls_of(every)))
            CHECK(answer == service_answer::ok("1"));
    }
}

TEST_CASE("a service that never answers leaves descriptors to the others") {
    testing::scratch_folder const folder{"http-hung"};
    other_server const hung{folder, false};
    other_server const quick{folder, true};
    file_limit const limit{300};
    options settings;
    settings.call_timeout = settings.wave_timeout = std::chrono::hours{1};
    client hung_client{hung.address(), settings};
    client quick_client{quick.address(), settings};
    std::stop_source stop;
    std::jthread const waits{[&] {
        auto const every = keys(1000);
        std::vector<service_answer> answers(every.size());
        hung_client.send(calls_of(every), answers, {stop.get_token(), std::nullopt});
        CHECK(answers.front().status == unknown);
        CHECK(answers.back().not_sent);
    }};
    std::this_thread::sleep_for(300ms);
    for (auto const& answer : send_all(quick_client, calls_of(keys(100))))
        CHECK(answer == service_answer::ok("1"));
    stop.request_stop();
}

TEST_CASE("the next waves use the connections of the first") {
    raw_server server{answers_with("1")};
    options settings;
    settings.calls_at_once = 4;
    client client{server.address(), settings};
    auto const every = keys(12);
    for (int wave = 0; wave < 5; ++wave) {
        for (auto const& answer : send_all(client, calls_of(every))) CHECK(answer.status == ok);
    }
    CHECK(server.connections() <= 4);
    CHECK(server.connections() >= 1);
}

TEST_CASE("a service that fails gets few calls, and all of them once it answers") {
    std::atomic<bool> is_away = true;
    std::atomic<int> failed = 0;
    receiver_server server{"/airline", [&](service_call const& call) {
                               if (!is_away)
                                   return service_answer::ok("\"" + std::string{call.key} + "\"");
                               ++failed;
                               return service_answer::unavailable("away");
                           }};
    options settings;
    settings.calls_at_once = 20;
    client client{server.address(), settings};
    auto const every = keys(500);
    for (int wave = 0; wave < 3; ++wave) {
        failed = 0;
        std::size_t unsent = 0;
        for (auto const& answer : send_all(client, calls_of(every))) {
            CHECK(answer.status == unavailable);
            if (!answer.not_sent) continue;
            ++unsent;
            CHECK(contains(answer.text, "the service fails, and gets few calls until it answers"));
        }
        CHECK(unsent + static_cast<std::size_t>(failed) == every.size());
        CHECK(failed >= 1);
        // At first the calls that go together, and then ten in the second that calls wait.
        CHECK(failed <= (wave == 0 ? 60 : 20));
    }
    is_away = false;
    while (send_one(client, seat_call()).status != ok) {
    }
    check_answers(send_all(client, calls_of(every)), every);
}

TEST_CASE("a client without a pace for failing services makes every call") {
    std::atomic<int> failed = 0;
    receiver_server server{"/airline", [&](service_call const&) {
                               ++failed;
                               return service_answer::unavailable("away");
                           }};
    options settings;
    settings.calls_per_second_while_failing = 0;
    client client{server.address(), settings};
    send_all(client, calls_of(keys(200)));
    CHECK(failed == 200);
}

TEST_CASE("a client begins no more calls a second than its limit") {
    std::atomic<int> called = 0;
    receiver_server server{"/airline", [&](service_call const& call) {
                               ++called;
                               return service_answer::ok("\"" + std::string{call.key} + "\"");
                           }};
    options settings;
    settings.calls_per_second = 50;
    settings.wave_timeout = 2s;
    client client{server.address(), settings};
    auto const begun = std::chrono::steady_clock::now();
    auto const answers = send_all(client, calls_of(keys(1000)));
    auto const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun);
    CHECK(called <= 50 * seconds.count() + 6);
    CHECK(called >= 10);
    CHECK(answers.back().not_sent);
}

TEST_CASE("a client keeps to its part of limits that it shares, and without one calls nobody") {
    gathering open{3};
    receiver_server server{"/airline", [&](auto& call) { return open.enter(call); }};
    options settings;
    settings.calls_at_once = 9;
    settings.wave_timeout = 1s;
    client client{server.address(), settings};
    auto const never = std::chrono::steady_clock::time_point::max();
    auto const every = keys(20);
    client.share(0, never);
    CHECK(send_all(client, calls_of(every)).front().not_sent);
    client.share(3, std::chrono::steady_clock::now());
    CHECK(send_all(client, calls_of(every)).front().not_sent);
    CHECK(open.most() == 0);
    client.share(3, never);
    CHECK(send_all(client, calls_of(every)).front().status == ok);
    CHECK(open.most() == 3);
    client.share(100, never);
    CHECK(send_all(client, calls_of(keys(1))).front().status == ok);
}

TEST_CASE("a wave holds calls of several operations, and an empty wave sends nothing") {
    std::atomic<int> called = 0;
    receiver_server server{"/airline", [&](service_call const& call) {
                               ++called;
                               return service_answer::ok(
                                   "\"" + std::string{name_of(call.operation)} + "\"");
                           }};
    client client{server.address()};
    CHECK(send_all(client, {}).empty());
    CHECK(called == 0);
    auto const answers = send_all(client, {seat_call(call_operation::compensate), seat_call(),
                                           seat_call(call_operation::confirm)});
    CHECK(answers[0] == service_answer::ok("\"compensate\""));
    CHECK(answers[1] == service_answer::ok("\"apply\""));
    CHECK(answers[2] == service_answer::ok("\"confirm\""));
}

TEST_CASE("threads send at the same time") {
    constexpr int threads = 4;
    gathering open{threads * 5};
    receiver_server server{"/airline", [&](auto& call) { return open.enter(call); }};
    client client{server.address()};
    std::vector<std::thread> running;
    std::vector<std::vector<service_answer>> answers(threads);
    auto const every = keys(5);
    for (auto& mine : answers) {
        running.emplace_back([&] {
            for (int wave = 0; wave < 20; ++wave) mine = send_all(client, calls_of(every));
        });
    }
    for (auto& each : running) each.join();
    for (auto const& each : answers) check_answers(each, every);
    CHECK(open.most() == threads * 5);
}

TEST_CASE("a call after the end of the wave is unavailable, and a call under way is unknown") {
    options settings;
    settings.calls_at_once = 1;
    settings.call_timeout = std::chrono::hours::max();
    settings.wave_timeout = 1s;
    auto const every = keys(3);
    std::atomic<int> requests = 0;
    std::vector<service_answer> answers;
    // On a busy machine a wave can end before its first request reaches the server.
    for (int tries = 0; tries < 60 && requests == 0; ++tries) {
        // One call at a time: the first is never answered, and the others are never sent.
        raw_server server{[&](raw_connection& connection) {
            while (!connection.read_request().empty()) ++requests;
        }};
        client one{server.address(), settings};
        answers = send_all(one, calls_of(every));
    }
    CHECK(requests == 1);
    CHECK(answers[0].status == unknown);
    for (auto const* each : {&answers[1], &answers[2]}) {
        CHECK(each->status == unavailable);
        CHECK(contains(each->text, "was not sent: the time of options::wave_timeout is over"));
    }
}

TEST_CASE("a send ends with its caller's deadline or stop request") {
    options settings;
    settings.calls_at_once = 1;
    settings.call_timeout = settings.wave_timeout = std::chrono::hours::max();
    for (bool const has_deadline : {true, false}) {
        CAPTURE(has_deadline);
        std::stop_source stop;
        std::atomic<int> requests = 0;
        // The first call is never answered, and the other is never sent.
        raw_server server{[&](raw_connection& connection) {
            while (!connection.read_request().empty()) {
                ++requests;
                stop.request_stop();
            }
        }};
        client sender{server.address(), settings};
        settle::wait_limits limits;
        std::vector<service_answer> answers(2);
        for (auto wait = 200ms; requests == 0; wait *= 2) {
            if (has_deadline) limits.deadline = std::chrono::steady_clock::now() + wait;
            else limits.stop = stop.get_token();
            sender.send(calls_of(keys(2)), answers, limits);
        }
        auto const* const limit = has_deadline ? "the deadline of the engine's caller" : "a stop";
        CHECK(answers[0].status == unknown);
        CHECK(answers[0].text.starts_with(limit));
        CHECK(answers[1].status == unavailable);
        CHECK(answers[1].not_sent);
        CHECK(answers[1].text.starts_with(limit));
    }
}

TEST_CASE("one call without an answer leaves the other answers of the wave") {
    std::atomic<int> answered = 0;
    raw_server server{[&](raw_connection& connection) {
        for (std::string request; !(request = connection.read_request()).empty();) {
            if (contains(request, "Idempotency-Key: key-1/")) {
                while (answered < 2) std::this_thread::sleep_for(1ms);
                return;
            }
            connection.send_json(contains(request, "Idempotency-Key: key-0/") ? "0" : "2");
            ++answered;
        }
    }};
    client client{server.address()};
    auto const answers = send_all(client, calls_of(keys(3)));
    CHECK(answers[0] == service_answer::ok("0"));
    CHECK(answers[1].status == unknown);
    CHECK(answers[2] == service_answer::ok("2"));
}
