// SPDX-License-Identifier: BSL-1.0
// The meaning of each status code, of Retry-After, and of the bodies beside them.
#include "calls.hpp"
#include "raw_server.hpp"

#include <settle/http/receiver_server.hpp>

#include <ctime>
#include <map>

using namespace settle_test;
using enum settle::call_status;
using settle::http::client;
using settle::http::options;
using settle::http::status_table;

namespace {

constexpr std::array every_operation{call_operation::apply, call_operation::confirm,
                                     call_operation::compensate, call_operation::query};

bool may_be_refused(call_operation operation) {
    return operation == call_operation::apply || operation == call_operation::query;
}

/// Answers a call at /STATUS/… with this status.
struct status_server {
    status_server() {
        server.Post("/([0-9]+)/(apply|confirm|compensate|query)",
                    [](httplib::Request const& from, httplib::Response& to) {
                        to.status = std::stoi(from.matches[1]);
                        if (to.status == 204 || to.status == 304) return;
                        to.set_content("{\"reason\":\"of the service\"}", "application/json");
                    });
        settle::http::set_limits(server, {});
        port = server.bind_to_any_port("127.0.0.1");
        thread = std::thread{[this] { server.listen_after_bind(); }};
        while (!server.is_running()) std::this_thread::yield();
    }
    ~status_server() {
        server.stop();
        thread.join();
    }

    service_answer answer(call_operation operation, int status, options const& settings = {}) {
        client one{"http://127.0.0.1:" + std::to_string(port) + "/" + std::to_string(status),
                   settings};
        return send_one(one, seat_call(operation));
    }

    httplib::Server server;
    int port = 0;
    std::thread thread;
};

/// One answer of a server that sends these lines and this body.
service_answer answer_of(std::string const& lines, std::string const& body = {},
                         call_operation operation = call_operation::apply,
                         options const& settings = {}) {
    raw_server server{sends_and_closes("HTTP/1.1 " + lines + "\r\nContent-Length: " +
                                       std::to_string(body.size()) + "\r\n\r\n" + body)};
    client one{server.address(), settings};
    return send_one(one, seat_call(operation));
}

} // namespace

TEST_CASE("each status has the meaning of the page, for each operation") {
    status_server server;
    std::map<int, settle::call_status> const meanings{
        {202, unknown}, {206, unknown}, {307, unavailable}, {308, unavailable},
        {408, unknown}, {409, refused}, {422, refused},     {503, unavailable}};
    for (auto const operation : every_operation) {
        for (int status = 200; status < 600; ++status) {
            auto expected = status < 300                    ? ok
                            : status < 400 || status >= 500 ? unknown
                                                            : unavailable;
            if (auto const found = meanings.find(status); found != meanings.end()) {
                expected = found->second;
            }
            if (expected == refused && !may_be_refused(operation)) expected = unknown;
            auto const answer = server.answer(operation, status);
            auto const context = std::to_string(status) + " for " + std::string{name_of(operation)};
            CHECK_MESSAGE(answer.status == expected, context << ": " << answer.text);
            if (expected == ok) {
                CHECK_MESSAGE(answer.text ==
                                  (status == 204 ? "" : "{\"reason\":\"of the service\"}"),
                              context);
            } else if (expected == refused) {
                CHECK_MESSAGE(answer.text == "of the service", context);
            } else {
                auto const advice =
                    status == 202 ? ". If it says that the call is done, give it that meaning in "
                                    "options::statuses"
                    : status == 401 || status == 403
                        ? ". Check the credentials in options::headers, or give "
                          "options::headers_of_wave"
                        : "";
                auto const shown = "got status " + std::to_string(status) +
                                   (status == 304 ? "" : ": of the service") + advice +
                                   ". See http#status-codes";
                CHECK_MESSAGE(answer.text.ends_with(shown), context << ": " << answer.text);
                CHECK(answer.text.starts_with("settle: the call '" +
                                              std::string{name_of(operation)} +
                                              "' at http://127.0.0.1:"));
            }
        }
    }
}

TEST_CASE("a table can be changed for a service, also for one operation alone") {
    status_server server;
    options settings;
    settings.statuses = status_table{}
                            .with(402, refused)
                            .with(503, unknown)
                            .with(call_operation::compensate, 404, ok);
    CHECK(server.answer(call_operation::apply, 402, settings) ==
          service_answer::refused("of the service"));
    CHECK(server.answer(call_operation::query, 402, settings).status == refused);
    CHECK(server.answer(call_operation::confirm, 402, settings).status == unknown);
    CHECK(server.answer(call_operation::compensate, 402, settings).status == unknown);
    for (auto const operation : every_operation) {
        CHECK(server.answer(operation, 503, settings).status == unknown);
        CHECK(server.answer(operation, 409, settings).status ==
              (may_be_refused(operation) ? refused : unknown));
    }
    CHECK(server.answer(call_operation::compensate, 404, settings).status == ok);
    CHECK(server.answer(call_operation::apply, 404, settings).status == unavailable);

    static_assert(status_table{}.with(418, refused).meaning(call_operation::apply, 418) == refused);
    CHECK(status_table{}.meaning(call_operation::apply, 199) == unknown);
    CHECK(status_table{}.meaning(call_operation::apply, 600) == unknown);
    CHECK_THROWS_WITH_AS(
        std::ignore = status_table{}.with(199, ok),
        "settle: only a status from 200 to 599 can have another meaning. See http#status-codes",
        settle::failure);
    CHECK_THROWS_AS(std::ignore = status_table{}.with(600, ok), settle::failure);
    CHECK_THROWS_WITH_AS(
        std::ignore = status_table{}.with(call_operation::confirm, 409, refused),
        "settle: only the status of an apply or a query can mean 'refused'. See http#status-codes",
        settle::failure);
}

TEST_CASE("the reason of a refusal comes from its body") {
    auto const reason = [](std::string const& lines, std::string const& body) {
        auto const answer = answer_of("409 Conflict" + lines, body);
        CHECK(answer.status == refused);
        return answer.text;
    };
    std::string const json = "\r\nContent-Type: application/json; charset=utf-8";
    CHECK(reason(json, R"({"reason":"no seat left","detail":"d"})") == "no seat left");
    CHECK(reason("\r\nContent-Type: application/problem+json",
                 R"({"title":"Conflict","status":409,"detail":"no seat on LH1"})") ==
          "no seat on LH1");
    CHECK(reason(json, R"({"title":"Conflict"})") == "Conflict");
    CHECK(reason(json, R"("no seat")") == "no seat");
    CHECK(reason("\r\nContent-Type: text/plain", "no seat\r\n") == "no seat");
    CHECK(reason("", R"("a\nb\u007fc")") == "a b c");
    // PostgreSQL holds no NUL.
    CHECK(reason(json, R"({"reason":"no\u0000seat\\u0000","code":"\u0000"})") == "no seat\\u0000");
    CHECK(reason("\r\nContent-Type: text/plain", {"no\0seat", 7}) == "no seat");
    CHECK(reason(json, R"({"reason":)") == "status 409");
    CHECK(reason(json, R"({"reason":7})") == "status 409");
    CHECK(reason(json, "\"\xff\"") == "status 409");
    CHECK(reason("\r\nContent-Type: text/plain", "no caf\xe9 left") == "no caf? left");
    CHECK(reason("\r\nContent-Type: text/html", "<h1>Conflict</h1>") == "status 409");
    CHECK(reason("", "") == "status 409");
    // Cut after a whole character.
    std::string const wide = "é";
    std::string many{"x"};
    for (int count = 0; count < 400; ++count) many += wide;
    auto const cut = reason(json, "\"" + many + "\"");
    CHECK(cut == many.substr(0, 299) + " …");
}

TEST_CASE("409 is no refusal while an earlier request with the key may be under way") {
    std::string const body = R"({"title":"a request with this key is under way"})";
    auto const answer = [&](std::string const& lines, bool may_be_under_way,
                            options const& settings = {}) {
        raw_server server{sends_and_closes("HTTP/1.1 " + lines + "\r\nContent-Length: " +
                                           std::to_string(body.size()) + "\r\n\r\n" + body)};
        client client{server.address(), settings};
        auto call = seat_call();
        call.may_be_under_way = may_be_under_way;
        return send_one(client, call);
    };
    auto const first = answer("409 Conflict", false);
    CHECK(first == service_answer::refused("a request with this key is under way"));
    auto const later = answer("409 Conflict", true);
    CHECK(later.status == unknown);
    CHECK(contains(later.text,
                   "got status 409: a request with this key is under way. An earlier request may "
                   "be under way; let the service refuse with 422, or give 409 that meaning. "
                   "See http#status-codes"));
    // With Retry-After, whatever its value, 409 asks for another try.
    for (auto const* value : {"5", "0", "Wed, 21 Oct 2015 07:28:00 GMT"}) {
        auto const line = std::string{"409 Conflict\r\nRetry-After: "} + value;
        CHECK_MESSAGE(answer(line, false).status == unknown, value);
    }
    CHECK(answer("409 Conflict\r\nRetry-After: 5", false).retry_after == std::chrono::seconds{5});
    options settings;
    settings.statuses = status_table{}.with(409, refused);
    CHECK(answer("409 Conflict", true, settings).status == refused);
    CHECK(answer("409 Conflict\r\nRetry-After: 5", false, settings).status == unknown);
    settings.statuses = status_table{}.with(409, unknown);
    CHECK(answer("409 Conflict", false, settings).status == unknown);
    // A key with another request is refused for good.
    CHECK(answer("422 Unprocessable Content", true).status == refused);
}

TEST_CASE("a request that libcurl sends again may be under way twice") {
    std::atomic<int> requests{0};
    raw_server server{[&](raw_connection& connection) {
        if (connection.read_request().empty()) return;
        ++requests;
        if (requests == 1) connection.send_json("1");
        // The second request arrives on the open connection, which ends without an answer.
        if (requests == 1) std::ignore = connection.read_request();
        else connection.send("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n");
    }};
    client client{server.address()};
    CHECK(send_one(client, seat_call()).status == ok);
    CHECK(send_one(client, seat_call()).status == unknown);
    CHECK(requests == 2);
}

TEST_CASE("an answer of 2xx without a JSON body is unknown where a result is needed") {
    auto const fault = [](std::string const& lines, std::string const& body,
                          call_operation operation) {
        auto const answer = answer_of(lines, body, operation);
        CHECK(answer.status == unknown);
        return answer.text;
    };
    for (auto const operation : {call_operation::apply, call_operation::query}) {
        for (auto const* body : {"<html>", "{\"a\":1", "1 2", "\"\xff\"", "\xff",
                                 "{\"a\":1,\"a\":2}", " ", "NaN", "\"a\\u0000b\""}) {
            CHECK_MESSAGE(
                contains(fault("200 OK", body, operation),
                         "got status 200 with a body that is not one JSON value in UTF-8. "
                         "Let the service answer this call again, with JSON. "
                         "See http#wire-form"),
                body);
        }
        CHECK(contains(fault("200 OK\r\nContent-Type: text/html", "1", operation),
                       "a body that is not JSON by its type"));
    }
    CHECK(contains(fault("200 OK", "", call_operation::apply), "with an empty body"));
    CHECK(contains(fault("200 OK", "", call_operation::query), "with an empty body"));
    CHECK(answer_of("200 OK", "", call_operation::confirm) == service_answer::ok());
    CHECK(answer_of("200 OK", "", call_operation::compensate) == service_answer::ok());
    CHECK(answer_of("204 No Content") == service_answer::ok());
    CHECK(answer_of("201 Created\r\nContent-Type: APPLICATION/JSON ;x", "[1]") ==
          service_answer::ok("[1]"));
    CHECK(answer_of("200 OK\r\nContent-Type: application/hal+json", "null") ==
          service_answer::ok("null"));
}

TEST_CASE("Retry-After is taken in seconds and as a date") {
    using namespace std::chrono_literals;
    auto const after = [](std::string const& value, options const& settings = {}) {
        return answer_of("503 Service Unavailable\r\nRetry-After: " + value, {},
                         call_operation::apply, settings)
            .retry_after;
    };
    CHECK(after("2") == 2s);
    CHECK(after("120") == 120s);
    CHECK(after("99999999999") == 1h);
    CHECK(after("99999999999999999999999") == 1h);
    options settings;
    settings.longest_retry_after = 3s;
    CHECK(after("7", settings) == 3s);
    for (auto const* none : {"0", "-3", "soon", "", "Wed, 21 Oct 2015 07:28:00 GMT"}) {
        CHECK_MESSAGE(after(none) == std::nullopt, none);
    }
    auto const moment = std::time(nullptr) + 600;
    std::tm parts{};
    gmtime_r(&moment, &parts);
    char date[64];
    std::strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    auto const delay = after(date);
    REQUIRE(delay);
    CHECK(*delay > 0s);
    CHECK(*delay <= 600s);

    auto const retry_after = [](std::string const& lines, std::string const& body) {
        return answer_of(lines + "\r\nRetry-After: 9", body).retry_after;
    };
    CHECK(retry_after("500 Internal Server Error", "") == 9s);
    CHECK(retry_after("429 Too Many Requests", "") == 9s);
    // After these statuses the call is not repeated.
    CHECK(retry_after("422 Unprocessable Content", "") == std::nullopt);
    CHECK(retry_after("200 OK", "1") == std::nullopt);
}

TEST_CASE("a redirect is not followed") {
    raw_server elsewhere{answers_with("1")};
    auto const redirect = [&](std::string const& status) {
        return answer_of(status + "\r\nLocation: " + elsewhere.address() + "/apply");
    };
    for (auto const* status : {"301 Moved Permanently", "302 Found", "303 See Other"}) {
        CHECK_MESSAGE(redirect(status).status == unknown, status);
    }
    for (auto const* status : {"307 Temporary Redirect", "308 Permanent Redirect"}) {
        CHECK_MESSAGE(redirect(status).status == unavailable, status);
    }
    CHECK(elsewhere.connections() == 0);
}

TEST_CASE("the answer to another call is unknown, whatever its status") {
    for (auto const* status : {"200 OK", "409 Conflict", "503 Service Unavailable"}) {
        auto const answer =
            answer_of(std::string{status} + "\r\nIdempotency-Key: bank.db/trip-1/2/confirm", "1");
        CHECK(answer.status == unknown);
        CHECK(contains(answer.text, "got the answer to another call"));
    }
    CHECK(answer_of("200 OK\r\nidempotency-key: bank.db/trip-1/2/apply", "1").status == ok);
}

TEST_CASE("every answer of a receiver arrives as it was given") {
    using namespace std::chrono_literals;
    service_answer next;
    settle::http::receiver_server server{"/airline", [&](service_call const&) {
                                             if (next.text == "throws")
                                                 throw std::runtime_error{"out of order"};
                                             return next;
                                         }};
    client client{server.address()};
    auto const sent = [&](service_answer const& answer, call_operation operation) {
        next = answer;
        return send_one(client, seat_call(operation));
    };
    CHECK(sent(service_answer::ok(R"({"number":"T1"})"), call_operation::apply) == next);
    CHECK(sent(service_answer::ok(), call_operation::apply) == next);
    CHECK(sent(service_answer::refused("no seat \"left\"\n"), call_operation::apply) ==
          service_answer::refused("no seat \"left\""));
    auto limited = service_answer::unavailable("closed");
    limited.retry_after = 1500ms;
    auto answer = sent(limited, call_operation::confirm);
    CHECK(answer.status == unavailable);
    CHECK(answer.retry_after == 2s);
    CHECK(contains(answer.text, "got status 503: closed. See"));
    answer = sent(service_answer::unknown("disk full"), call_operation::compensate);
    CHECK(answer.status == unknown);
    CHECK(contains(answer.text, "got status 500: disk full. See"));
    answer = sent(service_answer::ok("throws"), call_operation::apply);
    CHECK(answer.status == unknown);
    CHECK(contains(answer.text, "got status 500: out of order. See"));
}
