// SPDX-License-Identifier: BSL-1.0
// Options and addresses: refusals, proxies, and credentials that stay secret.
#include "calls.hpp"
#include "raw_server.hpp"

#include <cstdlib>
#include <optional>

using namespace settle_test;
using namespace std::chrono_literals;
using enum settle::call_status;
using settle::http::client;
using settle::http::options;

namespace {

std::string problem_of(std::string_view address, options const& settings = {}) {
    auto const opened = client::open(address, settings);
    if (opened) return {};
    CHECK(opened.problem().code == settle::errc::bad_option);
    return opened.problem().text;
}

/// A variable of the environment until the end of the block.
class variable {
public:
    variable(char const* name, std::string const& value) : name_(name) {
        if (auto const* const found = std::getenv(name)) before_ = found;
        ::setenv(name, value.c_str(), 1);
    }
    variable(variable const&) = delete;
    variable& operator=(variable const&) = delete;
    ~variable() {
        if (before_) ::setenv(name_, before_->c_str(), 1);
        else ::unsetenv(name_);
    }

private:
    char const* name_;
    std::optional<std::string> before_;
};

} // namespace

TEST_CASE("a wrong address is refused with a sentence") {
    std::string const end = ". See http#options";
    for (auto const* address : {"", "127.0.0.1:8080/airline", "ftp://127.0.0.1/airline",
                                "file:///etc/passwd", "https:/127.0.0.1"}) {
        CHECK_MESSAGE(problem_of(address) ==
                          "settle: the address of the service does not begin with "
                          "http:// or https://: " +
                              std::string{address} + end,
                      address);
    }
    for (auto const* address :
         {"http://", "http://:80/", "http://127.0.0.1:99999/", "http://a[b/"}) {
        CHECK_MESSAGE(contains(problem_of(address), "is no address: "), address);
    }
    for (auto const* address : {"http://a/b?c=d", "http://a/b#c"}) {
        CHECK_MESSAGE(contains(problem_of(address), "has a '?' or a '#'"), address);
    }
    for (auto const& address : {std::string{"http://a/b c"}, std::string{"http://a/b\r\nX: 1"},
                                std::string{"http://a/é"}, std::string{"http://a/\0b", 11}}) {
        CHECK_MESSAGE(contains(problem_of(address), "beside visible ASCII"), address);
    }
    auto const secret = problem_of("http://joe:secret@127.0.0.1/airline");
    CHECK(contains(secret, "has an '@'. Give credentials in options::headers"));
    CHECK_FALSE(contains(secret, "secret"));
    CHECK_THROWS_AS(client{"127.0.0.1"}, settle::failure);
    for (auto const* address :
         {"http://127.0.0.1:1", "HTTP://localhost/", "https://[::1]:1/a/b/", "http://a/%C3%A9"}) {
        CHECK_MESSAGE(problem_of(address).empty(), address);
    }
}

TEST_CASE("a wrong option is refused with a sentence") {
    auto const problem = [](auto change) {
        options settings;
        change(settings);
        return problem_of("http://127.0.0.1:1", settings);
    };
    CHECK(problem([](auto& with) { with.connect_timeout = 0ms; }) ==
          "settle: options::connect_timeout is not above 0. See http#options");
    CHECK(contains(problem([](auto& with) { with.call_timeout = -1ms; }), "options::call_timeout"));
    CHECK(contains(problem([](auto& with) { with.wave_timeout = 0ms; }), "options::wave_timeout"));
    CHECK(contains(problem([](auto& with) { with.longest_retry_after = -1ms; }),
                   "options::longest_retry_after is below 0"));
    CHECK(contains(problem([](auto& with) { with.calls_at_once = 0; }), "calls_at_once"));
    CHECK(contains(problem([](auto& with) { with.longest_answer = 0; }), "longest_answer"));
    CHECK(problem([](auto& with) { with.ca_file = "/no/such/file.pem"; }) ==
          "settle: options::ca_file cannot be read: /no/such/file.pem. See http#options");
    CHECK(contains(problem([](auto& with) { with.certificate_file = with.key_file = "/no/such"; }),
                   "options::certificate_file cannot be read: /no/such"));
    CHECK(contains(problem([](auto& with) { with.key_file = "/dev/null"; }),
                   "options::certificate_file and options::key_file belong together"));

    auto const of_header = [&](std::string const& name, std::string const& value) {
        return problem([&](auto& with) { with.headers = {{name, value}}; });
    };
    for (auto const* name : {"", "a b", "a:", "a\r\nb", "é"}) {
        CHECK_MESSAGE(contains(of_header(name, "secret"), "a name that no header can have"), name);
    }
    for (auto const* name : {"content-type", "Host", "settle-epoch", "Settle-", "IDEMPOTENCY-KEY",
                             "Transfer-Encoding", "TE"}) {
        CHECK_MESSAGE(contains(of_header(name, "secret"), "which the client itself sets"), name);
    }
    for (auto const& value : {std::string{"secret\r\nX: 1"}, std::string{"secret\n"},
                              std::string{"secret\0", 7}, std::string{"secret é"}}) {
        auto const text = of_header("Authorization", value);
        CHECK(
            contains(text, "has a value for 'Authorization' with characters beside visible ASCII"));
        CHECK_FALSE(contains(text, "secret"));
    }
    CHECK(of_header("Authorization", "Bearer abc").empty());
    CHECK(of_header("Tenant", "").empty());
}

TEST_CASE("headers of the user are sent with each call, and no message shows their values") {
    std::vector<std::string> requests;
    std::string status;
    raw_server server{[&](raw_connection& connection) {
        for (std::string request; !(request = connection.read_request()).empty();) {
            requests.push_back(request);
            // The server repeats the request, as a debug page does.
            std::string body{"\""};
            for (char const each : request) body += each >= ' ' && each != '"' ? each : ' ';
            body += "\"";
            connection.send("HTTP/1.1 " + status + "\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body);
        }
    }};
    options settings;
    settings.headers = {{"Authorization", "Bearer t0ken"}, {"X-Api-Key", "k3y"}, {"X-Empty", ""}};
    client client{server.address(), settings};
    for (auto const* each : {"401 Unauthorized", "409 Conflict", "500 Internal Server Error"}) {
        status = each;
        auto const answer = send_one(client, seat_call());
        CHECK(answer.status != ok);
        CHECK(contains(answer.text, "POST /airline/apply"));
        CHECK_FALSE(contains(answer.text, "t0ken"));
        CHECK_FALSE(contains(answer.text, "k3y"));
    }
    REQUIRE(requests.size() == 3);
    for (auto const& each : requests) {
        CHECK(contains(each, "\r\nAuthorization: Bearer t0ken\r\n"));
        CHECK(contains(each, "\r\nX-Api-Key: k3y\r\n"));
        CHECK(contains(each, "\r\nX-Empty:\r\n"));
    }
}

TEST_CASE("a proxy of the environment is used, but not for a loopback address") {
    std::string first;
    raw_server proxy{[&](raw_connection& connection) {
        first = connection.read_request();
        connection.send_json("\"of the proxy\"");
    }};
    raw_server server{answers_with("\"of the service\"")};
    variable const set{"http_proxy", "http://127.0.0.1:" + std::to_string(proxy.port())};
    variable const everywhere{"no_proxy", ""};
    for (auto const* host : {"127.0.0.1", "localhost"}) {
        client direct{"http://" + std::string{host} + ":" + std::to_string(server.port()) + "/a"};
        CHECK(send_one(direct, seat_call()) == service_answer::ok("\"of the service\""));
    }
    client outside{"http://airline.invalid/airline"};
    CHECK(send_one(outside, seat_call()) == service_answer::ok("\"of the proxy\""));
    CHECK(first.starts_with("POST http://airline.invalid/airline/apply HTTP/1.1\r\n"));
    CHECK(proxy.connections() == 1);

    options none;
    none.proxy = "";
    none.connect_timeout = 2s;
    // A name that is refused without a question to a server.
    client alone{"http://" + std::string(64, 'x') + ".invalid/airline", none};
    CHECK(send_one(alone, seat_call()).status == unavailable);
    CHECK(proxy.connections() == 1);
}

TEST_CASE("a proxy of the options is used for every address") {
    raw_server proxy{answers_with("\"of the proxy\"")};
    options settings;
    settings.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
    client one{"http://127.0.0.1:1/airline", settings};
    CHECK(send_one(one, seat_call()) == service_answer::ok("\"of the proxy\""));
}
