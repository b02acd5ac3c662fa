// SPDX-License-Identifier: BSL-1.0
// TLS with a certificate of the test's own, and HTTP/2.
#include "calls.hpp"
#include "program.hpp"
#include "sockets.hpp"

#include <settle/http/receiver_server.hpp>

#include <csignal>
#include <iostream>
#include <set>

using namespace settle_test;
using namespace std::chrono_literals;
using enum settle::call_status;
using settle::http::client;
using settle::http::options;

namespace {

/// A certificate that signs itself, for localhost alone.
struct certificate {
    explicit certificate(testing::scratch_folder const& folder, std::string const& name = "own")
        : key(folder.at(name + "_key.pem")), file(folder.at(name + "_certificate.pem")) {
        testing::program openssl{folder,
                                 {"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                  "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                                  "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                                  "-keyout", key, "-out", file}};
        auto const how = openssl.wait();
        REQUIRE_MESSAGE(how.code == 0, how.err);
    }
    std::string key;
    std::string file;
};

/// A service with TLS.
class tls_server {
public:
    /// Shape:   clients - if there is one, the server demands this certificate
    explicit tls_server(certificate const& with, int port = 0, certificate const* clients = nullptr)
        : server_(with.file.c_str(), with.key.c_str(),
                  clients == nullptr ? nullptr : clients->file.c_str()) {
        REQUIRE(server_.is_valid());
        settle::http::add_receiver(server_, "/airline",
                                   [](service_call const&) { return service_answer::ok("1"); });
        settle::http::set_limits(server_, {.keep_alive = 1s});
        if (port == 0) port_ = server_.bind_to_any_port("127.0.0.1");
        else REQUIRE(server_.bind_to_port("127.0.0.1", port_ = port));
        thread_ = std::thread{[this] { server_.listen_after_bind(); }};
        while (!server_.is_running()) std::this_thread::yield();
    }
    tls_server(tls_server const&) = delete;
    tls_server& operator=(tls_server const&) = delete;
    ~tls_server() {
        server_.stop();
        thread_.join();
    }
    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::string address(std::string const& host) const {
        return "https://" + host + ":" + std::to_string(port_) + "/airline";
    }

private:
    httplib::SSLServer server_;
    int port_ = 0;
    std::thread thread_;
};

service_answer answer_with(std::string const& address, std::string const& ca_file) {
    options settings;
    settings.ca_file = ca_file;
    settings.connect_timeout = 10s;
    client one{address, settings};
    return send_one(one, seat_call());
}

} // namespace

TEST_CASE("a certificate is accepted from the authority that was named, and for its host alone") {
    testing::scratch_folder const folder{"http-tls"};
    certificate const own{folder};
    tls_server server{own};
    CHECK(answer_with(server.address("localhost"), own.file) == service_answer::ok("1"));

    auto const strange = answer_with(server.address("localhost"), {});
    CHECK(strange.status == unavailable);
    CHECK(contains(strange.text, "was not sent: "));
    CHECK(contains(strange.text, "certificate"));

    auto const other_host = answer_with(server.address("127.0.0.1"), own.file);
    CHECK(other_host.status == unavailable);
    CHECK(contains(other_host.text, "was not sent: "));

    auto plain = server.address("localhost");
    plain.replace(0, 5, "http");
    CHECK(answer_with(plain, {}).status == unknown);
}

TEST_CASE("a client shows its certificate to a service that demands one") {
    testing::scratch_folder const folder{"http-tls-clients"};
    certificate const own{folder};
    certificate const agency{folder, "agency"};
    certificate const stranger{folder, "stranger"};
    tls_server server{own, 0, &agency};
    auto const answer_to = [&](certificate const* shown) {
        options settings;
        settings.ca_file = own.file;
        settings.connect_timeout = 10s;
        if (shown != nullptr) {
            settings.certificate_file = shown->file;
            settings.key_file = shown->key;
        }
        client one{server.address("localhost"), settings};
        return send_one(one, seat_call());
    };
    CHECK(answer_to(&agency) == service_answer::ok("1"));
    CHECK(answer_to(nullptr).status != ok);
    CHECK(answer_to(&stranger).status != ok);
    // The key of another certificate.
    certificate mixed = agency;
    mixed.key = stranger.key;
    CHECK(answer_to(&mixed).status == unavailable);
}

TEST_CASE("a TLS server that ended between two waves ends no program") {
    testing::scratch_folder const folder{"http-tls-ended"};
    certificate const own{folder};
    auto server = std::make_unique<tls_server>(own);
    int const port = server->port();
    options settings;
    settings.ca_file = own.file;
    client client{server->address("localhost"), settings};
    // SIGPIPE would end this process; httplib's servers ignore it for all.
    std::signal(SIGPIPE, SIG_DFL);
    CHECK(send_one(client, seat_call()).status == ok);
    server.reset();
    std::signal(SIGPIPE, SIG_DFL);
    CHECK(send_one(client, seat_call()).status != ok);
    server = std::make_unique<tls_server>(own, port);
    std::signal(SIGPIPE, SIG_DFL);
    CHECK(send_one(client, seat_call()).status == ok);
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CHECK(::sigismember(&mask, SIGPIPE) == 0);
}

TEST_CASE("calls of a client share one connection with HTTP/2 where the server has it") {
    constexpr auto program = "/usr/sbin/nghttpd";
    if (::access(program, X_OK) != 0) {
        std::cout << "SKIPPED: there is no " << program << std::endl;
        std::exit(SETTLE_SKIP_CODE);
    }
    testing::scratch_folder const folder{"http-2"};
    certificate const own{folder};
    auto const port = std::to_string(unused_port());
    // It sends the body of a call back.
    testing::program server{
        folder,
        {program, "--verbose", "--echo-upload", "--address=127.0.0.1", port, own.key, own.file}};
    options settings;
    settings.ca_file = own.file;
    auto const address = "https://localhost:" + port + "/airline";
    service_answer first;
    {
        // The last client of the process closes all connections.
        client one{address, settings};
        for (int count = 0; count < 500 && first.status != ok; ++count) {
            first = send_one(one, seat_call());
            if (first.status != ok) std::this_thread::sleep_for(20ms);
        }
    }
    CHECK(first == service_answer::ok("{\"request\":" + std::string{seat_request} + "}"));
    // Cold, with the connection of the wave before, and with the connection of another client.
    std::vector<service_call> const calls(50, seat_call());
    client cold{address, settings};
    client other{address, settings};
    for (client* const each : {&cold, &cold, &other}) {
        for (auto const& answer : send_all(*each, calls)) CHECK(answer == first);
    }
    server.signal(SIGTERM);
    auto const seen = server.wait().out;
    // Each line begins with the number of its connection: [id=1] [  0.001] recv HEADERS frame …
    std::set<std::string> connections;
    int calls_seen = 0;
    for (std::size_t at = 0; (at = seen.find(":path: /airline/apply", at)) != std::string::npos;
         ++at) {
        ++calls_seen;
    }
    for (std::size_t at = 0; (at = seen.find("[id=", at)) != std::string::npos; ++at) {
        connections.insert(seen.substr(at, seen.find(']', at) - at));
    }
    CHECK(calls_seen == 151);
    CHECK(connections.size() == 2);
}
