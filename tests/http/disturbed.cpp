// SPDX-License-Identifier: BSL-1.0
// Servers that are away, hang, break off, or send something else: a call is `unavailable` only if
// nothing was sent.
#include "calls.hpp"
#include "raw_server.hpp"

#include <settle/base/utf8.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include <sys/wait.h>

using namespace settle_test;
using namespace std::chrono_literals;
using enum settle::call_status;
using settle::http::client;
using settle::http::options;

namespace {

std::string address_of(int port) { return "http://127.0.0.1:" + std::to_string(port) + "/airline"; }

/// No call of a server that works reaches these limits, even on a busy machine.
options const patient{.connect_timeout = 60s, .call_timeout = 100s, .wave_timeout = 110s};

service_answer answer_from(raw_server::function serve, options const& settings = patient) {
    raw_server server{std::move(serve)};
    client one{server.address(), settings};
    return send_one(one, seat_call());
}

/// The answer to a call that ends after a second, once its request has reached the server. A call
/// that ends earlier, on a busy machine, is repeated.
/// Shape:   serve - called after the request
service_answer answer_in_a_second(raw_server::function const& serve) {
    options settings = patient;
    settings.call_timeout = 1s;
    for (int tries = 0; tries < 60; ++tries) {
        std::atomic<int> requests = 0;
        auto answer = answer_from(
            [&](raw_connection& connection) {
                if (connection.read_request().empty()) return;
                ++requests;
                serve(connection);
            },
            settings);
        if (requests == 1) return answer;
        CHECK(requests == 0);
        CHECK(answer.status != ok);
    }
    FAIL("no request has reached the server");
    return {};
}

std::string const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

} // namespace

TEST_CASE("a refused connection is unavailable") {
    client client{address_of(unused_port())};
    auto const answer = send_one(client, seat_call());
    CHECK(answer.status == unavailable);
    CHECK(contains(answer.text, "settle: the call 'apply' at http://127.0.0.1:"));
    CHECK(contains(answer.text, "/airline was not sent: "));
    CHECK(answer.text.ends_with(". See http#no-answer"));
}

TEST_CASE("a host that is not found is unavailable") {
    // Names with a label of 64 letters are refused without a question to a server.
    client client{"http://" + std::string(64, 'x') + ".invalid/airline", patient};
    auto const answer = send_one(client, seat_call());
    CHECK(answer.status == unavailable);
    CHECK(contains(answer.text, "was not sent"));
}

TEST_CASE("a connection that is not accepted is unavailable") {
    // The queue of the listener is full, so that the system answers no more connections.
    int const listener = new_socket();
    auto const address = bind_to_free_port(listener);
    REQUIRE(::listen(listener, 0) == 0);
    std::vector<int> queued;
    for (int count = 0; count < 4; ++count) {
        queued.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        std::ignore =
            ::connect(queued.back(), reinterpret_cast<sockaddr const*>(&address), sizeof address);
    }
    options settings = patient;
    settings.connect_timeout = 200ms;
    settings.call_timeout = 5s;
    client client{address_of(ntohs(address.sin_port)), settings};
    auto const answer = send_one(client, seat_call());
    CHECK(answer.status == unavailable);
    CHECK(contains(answer.text, "was not sent"));
    for (int const fd : queued) ::close(fd);
    ::close(listener);
}

TEST_CASE("a server that accepts and never answers is unknown") {
    auto const answer =
        answer_in_a_second([](raw_connection& connection) { connection.wait_for_end(); });
    CHECK(answer.status == unknown);
    CHECK(contains(answer.text, "got no whole answer"));
    CHECK(contains(answer.text, "timed out"));
}

TEST_CASE("a server that closes after the request, or within its answer, is unknown") {
    struct broken {
        char const* name;
        std::string bytes;
    };
    broken const every[]{
        {"at once", ""},
        {"within the status line", "HTTP/1.1 20"},
        {"within the headers", head + "Content-Length: 1\r\nX-"},
        {"within the body", head + "Content-Length: 10\r\n\r\n{\"a\":"},
        {"within a chunk", head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a"},
        {"before the last chunk", head + "Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n"},
        {"a body without a length", head + "\r\n{\"a\":"},
        {"a refusal that is cut", "HTTP/1.1 409 Conflict\r\nContent-Length: 10\r\n\r\n{\"a\":"},
        {"a pause that is cut", "HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\n{\"a\":"},
        {"another protocol", "220 mail.example ESMTP\r\n"},
        {"garbage", std::string(300, '\xff')},
        {"no status", "HTTP/1.1 \r\n\r\n"},
        {"an impossible status", "HTTP/1.1 999 What\r\nContent-Length: 1\r\n\r\n1"},
        {"an interim answer alone", "HTTP/1.1 100 Continue\r\n\r\n"},
        {"another protocol from then on", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n1"},
        {"two lengths", head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n1"},
        {"compressed", head + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08z"},
    };
    for (auto const& each : every) {
        auto const answer = answer_from(sends_and_closes(each.bytes));
        CHECK_MESSAGE(answer.status == unknown, each.name << ": " << answer.text);
        CHECK_MESSAGE(settle::is_utf8(answer.text), each.name);
    }
}

TEST_CASE("a server that resets the connection after the request is unknown") {
    raw_server server{[](raw_connection& connection) {
        connection.read_request();
        connection.reset();
    }};
    client one{server.address(), patient};
    CHECK(send_one(one, seat_call()).status == unknown);
}

TEST_CASE("a body beyond the limit is not read, and its call is unknown") {
    options settings = patient;
    settings.longest_answer = 1000;
    std::string const megabytes = "\"" + std::string(40'000'000, 'x') + "\"";
    std::string const length = "Content-Length: " + std::to_string(megabytes.size()) + "\r\n\r\n";
    for (auto const* line : {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 409 Conflict\r\n",
                             "HTTP/1.1 503 Service Unavailable\r\n"}) {
        std::atomic<bool> taken = false;
        auto const answer = answer_from(
            [&](raw_connection& connection) {
                connection.read_request();
                taken = connection.send(line + length + megabytes);
            },
            settings);
        CHECK(answer.status == unknown);
        CHECK(
            contains(answer.text, "the answer is longer than options::longest_answer, 1000 bytes"));
        CHECK_FALSE(taken);
    }
    // A body of just that length is an answer.
    auto const longest = "\"" + std::string(998, 'x') + "\"";
    CHECK(answer_from(answers_with(longest), settings) == service_answer::ok(longest));
    auto const longer = "\"" + std::string(999, 'x') + "\"";
    CHECK(answer_from(answers_with(longer), settings).status == unknown);
}

TEST_CASE("a server that sends byte by byte reaches the limit of the call") {
    auto const answer = answer_in_a_second([](raw_connection& connection) {
        connection.send(head + "Content-Length: 1000000\r\n\r\n");
        while (connection.send("1")) std::this_thread::sleep_for(10ms);
    });
    CHECK(answer.status == unknown);
    CHECK(contains(answer.text, "timed out"));
}

TEST_CASE("an endless head is unknown") {
    std::string const line = "X-Filler: " + std::string(1000, 'x') + "\r\n";
    auto const answer = answer_from([&](raw_connection& connection) {
        connection.read_request();
        connection.send(head);
        while (connection.send(line)) {
        }
    });
    CHECK(answer.status == unknown);
}

TEST_CASE("a server that ended between two waves is unavailable, and back again it answers") {
    auto server = std::make_unique<raw_server>(answers_with("1"));
    int const port = server->port();
    client client{server->address(), patient};
    CHECK(send_one(client, seat_call()).status == ok);
    server.reset();
    CHECK(send_one(client, seat_call()).status == unavailable);
    server = std::make_unique<raw_server>(answers_with("2"), port);
    CHECK(send_one(client, seat_call()) == service_answer::ok("2"));
}

TEST_CASE("a server that ends with the request in its hands is unknown") {
    // libcurl repeats a request of a connection that was kept and has closed without an answer. The
    // second connection is refused, but the first request has arrived.
    std::unique_ptr<raw_server> server;
    std::atomic<int> requests = 0;
    server = std::make_unique<raw_server>([&](raw_connection& connection) {
        while (!connection.read_request().empty()) {
            if (++requests > 1) {
                server->stop_listening();
                return;
            }
            connection.send_json("1");
        }
    });
    client client{server->address(), patient};
    CHECK(send_one(client, seat_call()).status == ok);
    auto const answer = send_one(client, seat_call());
    CHECK(requests == 2);
    CHECK(answer.status == unknown);
    CHECK(contains(answer.text, "got no whole answer"));
}

TEST_CASE("a connection that the server closed between two waves is not used again") {
    raw_server server{[](raw_connection& connection) {
        connection.read_request();
        connection.send_json("1");
    }};
    client one{server.address(), patient};
    for (int count = 0; count < 3; ++count) CHECK(send_one(one, seat_call()).status == ok);
    CHECK(server.connections() == 3);
}

TEST_CASE("no signal reaches the thread of a client, and the caller's mask is as before") {
    // This process's threads that block SIGTERM and SIGPIPE.
    auto const blocking_threads = [] {
        std::set<std::string> threads;
        for (auto const& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
            std::ifstream status{thread.path() / "status"};
            for (std::string line; std::getline(status, line);) {
                constexpr std::string_view name = "SigBlk:\t";
                if (!line.starts_with(name)) continue;
                auto const mask = std::stoull(line.substr(name.size()), nullptr, 16);
                auto const blocks = [&](int signal) { return (mask >> (signal - 1) & 1U) != 0; };
                if (blocks(SIGTERM) && blocks(SIGPIPE)) threads.insert(thread.path().filename());
            }
        }
        return threads;
    };
    raw_server server{answers_with("1")};
    auto const before = blocking_threads();
    client client{server.address(), patient};
    CHECK(send_one(client, seat_call()).status == ok);
    // A thread of libcurl that looked up a host for an earlier test may have ended meanwhile.
    auto of_client = blocking_threads();
    for (auto const& earlier : before) of_client.erase(earlier);
    CHECK(of_client.size() == 1);
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CHECK(::sigismember(&mask, SIGPIPE) == 0);
}

TEST_CASE("a client that was made before a fork sends nothing in the child") {
    raw_server server{answers_with("1")};
    client client{server.address(), patient};
    CHECK(send_one(client, seat_call()).status == ok);
    auto const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        auto const answer = send_one(client, seat_call());
        bool const good = answer.status == unavailable &&
                          contains(answer.text, "this client was made before fork()");
        ::_exit(good ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(send_one(client, seat_call()).status == ok);
    CHECK(server.connections() == 1);
}
