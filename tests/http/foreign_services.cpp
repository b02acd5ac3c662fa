// SPDX-License-Identifier: BSL-1.0
// Services as others write them: their answers, their limits of keys, and their credentials.
#include "calls.hpp"
#include "raw_server.hpp"

#include <settle/http/destination.hpp>
#include <settle/http/digest.hpp>
#include <settle/http/receiver_server.hpp>
#include <settle/http/wire.hpp>

#include <mutex>
#include <optional>
#include <set>

using namespace settle_test;
using namespace std::string_literals;
using enum settle::call_status;
using settle::http::client;
using settle::http::options;

namespace {

struct raw_answer {
    std::string lines = "200 OK";
    std::string body{};
};

/// The answer of a server that sends these lines and this body.
service_answer answer_of(raw_answer const& from, service_call const& call, options settings = {}) {
    raw_server server{sends_and_closes("HTTP/1.1 " + from.lines + "\r\nContent-Length: " +
                                       std::to_string(from.body.size()) + "\r\n\r\n" + from.body)};
    client one{server.address(), std::move(settings)};
    return send_one(one, call);
}

service_call call_without_result(call_operation operation) {
    auto call = seat_call(operation);
    call.gives_result = false;
    return call;
}

/// The value of a header in a request.
std::string header_of(std::string const& request, std::string const& name) {
    auto const at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    auto const begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
}

/// The requests of calls with these settings.
std::vector<std::string> requests_of(std::vector<service_call> const& calls, options settings) {
    std::vector<std::string> requests;
    {
        raw_server server{[&](raw_connection& connection) {
            for (std::string one; !(one = connection.read_request()).empty();) {
                requests.push_back(one);
                connection.send_json("1");
            }
        }};
        client one{server.address(), std::move(settings)};
        for (auto const& call : calls) CHECK(send_one(one, call).status == ok);
    }
    return requests;
}

} // namespace

TEST_CASE("a byte order mark before an answer is passed over") {
    CHECK(answer_of({.body = "\xef\xbb\xbf{\"number\":\"T1\"}"}, seat_call()) ==
          service_answer::ok(R"({"number":"T1"})"));
    CHECK(answer_of({"422 Unprocessable Content", "\xef\xbb\xbf{\"reason\":\"no\"}"},
                    seat_call()) == service_answer::refused("no"));
    CHECK(answer_of({.body = "\xef\xbb\xbf\xef\xbb\xbf"
                             "1"},
                    seat_call())
              .status == unknown);
}

TEST_CASE("a compressed answer is unpacked, within the limit of an answer") {
    // gzip of {"number":"T1"}.
    auto const packed = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xca\x2b\xcd\x4d"
                        "\x4a\x2d\x52\xb2\x52\x0a\x31\x54\xaa\x05\x00\x57\x92\x5c\x73\x0f"
                        "\x00\x00\x00"s;
    raw_answer const answer{"200 OK\r\nContent-Encoding: gzip", packed};
    CHECK(answer_of(answer, seat_call()) == service_answer::ok(R"({"number":"T1"})"));
    options settings;
    settings.longest_answer = 14;
    auto const longer = answer_of(answer, seat_call(), settings);
    CHECK(longer.status == unknown);
    CHECK(contains(longer.text, "longer than options::longest_answer, 14 bytes"));
    // libcurl's own text names the header.
    auto const other = answer_of({"200 OK\r\nContent-Encoding: snappy", "1"}, seat_call());
    CHECK(other.status == unknown);
    CHECK_MESSAGE(contains(other.text, "content encoding"), other.text);
}

TEST_CASE("a call without a result is ok at each ordinary 2xx") {
    for (auto const operation :
         {call_operation::apply, call_operation::confirm, call_operation::compensate}) {
        auto const call = call_without_result(operation);
        CHECK(answer_of({"200 OK\r\nContent-Type: text/plain", "OK"}, call) ==
              service_answer::ok());
        CHECK(answer_of({"200 OK", "OK"}, call) == service_answer::ok());
        CHECK(answer_of({"200 OK", ""}, call) == service_answer::ok());
        CHECK(answer_of({"201 Created", "{\"id\":1}"}, call).status == ok);
        // The page of a proxy is not the service's word.
        for (auto const& page : {raw_answer{"200 OK\r\nContent-Type: text/html", "OK"},
                                 raw_answer{"200 OK", "<html>"}}) {
            auto const answer = answer_of(page, call);
            CHECK(answer.status == unknown);
            CHECK(contains(answer.text, "with a page as its body"));
            CHECK(contains(answer.text, "set options::any_success"));
        }
        auto const accepted = answer_of({"202 Accepted", "{\"id\":1}"}, call);
        CHECK(accepted.status == unknown);
        CHECK(contains(accepted.text, "options::statuses"));
        options settings;
        settings.any_success = true;
        for (auto const* lines :
             {"202 Accepted", "206 Partial Content", "200 OK\r\nContent-Type: text/html"}) {
            CHECK_MESSAGE(answer_of({lines, "<p>"}, call, settings).status == ok, lines);
        }
    }
    // Where a result is needed, it must be JSON.
    options settings;
    settings.any_success = true;
    CHECK(answer_of({"200 OK", "OK"}, seat_call(), settings).status == unknown);
    CHECK(answer_of({"202 Accepted", "{\"id\":1}"}, seat_call(), settings).status == unknown);
}

TEST_CASE("the key of a call has the form that the service takes, the same for each try") {
    auto const id = "/6f9619ff-8b86-d011-b42d-00cf4fc964ff/card"s;
    auto const key = "0123456789012345678901234567/log.db" + id;
    auto const call = seat_call(call_operation::apply, key);
    auto const key_of = [&](options const& settings, service_call const& sent) {
        auto const requests = requests_of({sent, sent}, settings);
        REQUIRE(requests.size() == 2);
        auto const value = header_of(requests[0], "Idempotency-Key");
        CHECK(header_of(requests[1], "Idempotency-Key") == value);
        CHECK(header_of(requests[0], "Settle-Key") == key);
        return value;
    };
    options settings;
    CHECK(key_of(settings, call) == key + "/apply");
    settings.quoted_key = true;
    CHECK(key_of(settings, call) == '"' + key + "/apply\"");
    settings.key = settle::http::key_form::digest;
    auto const quoted = key_of(settings, call);
    settings.quoted_key = false;
    auto const digest = key_of(settings, call);
    CHECK(quoted == '"' + digest + '"');
    CHECK(digest.size() == 32);
    CHECK(digest.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(key_of(settings, seat_call(call_operation::compensate, key)) != digest);
    // SHA-256, cut after 128 bits.
    CHECK(settle::http::detail::digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223");
    CHECK(settle::http::detail::digest_of("") == "e3b0c44298fc1c149afbf4c8996fb924");
    CHECK(settle::http::detail::digest_of("abcdbcdecdefdefgefghfghighijhij"
                                          "kijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039");
}

TEST_CASE("an answer may repeat the key in quotes") {
    auto const status = [](std::string const& echo, options settings = {}) {
        return answer_of({"200 OK\r\nIdempotency-Key: " + echo, "1"}, seat_call(), settings).status;
    };
    CHECK(status("bank.db/trip-1/2/apply") == ok);
    CHECK(status("\"bank.db/trip-1/2/apply\"") == ok);
    CHECK(status("\"bank.db/trip-1/2/confirm\"") == unknown);
    CHECK(status("\"bank.db/trip-1/2/apply") == unknown);
    options quoted;
    quoted.quoted_key = true;
    CHECK(status("bank.db/trip-1/2/apply", quoted) == ok);
    options digest;
    digest.key = settle::http::key_form::digest;
    CHECK(status("bank.db/trip-1/2/apply", digest) == unknown);
}

TEST_CASE("a receiver takes the key in each of its forms") {
    settle::http::receiver_server server{
        "/airline", [](service_call const&) { return service_answer::ok("1"); }};
    for (auto const form : {settle::http::key_form::whole, settle::http::key_form::digest}) {
        for (bool const quoted : {false, true}) {
            options settings;
            settings.key = form;
            settings.quoted_key = quoted;
            client one{server.address(), settings};
            auto const answer = send_one(one, seat_call(call_operation::apply, "zoë 1/a%20b"));
            CHECK_MESSAGE(answer == service_answer::ok("1"), answer.text);
        }
    }
}

TEST_CASE("headers are asked for at each wave, and no message shows their values") {
    std::mutex lock; // the calls of a wave arrive on several connections
    std::vector<std::string> tokens;
    raw_server server{[&](raw_connection& connection) {
        for (std::string one; !(one = connection.read_request()).empty();) {
            auto const token = header_of(one, "Authorization");
            {
                std::lock_guard const guard{lock};
                tokens.push_back(token);
            }
            auto const body = "\"" + token + " has ended\"";
            connection.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body);
        }
    }};
    int waves = 0;
    options settings;
    settings.headers_of_wave = [&] {
        ++waves;
        if (waves == 3) throw std::runtime_error{"the authority is away"};
        std::string const name = waves == 4 ? "Settle-Key" : "Authorization";
        return settle::http::header_values{{name, "Bearer t0ken" + std::to_string(waves)}};
    };
    client client{server.address(), settings};
    for (int wave = 1; wave <= 2; ++wave) {
        auto const answers = send_all(client, {seat_call(), seat_call(call_operation::compensate)});
        for (auto const& answer : answers) {
            CHECK(answer.status == unavailable);
            CHECK(contains(answer.text, "got status 401: *** has ended. Check the credentials"));
            CHECK_FALSE(contains(answer.text, "t0ken"));
        }
    }
    CHECK(waves == 2);
    CHECK(std::multiset<std::string>(tokens.begin(), tokens.end()) ==
          std::multiset<std::string>{"Bearer t0ken1", "Bearer t0ken1", "Bearer t0ken2",
                                     "Bearer t0ken2"});
    auto const failed = send_one(client, seat_call());
    CHECK(failed.status == unavailable);
    CHECK(contains(failed.text, "options::headers_of_wave failed: the authority is away"));
    auto const refused_name = send_one(client, seat_call());
    CHECK(refused_name.status == unavailable);
    CHECK(contains(refused_name.text, "which the client itself sets"));
    CHECK(tokens.size() == 4);
}

TEST_CASE("whole numbers that a double does not keep are sent as texts if the user says so") {
    auto call = seat_call(call_operation::confirm);
    call.request = R"({"a":9007199254740993,"b":-9007199254740993,"c":9007199254740992,)"
                   R"("d":"9007199254740993 \" 9007199254740993","e":[1,-2,12345678901234567890]})";
    call.result = R"({"n":9223372036854775807})";
    auto const body_of = [&](bool as_text) {
        options settings;
        settings.large_numbers_as_text = as_text;
        auto const requests = requests_of({call}, settings);
        REQUIRE(requests.size() == 1);
        return requests[0].substr(requests[0].find("\r\n\r\n") + 4);
    };
    CHECK(body_of(false) == "{\"request\":" + std::string{call.request} +
                                ",\"result\":" + std::string{call.result} + "}");
    CHECK(body_of(true) ==
          R"({"request":{"a":"9007199254740993","b":"-9007199254740993","c":9007199254740992,)"
          R"("d":"9007199254740993 \" 9007199254740993","e":[1,-2,"12345678901234567890"]},)"
          R"("result":{"n":"9223372036854775807"}})");
}

TEST_CASE("the text of a header is decoded once, whichever version of cpp-httplib has read it") {
    using settle::http::detail::decodes_headers;
    using settle::http::detail::header_value;
    using settle::http::detail::text_of_header;
    for (auto const* version : {"0.11.4", "0.43.4", "0.9.10", "0.43"}) {
        CHECK_MESSAGE(decodes_headers(version), version);
    }
    for (auto const* version : {"0.44.0", "0.53.1", "0.100.0", "1.0.0"}) {
        CHECK_MESSAGE(!decodes_headers(version), version);
    }
    for (auto const& text : {"plain"s, "a b"s, "Köln 7"s, "a%20b"s, "%"s, "a%2520b"s, ""s}) {
        CHECK_MESSAGE(text_of_header(header_value(text)) == text, text);
    }
    CHECK(text_of_header("\"" + header_value("K\"n 7") + "\"") == "\"K\"n 7\"");
    // No client of ours has written these.
    for (auto const& value : {"a b"s, "50%"s, "%zz"s, "Köln"s}) {
        CHECK_MESSAGE(text_of_header(value) == value, value);
    }
}

TEST_CASE("a receiver server says its address in the form that a client takes") {
    settle::http::server_options settings;
    for (auto const* host : {"::1", "[::1]"}) {
        settings.host = host;
        std::optional<settle::http::receiver_server> server;
        try {
            server.emplace(
                "/airline", [](service_call const&) { return service_answer::ok("1"); }, settings);
        } catch (settle::failure const&) {
            MESSAGE("this machine has no IPv6");
            return;
        }
        CHECK(server->address() == "http://[::1]:" + std::to_string(server->port()) + "/airline");
        client one{server->address()};
        CHECK(send_one(one, seat_call()) == service_answer::ok("1"));
    }
    settings.host = "no.such.host.invalid";
    CHECK_THROWS_WITH_AS(
        (settle::http::receiver_server{"/airline", [](auto const&) { return service_answer{}; },
                                       settings}),
        "settle: the server cannot listen at http://no.such.host.invalid:0/airline. Check "
        "server_options::host. Choose another port, or end the program that has it. "
        "See http#receivers",
        settle::failure);
}

TEST_CASE("only an address of this host is a loopback address") {
    using settle::http::detail::is_loopback;
    for (auto const* host : {"localhost", "a.localhost", "127.0.0.1", "127.255.1.2", "[::1]",
                             "LocalHost", "localhost.", "A.LOCALHOST."}) {
        CHECK_MESSAGE(is_loopback(host), host);
    }
    for (auto const* host : {"127.example.com", "127.0.0.1.nip.io", "127.1.example", "128.0.0.1",
                             "127.0.0.256", "localhost.example", "[::2]", "127."}) {
        CHECK_MESSAGE(!is_loopback(host), host);
    }
}
