// SPDX-License-Identifier: BSL-1.0
// The wire form of a call, which no text of the call can change.
#include "calls.hpp"
#include "raw_server.hpp"

#include <settle/http/receiver_server.hpp>
#include <settle/http/wire.hpp>

#include <map>
#include <set>

using namespace settle_test;
using settle::timestamp;
using settle::http::detail::header_value;
using settle::http::detail::moment_of_utc_text;
using settle::http::detail::utc_text;

TEST_CASE("a call is one POST with its headers and its body") {
    std::string request;
    raw_server server{[&](raw_connection& connection) {
        request = connection.read_request();
        connection.send_json(R"({"number":"T1"})");
    }};
    settle::http::client client{server.address() + "/"};
    auto call = seat_call();
    call.line = 3;
    CHECK(send_one(client, call) == service_answer::ok(R"({"number":"T1"})"));

    CHECK(request.starts_with("POST /airline/apply HTTP/1.1\r\n"));
    for (auto const* line :
         {"Host: 127.0.0.1:", "User-Agent: settle/0.1.0\r\n", "Content-Type: application/json\r\n",
          "Accept: application/json\r\n", "Idempotency-Key: bank.db/trip-1/2/apply\r\n",
          "Settle-Service: airline\r\n", "Settle-Key: bank.db/trip-1/2\r\n",
          "Settle-Transaction: trip-1\r\n", "Settle-Participant: flight\r\n",
          "Settle-Has-Apply: true\r\n", "Settle-Line: 3\r\n", "Settle-Epoch: 4711\r\n",
          "Settle-Last-Moment: 2026-11-26T01:48:31.123Z\r\n"}) {
        CHECK_MESSAGE(contains(request, std::string{"\r\n"} + line), line);
    }
    CHECK(request.ends_with("\r\n\r\n{\"request\":" + std::string{seat_request} + "}"));
    CHECK_FALSE(contains(request, "Expect:"));
}

TEST_CASE("a confirm and a compensate carry the result of the apply where it is known") {
    std::vector<std::string> requests;
    raw_server server{[&](raw_connection& connection) {
        for (std::string one; !(one = connection.read_request()).empty();) {
            requests.push_back(one);
            connection.send("HTTP/1.1 204 No Content\r\n\r\n");
        }
    }};
    settle::http::client client{server.address()};
    auto call = seat_call(call_operation::confirm);
    call.result = R"({"number":"T1"})";
    CHECK(send_one(client, call) == service_answer::ok());
    call = seat_call(call_operation::compensate);
    call.request = {};
    call.has_apply = false;
    CHECK(send_one(client, call) == service_answer::ok());

    REQUIRE(requests.size() == 2);
    CHECK(requests[0].starts_with("POST /airline/confirm "));
    CHECK(contains(requests[0], "Idempotency-Key: bank.db/trip-1/2/confirm\r\n"));
    CHECK(requests[0].ends_with("{\"request\":" + std::string{seat_request} +
                                ",\"result\":{\"number\":\"T1\"}}"));
    CHECK(requests[1].starts_with("POST /airline/compensate "));
    CHECK(contains(requests[1], "Settle-Has-Apply: false\r\n"));
    CHECK(requests[1].ends_with("\r\n\r\n{\"request\":null}"));
}

TEST_CASE("a receiver gets the call that the client sent") {
    using namespace std::string_literals;
    std::string const odd = "a\r\nX-Evil: 1\r\n\r\n\0\t ;,\"\\%41 Zoë 東京 \xff\x80"s;
    struct seen {
        std::string service, key, transaction, participant, request, result;
        std::optional<std::uint32_t> line;
        settle::epoch epoch = 0;
        timestamp last_moment;
        call_operation operation{};
        bool has_apply = true;
    };
    std::vector<seen> calls;
    settle::http::receiver_server server{
        "/air.line", [&](service_call const& call) {
            calls.push_back({std::string{call.service}, std::string{call.key},
                             std::string{call.transaction}, std::string{call.participant},
                             std::string{call.request}, std::string{call.result}, call.line,
                             call.epoch_number, call.last_moment, call.operation, call.has_apply});
            return service_answer::ok("1");
        }};
    settle::http::client client{server.address()};
    auto call = seat_call(call_operation::compensate, odd);
    call.service = call.transaction = call.participant = odd;
    call.has_apply = false;
    call.line = 4294967295U;
    call.epoch_number = 9007199254740991;
    call.result = "[1, {\"a\" : \"}\"}]";
    CHECK(send_one(client, call) == service_answer::ok("1"));
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].service == odd);
    CHECK(calls[0].key == odd);
    CHECK(calls[0].transaction == odd);
    CHECK(calls[0].participant == odd);
    CHECK(calls[0].request == seat_request);
    CHECK(calls[0].result == "[1, {\"a\" : \"}\"}]");
    CHECK(calls[0].line == 4294967295U);
    CHECK(calls[0].epoch == 9007199254740991);
    CHECK(calls[0].last_moment == call.last_moment);
    CHECK(calls[0].operation == call_operation::compensate);
    CHECK_FALSE(calls[0].has_apply);
    CHECK(send_one(client, seat_call(call_operation::query)) == service_answer::ok("1"));
    REQUIRE(calls.size() == 2);
    CHECK(calls[1].operation == call_operation::query);
}

TEST_CASE("no text of a call adds a header, and no header has a byte beside visible ASCII") {
    std::string request;
    raw_server server{[&](raw_connection& connection) {
        request = connection.read_request();
        connection.send_json("1");
    }};
    settle::http::client client{server.address()};
    std::string every_byte;
    for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
    auto call = seat_call(call_operation::apply, every_byte);
    call.service = call.transaction = call.participant = every_byte;
    CHECK(send_one(client, call).status == call_status::ok);

    auto const header = request.substr(0, request.find("\r\n\r\n") + 2);
    std::multiset<std::string> names;
    for (std::size_t index = header.find("\r\n") + 2; index < header.size();) {
        auto const end = header.find("\r\n", index);
        names.insert(header.substr(index, header.find(':', index) - index));
        index = end + 2;
    }
    CHECK(names ==
          std::multiset<std::string>{"Accept", "Accept-Encoding", "Content-Length", "Content-Type",
                                     "Host", "Idempotency-Key", "Settle-Epoch", "Settle-Has-Apply",
                                     "Settle-Key", "Settle-Last-Moment", "Settle-Participant",
                                     "Settle-Service", "Settle-Transaction", "User-Agent"});
    for (char const each : header) {
        bool const allowed = (each >= ' ' && each <= '~') || each == '\r' || each == '\n';
        CHECK(allowed);
    }
}

TEST_CASE("a header value is a text in percent-encoding") {
    CHECK(header_value("bank.db/trip-1:2_~@") == "bank.db/trip-1:2_~@");
    CHECK(header_value("a b\r\n%\xc3\xbc") == "a%20b%0D%0A%25%C3%BC");
    CHECK(header_value("") == "");
}

TEST_CASE("a moment is UTC with milliseconds, within the years 0 to 9999") {
    auto const moment = [](std::int64_t count) {
        return timestamp{std::chrono::milliseconds{count}};
    };
    CHECK(utc_text(moment(0)) == "1970-01-01T00:00:00.000Z");
    CHECK(utc_text(moment(-1)) == "1969-12-31T23:59:59.999Z");
    CHECK(utc_text(moment(951827696007)) == "2000-02-29T12:34:56.007Z");
    CHECK(utc_text(timestamp::max()) == "9999-12-31T23:59:59.999Z");
    CHECK(utc_text(timestamp::min()) == "0000-01-01T00:00:00.000Z");
    for (std::int64_t const count :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{951827696007},
          std::int64_t{253402300799999}, std::int64_t{-62167219200000}}) {
        CHECK(moment_of_utc_text(utc_text(moment(count))) == moment(count));
    }
    CHECK(moment_of_utc_text("2000-02-29T12:34:56Z") == moment(951827696000));
    CHECK(moment_of_utc_text("2000-02-29T12:34:56.0071239Z") == moment(951827696007));
    CHECK(moment_of_utc_text("2000-02-29T12:34:56.1Z") == moment(951827696100));
    for (auto const* damaged :
         {"", "Z", "2000-02-30T12:34:56Z", "2000-02-29T24:00:00Z", "2000-02-29T12:34:56",
          "2000-02-29T12:34:56.Z", "2000-02-29T12:34:56.0123456789Z", "2000-02-29 12:34:56Z",
          "2000-02-29T12:34:56+01:00", "2000-13-01T00:00:00Z", "2000-02-29T12:34:56.12aZ"}) {
        CHECK_MESSAGE(moment_of_utc_text(damaged) == std::nullopt, damaged);
    }
}

TEST_CASE("a receiver refuses a damaged call with a sentence") {
    int called = 0;
    settle::http::receiver_server server{"/airline", [&](service_call const&) {
                                             ++called;
                                             return service_answer::ok("1");
                                         }};
    httplib::Client plain{"127.0.0.1", server.port()};
    std::string const body = R"({"request":1})";
    httplib::Headers whole;
    auto const call = seat_call();
    settle::http::detail::for_each_header(call, [&](std::string_view name, std::string_view value) {
        whole.emplace(std::string{name}, std::string{value});
    });
    auto const post = [&](httplib::Headers const& headers, std::string const& sent) {
        auto const answer = plain.Post("/airline/apply", headers, sent, "application/json");
        REQUIRE(answer);
        return std::to_string(answer->status) + answer->body;
    };
    CHECK(post(whole, body) == "2001");
    for (auto const& each : whole) {
        auto const& name = each.first;
        auto headers = whole;
        headers.erase(name);
        CHECK_MESSAGE(contains(post(headers, body),
                               "400{\"reason\":\"settle: the call has no header " + name + ","),
                      name);
        headers.emplace(name, "another");
        bool const free_text = name == "Settle-Service" || name == "Settle-Transaction" ||
                               name == "Settle-Participant";
        CHECK_MESSAGE(post(headers, body).starts_with(free_text ? "2001" : "400{"), name);
    }
    for (auto const* damaged : {"", "1", "{}", "{\"request\":}", "{\"request\":1", "{\"result\":1}",
                                "{\"request\":\"\xff\"}", "{\"request\":1}x"}) {
        CHECK_MESSAGE(
            contains(post(whole, damaged), "400{\"reason\":\"settle: the body of the call"),
            damaged);
    }
    auto const elsewhere = plain.Post("/airline/undo", whole, body, "application/json");
    REQUIRE(elsewhere);
    CHECK(elsewhere->status == 404);
    CHECK(called == 4);
    // A newer client may send more.
    CHECK(post(whole, "{\"request\":1,\"more\":[2]}") == "2001");
}

TEST_CASE("a call of an unknown operation is refused") {
    using settle::http::detail::received_call;
    auto const no_header = [](std::string_view) { return received_call::header{}; };
    CHECK_THROWS_WITH_AS((received_call{no_header, "undo", "{}"}),
                         "settle: the path ends in no operation: apply, confirm, compensate or "
                         "query. See http#wire-form",
                         settle::failure);
}

TEST_CASE("a receiver server refuses a port that is taken") {
    auto const any = [](service_call const&) { return service_answer::ok(); };
    settle::http::receiver_server const first{"/airline", any};
    settle::http::server_options settings;
    settings.port = first.port();
    try {
        settle::http::receiver_server const second{"/airline", any, settings};
        CHECK(false);
    } catch (settle::failure const& problem) {
        CHECK(problem.problem().text == "settle: the server cannot listen at " + first.address() +
                                            ". Check server_options::host. Choose another port, "
                                            "or end the program that has it. See http#receivers");
    }
}
