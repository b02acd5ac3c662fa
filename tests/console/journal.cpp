// SPDX-License-Identifier: BSL-1.0
// The rows that the log keeps of each action: who, when, what, and how it ended.
#include "bank_server.hpp"

namespace console_bank {
namespace {

using settle_test::get_json, settle_test::post, settle_test::request;

constexpr std::string_view by_eve = "X-Forwarded-User: eve\r\n";

TEST_CASE("console: each action is a row of the log, with its name, time and result") {
    bank bank{"journal"};
    bank.leave("t-1", settle::step::apply);
    {
        settle::console const console{bank.engine, {.name_header = "X-Forwarded-User"}};
        auto const seen = post(console, "/entries/t-1/cancel", "dry_run=1").json()["seen"];
        auto const form = "seen=" + seen.get<std::string>();
        CHECK(get_json(console, "/actions").json()["actions"].empty());
        CHECK(post(console, "/entries/t-1/cancel", form, by_eve).status == 200);
        CHECK(post(console, "/entries/t-1/cancel", form).status == 409);
        CHECK(post(console, "/entries/cancel", "state=done&token=wrong", by_eve).status == 409);
    }
    settle::console const console{bank.engine};
    auto const rows = get_json(console, "/actions").json()["actions"];
    REQUIRE(rows.size() == 3);
    CHECK(rows[0]["of"] == "state=done");
    CHECK(rows[0]["state"] == "refused");
    CHECK(rows[1]["name"] == "operator");
    CHECK(rows[1]["state"] == "refused");
    CHECK(rows[2]["name"] == "eve");
    CHECK(rows[2]["action"] == "cancel");
    CHECK(rows[2]["of"] == "t-1");
    CHECK(rows[2]["state"] == "done");
    CHECK(rows[2]["result"] == "t-1: canceled (cancel asked)");
    CHECK(rows[2]["when"].get<std::string>().ends_with("Z"));
    auto const id = rows[2]["id"].get<std::string>();
    CHECK(get_json(console, "/actions/" + id).json()["result"] == rows[2]["result"]);
    CHECK(get_json(console, "/actions/none").status == 404);
    auto const text = request(console, "GET", "/actions", "Accept: */*\r\n").body;
    CHECK(text.find("eve") != std::string::npos);
    auto const html = request(console, "GET", "/actions", "Accept: text/html\r\n").body;
    CHECK(html.starts_with("<!doctype html>"));
    std::vector<nlohmann::json> paged;
    for (std::string next = "actions?limit=2"; !next.empty();) {
        auto const page = get_json(console, "/" + next).json();
        paged.insert(paged.end(), page["actions"].begin(), page["actions"].end());
        next = page["next"].is_null() ? "" : page["next"].get<std::string>();
    }
    CHECK(nlohmann::json(paged) == rows);
    for (auto const* const wrong : {"limit=0", "limit=", "after=1"})
        CHECK(get_json(console, std::string{"/actions?"} + wrong).status == 400);
}

TEST_CASE("console: a purge erases the rows of old actions") {
    bank bank{"purged"};
    settle::console const console{bank.engine};
    for (auto const* const name : {"old", "new"}) {
        CHECK(
            post(console, "/calls/resume", std::string{"scope=transaction&name="} + name).status ==
            200);
        if (name == std::string_view{"old"}) bank.date_actions_back();
    }
    CHECK(get_json(console, "/actions").json()["actions"].size() == 2);
    CHECK(bank.engine.purge().problem.empty());
    auto const left = get_json(console, "/actions").json()["actions"];
    REQUIRE(left.size() == 1);
    CHECK(left[0]["of"] == "transaction new");
}

TEST_CASE("console: an action that the log cannot keep is not taken") {
    bank bank{"not_kept"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{bank.engine};
    auto const seen = post(console, "/entries/t-1/cancel", "dry_run=1").json()["seen"];
    auto const token = post(console, "/entries/cancel", "all=1&dry_run=1").json()["token"];
    bank.refuse_metadata();
    auto const refused = post(console, "/entries/t-1/cancel", "seen=" + seen.get<std::string>());
    CHECK(refused.status == 503);
    CHECK(refused.json()["problem"].get<std::string>().find("nothing was done") !=
          std::string::npos);
    CHECK(post(console, "/entries/cancel", "all=1&token=" + token.get<std::string>()).status ==
          503);
    CHECK(post(console, "/calls/pause", "scope=transaction&name=t-1&why=x").status == 503);
    CHECK(bank.engine.find("t-1").value()->state == settle::state::pending);
    CHECK(bank.engine.paused_calls().value().empty());
}

TEST_CASE("console: calls are paused and resumed") {
    bank bank{"pauses"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{bank.engine, {.name_header = "X-Forwarded-User"}};
    std::string const scope = "scope=transaction&name=t-1";
    CHECK(post(console, "/calls/pause", scope + "&why=the+shop+is+away", by_eve).status == 200);
    auto const paused = bank.engine.paused_calls().value();
    REQUIRE(paused.size() == 1);
    CHECK(paused[0].name == "t-1");
    CHECK(paused[0].why == "the shop is away");
    CHECK(get_json(console, "/").json()["paused"][0]["name"] == "t-1");
    CHECK(post(console, "/calls/resume", scope).json()["changed"] == true);
    CHECK(post(console, "/calls/resume", scope).json()["changed"] == false);
    CHECK(bank.engine.paused_calls().value().empty());
    CHECK(post(console, "/calls/pause", "scope=all&name=t-1&why=x").status == 400);
    // A type without calls.
    CHECK(post(console, "/calls/pause", "scope=type&name=transfer&why=x").status == 404);
    auto const rows = get_json(console, "/actions").json()["actions"];
    REQUIRE(rows.size() == 5);
    CHECK(rows[4]["name"] == "eve");
    CHECK(rows[4]["action"] == "pause");
    CHECK(rows[4]["of"] == "transaction t-1");
    auto const paused_by = "/actions/" + rows[4]["id"].get<std::string>();
    CHECK(get_json(console, paused_by).json()["why"] == "the shop is away");
    CHECK(rows[0]["state"] == "refused");
}

TEST_CASE("console: a pause or a stop with another field is refused") {
    bank bank{"other_fields"};
    settle::console const console{bank.engine};
    for (auto const* const wrong : {"dry_run=1", "token=1"}) {
        auto const pause = std::string{"scope=transaction&name=t-1&why=x&"} + wrong;
        CHECK(post(console, "/calls/pause", pause).status == 400);
        CHECK(post(console, "/actions/none/stop", wrong).status == 400);
    }
    CHECK(post(console, "/calls/resume", "scope=transaction&name=").status == 400);
    CHECK(bank.engine.paused_calls().value().empty());
}

TEST_CASE("console: a viewer sees the actions and takes none") {
    bank bank{"viewer"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{
        bank.engine,
        {.operator_token = "operator-operator", .viewer_token = "viewer-viewer-viewer"}};
    std::string const viewer = "Authorization: Bearer viewer-viewer-viewer\r\n";
    CHECK(get_json(console, "/actions").status == 401);
    for (auto const* const path : {"/entries/cancel", "/calls/pause", "/actions/1/stop"})
        CHECK(post(console, path, "all=1", viewer).status == 403);
    auto const seen =
        request(console, "GET", "/actions", std::string{settle_test::as_json} + viewer);
    CHECK(seen.json()["actions"].empty());
}

} // namespace
} // namespace console_bank
