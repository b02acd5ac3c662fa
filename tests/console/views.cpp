// SPDX-License-Identifier: BSL-1.0
// What a console shows: overview, list and entry, as page, JSON and text.
#include "bank_server.hpp"

#include <settle/memory.hpp>
#include <settle/testing/manual_environment.hpp>

namespace console_bank {
namespace {

using settle_test::get_json, settle_test::request;

TEST_CASE("console: one address gives a page, JSON or text") {
    bank bank{"forms"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{bank.engine};
    auto const page = request(console, "GET", "/entries", "Accept: text/html,*/*;q=0.8\r\n");
    CHECK(page.status == 200);
    CHECK(page.head.find("Content-Type: text/html") != std::string::npos);
    CHECK(page.body.starts_with("<!doctype html>"));
    auto const json = get_json(console, "/entries");
    CHECK(json.head.find("Content-Type: application/json") != std::string::npos);
    CHECK(json.json()["entries"][0]["id"] == "t-1");
    auto const text = request(console, "GET", "/entries", "Accept: */*\r\n");
    CHECK(text.head.find("Content-Type: text/plain") != std::string::npos);
    CHECK(text.body.find("t-1") != std::string::npos);
    CHECK(request(console, "HEAD", "/entries").body.empty());
}

TEST_CASE("console: the overview counts what is unfinished, and says why it is stuck") {
    bank bank{"overview"};
    bank.leave("t-1", settle::step::apply);
    bank.leave("t-2", settle::step::commit);
    settle::console const console{bank.engine};
    auto const seen = get_json(console, "/").json();
    CHECK(seen["unfinished"]["total"] == 2);
    CHECK(seen["unfinished"]["complete"] == true);
    auto const counts = seen["unfinished"]["by_type_and_state"];
    REQUIRE(counts.size() == 2);
    CHECK(counts[0]["type"] == "transfer");
    CHECK(counts[0]["state"] == "pending");
    CHECK(counts[0]["stage"] == 0);
    CHECK(counts[1]["state"] == "applied");
    CHECK(counts[1]["stage"].is_null());
    CHECK(seen["stuck"]["total"] == 2);
    CHECK(seen["stuck"]["oldest"][0]["why"] ==
          "no recovery has claimed it; its owner may still run");
    CHECK(seen["stores"].size() == 2);
    for (auto const& store : seen["stores"]) CHECK(store["answers"] == true);
}

TEST_CASE("console: a person is told what to do with a damaged entry, and with its store") {
    bank bank{"damaged"};
    bank.leave("t-1", settle::step::apply);
    bank.leave("t-2", settle::step::apply);
    bank.damage("t-1");
    settle::console const console{bank.engine, {.store_limit = std::chrono::milliseconds{500}}};
    auto const why_in = [&](std::string const& id) {
        auto const seen = get_json(console, "/").json();
        for (auto const& each : seen["stuck"]["oldest"]) {
            if (each["id"] == id) return each["why"].get<std::string>();
        }
        return std::string{};
    };
    auto const why = why_in("t-1");
    CHECK(why.starts_with("the entry is damaged: "));
    CHECK(why.ends_with("No action can settle it: while no program runs, correct its row with the "
                        "store's own shell. See errors#damaged"));
    CHECK(get_json(console, "/entries").json()["entries"][0]["state"] == "damaged");
    for (auto const& answer : {get_json(console, "/entries/t-1"),
                               settle_test::post(console, "/entries/t-1/cancel", "dry_run=1")}) {
        CHECK(answer.status == 500);
        CHECK(answer.json()["problem"].get<std::string>().find("Repair its row in settle_entry") !=
              std::string::npos);
    }
    bank.take_accounts_away();
    CHECK(why_in("t-2").starts_with("its store 'accounts' gives no answer: settle: "));
    auto const entry = get_json(console, "/entries/t-2").json();
    CHECK(entry["why_unfinished"] == why_in("t-2"));
    CHECK(entry["marks"]["problem"].get<std::string>().starts_with("the marks in 'accounts' are "));
}

TEST_CASE("console: the overview counts what is in flight, and what has ended by minute") {
    settle::testing::manual_environment const environment;
    settle::memory::database database;
    settle::metrics const figures;
    settle::engine engine{database, settle::type<transfer_type>,
                          settle::with_environment(environment), settle::observed_by(figures)};
    for (auto const* const id : {"anna", "bert"}) {
        REQUIRE(engine.create(accounts, {id, 100}).has_value());
    }
    REQUIRE(engine.run("before", transfer{"anna", "bert", 1, ""}).done());
    settle::console const console{engine};
    auto const ended = [&] {
        std::string text;
        auto const seen = get_json(console, "/").json()["transactions"];
        CHECK(seen["in_flight"] == 0);
        for (auto const& each : seen["ended_by_minute"])
            text += each["done"].dump() + "/" + each["canceled"].dump() + " ";
        return text;
    };
    CHECK(ended() == "0/0 ");
    REQUIRE(engine.run("t-1", transfer{"anna", "bert", 1, ""}).done());
    REQUIRE(engine.run("t-2", transfer{"anna", "bert", 1000, ""}).canceled());
    CHECK(ended() == "1/1 ");
    environment.advance(std::chrono::minutes{1});
    REQUIRE(engine.run("t-3", transfer{"anna", "bert", 1, ""}).done());
    CHECK(ended() == "1/1 1/0 ");
    for (int minute = 0; minute < 15; ++minute) {
        environment.advance(std::chrono::minutes{1});
        ended();
    }
    CHECK(ended() == "0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 ");
    settle::transaction_id const id = "begun";
    figures(settle::event{
        .id = id, .type = "transfer", .taken = settle::step::apply, .problem = {}, .first = true});
    CHECK(get_json(console, "/").json()["transactions"]["in_flight"] == 1);
}

TEST_CASE("console: a list is filtered and paged by its address") {
    bank bank{"list"};
    for (int number = 10; number < 30; ++number) {
        auto const id = (number % 2 == 0 ? "even/" : "odd/") + std::to_string(number);
        REQUIRE(bank.engine.run(id, transfer{"anna", "bert", 1, ""}).done());
    }
    bank.leave("odd/99", settle::step::apply);
    settle::console const console{bank.engine};
    std::vector<std::string> ids;
    for (std::string next = "entries?id=odd/&limit=4"; !next.empty();) {
        auto const page = get_json(console, "/" + next).json();
        CHECK(page["entries"].size() <= 4);
        for (auto const& entry : page["entries"]) ids.push_back(entry["id"]);
        next = page["next"].is_null() ? "" : page["next"].get<std::string>();
    }
    CHECK(ids.size() == 11);
    CHECK(ids.front() == "odd/11");
    CHECK(ids.back() == "odd/99");
    CHECK(get_json(console, "/entries?state=unfinished").json()["entries"].size() == 1);
    CHECK(get_json(console, "/entries?state=done&type=transfer").json()["entries"].size() == 20);
    CHECK(get_json(console, "/entries?type=booking").json()["entries"].empty());
    CHECK(get_json(console, "/entries?older=1h").json()["entries"].empty());
    // The id that is the prefix itself.
    CHECK(get_json(console, "/entries?id=odd/99").json()["entries"].size() == 1);
    for (auto const* const wrong : {"state=lost", "older=soon", "limit=0", "colour=red"}) {
        auto const refused = get_json(console, std::string{"/entries?"} + wrong);
        CHECK(refused.status == 400);
        CHECK(refused.json()["problem"].get<std::string>().starts_with("settle: the filter '"));
    }
}

TEST_CASE("console: an entry shows its parts and marks, and hides its secrets") {
    bank bank{"entry"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{bank.engine};
    auto const answer = get_json(console, "/entries/t-1");
    CHECK(answer.body.find("4711") == std::string::npos);
    auto const entry = answer.json();
    CHECK(entry["parameters"]["pin"] == "***");
    CHECK(entry["parameters"]["amount"] == 10);
    REQUIRE(entry["parts"].size() == 2);
    CHECK(entry["parts"][0]["participant"] == "source");
    CHECK(entry["parts"][0]["key"] == "\"anna\"");
    CHECK(entry["parts"][0]["mark"].get<std::string>().starts_with("epoch "));
    CHECK(entry["picture"].get<std::string>().starts_with("flowchart"));
    CHECK(get_json(console, "/entries/none").status == 404);
    CHECK(request(console, "GET", "/entries/t-1").body.find("***") != std::string::npos);
}

TEST_CASE("console: a record shows what is committed, and what its marks hold for whom") {
    bank bank{"record"};
    bank.leave("t-1", settle::step::apply);
    bank.leave("t-2", settle::step::commit);
    REQUIRE(bank.engine.create(accounts, {"ca/rl", 5}).has_value());
    settle::console const console{bank.engine};
    auto const anna = get_json(console, "/records/accounts/anna").json();
    CHECK(anna["record"]["balance"] == 80);
    CHECK(anna["committed"]["balance"] == 90);
    REQUIRE(anna["marks"].size() == 2);
    CHECK(anna["marks"][0]["id"] == "t-1");
    CHECK(anna["marks"][0]["adds_if_done"].empty());
    CHECK(anna["marks"][0]["adds_if_canceled"]["balance"] == 10);
    CHECK(anna["marks"][0]["alone"] == false);
    auto const bert = get_json(console, "/records/accounts/bert").json();
    CHECK(bert["record"]["balance"] == 100);
    CHECK(bert["committed"]["balance"] == 110);
    CHECK(bert["marks"][1]["adds_if_done"]["balance"] == 10);
    CHECK(get_json(console, "/records/accounts/ca/rl").json()["committed"]["balance"] == 5);
    CHECK(get_json(console, "/records/accounts/nobody").json()["record"].is_null());
    CHECK(get_json(console, "/records/orders/anna").status == 404);
    CHECK(get_json(console, "/entries/t-1").json()["parts"][0]["committed"]["balance"] == 90);
}

TEST_CASE("console: a list is filtered by the record of a part") {
    bank bank{"key"};
    bank.leave("t-1", settle::step::apply);
    REQUIRE(bank.engine.run("t-2", transfer{"bert", "anna", 1, "4711"}).done());
    for (auto const* const id : {"carl", "j\u00f6rg"})
        REQUIRE(bank.engine.create(accounts, {id, 100}).has_value());
    REQUIRE(bank.engine.run("t-3", transfer{"bert", "carl", 1, ""}).done());
    REQUIRE(bank.engine.run("t-4", transfer{"j\u00f6rg", "carl", 1, "4711"}).done());
    settle::console const console{bank.engine};
    auto const ids = [&](std::string const& filter) {
        std::string text;
        auto const page = get_json(console, "/entries?" + filter).json();
        for (auto const& each : page["entries"]) text += each["id"].get<std::string>() + " ";
        return text;
    };
    CHECK(ids("key=accounts/anna") == "t-1 t-2 ");
    CHECK(ids("key=accounts/anna&state=unfinished") == "t-1 ");
    CHECK(ids("key=accounts/carl") == "t-3 t-4 ");
    CHECK(ids("key=accounts/j%C3%B6rg") == "t-4 ");
    CHECK(get_json(console, "/entries/t-4").json()["parts"][0]["key"] == "\"j\\u00f6rg\"");
    CHECK(ids("key=accounts/ann") == "");
    CHECK(ids("key=accounts") == "");
    CHECK(ids("key=accounts/4711") == "");
}

TEST_CASE("console: markup and controls in an id are text") {
    bank bank{"markup"};
    std::string const id = "<script>alert(1)</script>\x1b[2J";
    REQUIRE(bank.engine.run(id, transfer{"anna", "bert", 1, ""}).done());
    settle::console const console{bank.engine};
    CHECK(get_json(console, "/entries").json()["entries"][0]["id"] == id);
    auto const text = request(console, "GET", "/entries").body;
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find("\\x1b[2J") != std::string::npos);
    auto const page = request(console, "GET", "/entries/%3Cscript%3E", "Accept: text/html\r\n");
    CHECK(page.body.find("<script>alert") == std::string::npos);
    CHECK(page.head.find("default-src 'none'; script-src 'self'") != std::string::npos);
    CHECK(get_json(console, "/entries/%3Cscript%3Ealert(1)%3C%2Fscript%3E%1B%5B2J").status == 200);
}

} // namespace
} // namespace console_bank
