// SPDX-License-Identifier: BSL-1.0
// Who is let in, what a client may send, and how long it may take.
#include "bank_server.hpp"

#include <failures.hpp>
#include <server_process.hpp>

#include <thread>

namespace console_bank {
namespace {

using settle_test::console_client, settle_test::failure_of, settle_test::get_json;
using settle_test::post, settle_test::request;

std::string const viewer_token = "0123456789abcdef";

std::string bearer(std::string const& token) { return "Authorization: Bearer " + token + "\r\n"; }

TEST_CASE("console: options that make no sense are one sentence") {
    bank bank{"options"};
    auto const sentence_of = [&](settle::console_options const& options) {
        return failure_of([&] { settle::console const refused{bank.engine, options}; }).text;
    };
    settle::console const first{bank.engine};
    CHECK(sentence_of({.port = first.port()}) ==
          "settle: the console cannot listen on 127.0.0.1 port " + std::to_string(first.port()) +
              ": Address already in use. Give another port, or 0 for a free one, or end the "
              "program that has it. See console#options");
    CHECK(sentence_of({.address = "0.0.0.0"}).find("needs a token") != std::string::npos);
    CHECK(sentence_of({.operator_token = "short"}).find("16 bytes") != std::string::npos);
    CHECK(sentence_of({.operator_token = "sixteen and more bytes"}).find("visible") !=
          std::string::npos);
    CHECK(
        sentence_of({.operator_token = viewer_token, .viewer_token = viewer_token}).find("equal") !=
        std::string::npos);
    CHECK(sentence_of({.address = "localhost"}).find("no IP address") != std::string::npos);
    CHECK(sentence_of({.address = "192.0.2.1", .viewer_token = viewer_token})
              .find("Give an address of this machine") != std::string::npos);
    CHECK(sentence_of({.base_path = "settle"}).find("base_path") != std::string::npos);
    settle::console const elsewhere{bank.engine,
                                    {.address = "0.0.0.0", .viewer_token = viewer_token}};
    CHECK(get_json(elsewhere, "/").status == 401);
}

TEST_CASE("console: a viewer looks, an operator acts, and others are refused") {
    bank bank{"roles"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{
        bank.engine, {.operator_token = "0123456789ABCDEF", .viewer_token = viewer_token}};
    auto const get = [&](std::string const& headers) {
        return request(console, "GET", "/entries/t-1", "Accept: application/json\r\n" + headers);
    };
    auto const try_to_cancel = [&](std::string const& headers) {
        return post(console, "/entries/t-1/cancel", "dry_run=1", headers).status;
    };
    for (auto const& headers : {std::string{}, bearer("0123456789abcdeg"), bearer(""),
                                std::string{"Authorization: Basic abc\r\n"}}) {
        auto const refused = get(headers);
        CHECK(refused.status == 401);
        CHECK(refused.body.find("t-1") == std::string::npos);
        CHECK(try_to_cancel(headers) == 401);
        CHECK(request(console, "GET", "/metrics", headers).status == 401);
    }
    CHECK(get(bearer(viewer_token)).json()["actions"][1]["allowed"] == false);
    CHECK(try_to_cancel(bearer(viewer_token)) == 403);
    CHECK(get(bearer("0123456789ABCDEF")).json()["actions"][1]["allowed"] == true);
    CHECK(try_to_cancel(bearer("0123456789ABCDEF")) == 200);
    auto const page = request(console, "GET", "/entries/t-1", "Accept: text/html\r\n");
    CHECK(page.status == 200);
    CHECK(page.body.find("t-1") == std::string::npos);
}

TEST_CASE("console: pages of other sites cannot act or read") {
    bank bank{"origins"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{bank.engine};
    auto const own = "127.0.0.1:" + std::to_string(console.port());
    auto const try_to_cancel = [&](std::string const& origin) {
        return post(console, "/entries/t-1/cancel", "dry_run=1", "Origin: " + origin + "\r\n");
    };
    for (auto const& origin :
         {std::string{"https://evil.example"}, std::string{"null"},
          "http://" + own + ".evil.example", std::string{"http://127.0.0.1"}}) {
        CHECK(try_to_cancel(origin).status == 403);
    }
    CHECK(try_to_cancel("http://" + own).status == 200);
    CHECK(request(console, "POST", "/entries/t-1/cancel", {}, "dry_run=1").status == 403);
    CHECK(request(console, "GET", "/entries", "Host: evil.example\r\n").status == 421);
    CHECK(request(console, "GET", "/entries", "Host: 127.evil.example\r\n").status == 421);
    CHECK(request(console, "GET", "/entries", "Host: localhost:80\r\n").status == 200);
}

TEST_CASE("console: a base path is in front of every address") {
    bank bank{"base"};
    settle::console const console{bank.engine, {.base_path = "/ops/settle"}};
    CHECK(console.url().ends_with("/ops/settle/"));
    CHECK(get_json(console, "/ops/settle/entries?state=all").status == 200);
    CHECK(get_json(console, "/entries").status == 404);
    CHECK(get_json(console, "/ops/settlers").status == 404);
    auto const page = request(console, "GET", "/ops/settle/", "Accept: text/html\r\n");
    CHECK(page.body.find("src=\"/ops/settle/console.js\"") != std::string::npos);
    CHECK(request(console, "GET", "/ops/settle/console.js").body.size() > 1000);
    CHECK(request(console, "GET", "/ops/settle/console.css").body.size() > 1000);
}

TEST_CASE("console: what waits is at /metrics, and so are the figures of the engine's metrics") {
    bank bank{"metrics"};
    bank.leave("t-1", settle::step::apply);
    settle::metrics const figures;
    settle::console const without_metrics{bank.engine};
    settle::console const with_metrics{bank.engine, {.figures = figures}};
    for (settle::console const* const console : {&without_metrics, &with_metrics}) {
        settle_test::http_answer text;
        std::string const waits = R"(settle_unfinished_entries{type="transfer",state="pending"} 1)";
        CHECK(settle_test::wait_until(std::chrono::minutes{1}, [&] {
            text = request(*console, "GET", "/metrics");
            return text.body.find(waits) != std::string::npos;
        }));
        CHECK(text.head.find("text/plain; version=0.0.4") != std::string::npos);
        bool const has_counters = text.body.find("settle_transactions_total") != std::string::npos;
        CHECK(has_counters == (console == &with_metrics));
    }
    CHECK(!get_json(without_metrics, "/").json().contains("transactions"));
}

TEST_CASE("console: requests that are too long or wrong are refused") {
    bank bank{"long"};
    settle::console const console{bank.engine};
    CHECK(request(console, "GET", "/", "X-Long: " + std::string(20'000, 'x') + "\r\n").status ==
          431);
    CHECK(request(console, "POST", "/entries/a/cancel", {}, std::string(20'000, 'x')).status ==
          413);
    CHECK(request(console, "PUT", "/entries").status == 405);
    CHECK(request(console, "PUT", "/entries").head.find("Allow: GET, HEAD\r\n") !=
          std::string::npos);
    CHECK(request(console, "PUT", "/entries/a/cancel").head.find("Allow: GET, HEAD, POST\r\n") !=
          std::string::npos);
    CHECK(request(console, "POST", "/metrics").status == 405);
    for (auto const* const path : {"/calls/pause", "/actions/a/stop"})
        CHECK(request(console, "GET", path).head.find("Allow: POST\r\n") != std::string::npos);
    CHECK(get_json(console, "/entries?colour=").status == 400);
    CHECK(get_json(console, "/entries?older=99999999999999999999d").status == 200);
    CHECK(get_json(console, "/entries?type=%zz").status == 400);
    CHECK(get_json(console, "/entries?type=%ff").status == 400);
    CHECK(get_json(console, "/entries?type=a&type=b").status == 400);
    CHECK(get_json(console, "/nowhere").status == 404);
    console_client client{console};
    client.send("this is no HTTP\r\n\r\n");
    CHECK(client.receive().status == 400);
}

TEST_CASE("console: a client that sends slowly is given up") {
    bank bank{"slow"};
    settle::console const console{bank.engine, {.client_limit = std::chrono::milliseconds{400}}};
    console_client client{console};
    client.send("GET / HTTP/1.1\r\n");
    bool is_closed = false;
    for (int sent = 0; sent < 200 && !is_closed; ++sent) {
        client.send("x");
        is_closed = client.is_closed_within(std::chrono::milliseconds{50});
    }
    CHECK(is_closed);
}

TEST_CASE("console: with 500 idle connections, another client is answered") {
    bank bank{"idle"};
    settle::console const console{bank.engine};
    std::vector<console_client> idle;
    for (int count = 0; count < 500; ++count) {
        idle.emplace_back(console);
        idle.back().send("GET / HTTP/1.1\r\nX-");
    }
    auto const begun = std::chrono::steady_clock::now();
    CHECK(get_json(console, "/entries").status == 200);
    // No idle connection has reached its limit of 10 s.
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{5});
    CHECK(get_json(console, "/").status == 200);
}

TEST_CASE("console: a log that cannot be read is told, and is no empty list") {
    bank bank{"failed"};
    settle::console const console{bank.engine, {.store_limit = std::chrono::milliseconds{200}}};
    bank.take_log_away();
    auto const list = get_json(console, "/entries");
    CHECK(list.status == 503);
    CHECK(list.json()["problem"].get<std::string>().starts_with("settle: "));
    CHECK(!list.json().contains("entries"));
    auto const overview = get_json(console, "/").json();
    CHECK(overview["stores"][0]["name"] == "log");
    CHECK(overview["stores"][0]["answers"] == false);
    CHECK(overview["unfinished"]["complete"] == false);
    CHECK(overview["unfinished"].contains("problem"));
}

} // namespace
} // namespace console_bank
