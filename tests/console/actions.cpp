// SPDX-License-Identifier: BSL-1.0
// What an operator does to one transaction: a dry run first, then the action.
#include "bank_server.hpp"

namespace console_bank {
namespace {

using settle_test::get_json, settle_test::post, settle_test::wait_for_end;

/// Takes an action as an operator does; gives what it says.
nlohmann::json take(settle::console const& console, std::string const& path) {
    auto const tried = post(console, path, "dry_run=1").json();
    REQUIRE(tried["allowed"] == true);
    return post(console, path, "seen=" + tried["seen"].get<std::string>()).json();
}

TEST_CASE("console: a stuck transfer is found, and canceled") {
    bank bank{"cancel"};
    bank.leave("t-1", settle::step::apply);
    CHECK(bank.balance("anna") == 90);
    std::vector<settle::console_action> told;
    settle::console const console{
        bank.engine,
        {.name_header = "X-Forwarded-User",
         .audit = [&](settle::console_action const& action) { told.push_back(action); }}};
    auto const id = get_json(console, "/").json()["stuck"]["oldest"][0]["id"].get<std::string>();
    auto const path = "/entries/" + id + "/cancel";
    auto const tried = post(console, path, "dry_run=1").json();
    CHECK(tried["effect"].get<std::string>().find("ends canceled") != std::string::npos);
    CHECK(bank.balance("anna") == 90);
    auto const canceled = post(console, path, "seen=" + tried["seen"].get<std::string>(),
                               "X-Forwarded-User: eve\r\n");
    CHECK(canceled.status == 200);
    CHECK(canceled.json()["verdict"] == "canceled");
    CHECK(bank.balance("anna") == 100);
    CHECK(bank.engine.marks().value() == 0);
    CHECK(get_json(console, "/").json()["stuck"]["total"] == 0);
    REQUIRE(told.size() == 1);
    CHECK(told[0].name == "eve");
    CHECK(told[0].action == "cancel");
    CHECK(told[0].id == "t-1");
    CHECK(told[0].result == "t-1: canceled (cancel asked)");
}

TEST_CASE("console: an action follows a dry run of the entry as it is") {
    bank bank{"seen"};
    bank.leave("t-1", settle::step::apply);
    settle::console const console{bank.engine};
    CHECK(post(console, "/entries/t-1/cancel", "").status == 400);
    auto const seen = post(console, "/entries/t-1/cancel", "dry_run=1").json()["seen"];
    // A field that is misspelled must not make an action of a dry run.
    auto const with_seen = "&seen=" + seen.get<std::string>();
    for (auto const* const wrong : {"dry_run=yes", "dry_run=", "dryrun=1", "line=1"})
        CHECK(post(console, "/entries/t-1/cancel", wrong + with_seen).status == 400);
    CHECK(post(console, "/entries/t-1/resolve", "line=x&dry_run=1").status == 400);
    CHECK(bank.engine.find("t-1").value()->state == settle::state::pending);
    REQUIRE(bank.engine.retry("t-1").done());
    auto const late = post(console, "/entries/t-1/cancel", "seen=" + seen.get<std::string>());
    CHECK(late.status == 409);
    CHECK(late.json()["problem"].get<std::string>().find("too late") != std::string::npos);
    auto const reverse = post(console, "/entries/t-1/reverse", "seen=" + seen.get<std::string>());
    CHECK(reverse.status == 409);
    CHECK(reverse.json()["problem"].get<std::string>().find("has moved") != std::string::npos);
    CHECK(bank.balance("bert") == 110);
}

TEST_CASE("console: what is committed is recovered, and what is done is reversed") {
    bank bank{"recover"};
    bank.leave("t-1", settle::step::commit);
    settle::console const console{bank.engine};
    CHECK(post(console, "/entries/t-1/cancel", "dry_run=1").json()["allowed"] == false);
    CHECK(take(console, "/entries/t-1/recover")["verdict"] == "done");
    CHECK(bank.balance("bert") == 110);
    CHECK(take(console, "/entries/t-1/reverse")["text"] == "t-1/reverse: done");
    CHECK(bank.balance("bert") == 100);
    CHECK(get_json(console, "/entries/t-1/reverse").json()["state"] == "done");
}

TEST_CASE("console: only what the protocol allows is offered") {
    bank bank{"offered"};
    bank.leave("pending", settle::step::apply);
    bank.leave("applied", settle::step::commit);
    REQUIRE(bank.engine.submit("initial", transfer{"anna", "bert", 1, ""}).problem.empty());
    REQUIRE(bank.engine.run("done", transfer{"anna", "bert", 1, ""}).done());
    REQUIRE(bank.engine.run("canceled", transfer{"anna", "bert", 1000, ""}).canceled());
    settle::console const console{bank.engine};
    auto const offered = [&](std::string const& id) {
        std::string names;
        auto const entry = get_json(console, "/entries/" + id).json();
        for (auto const& each : entry["actions"]) {
            auto const name = each["action"].get<std::string>();
            if (each["allowed"] == true) names += name + " ";
            // A dry run says the same.
            auto const tried = post(console, "/entries/" + id + "/" + name, "dry_run=1").json();
            CHECK(tried["allowed"] == each["allowed"]);
            CHECK(tried["effect"] == each["effect"]);
        }
        return names;
    };
    CHECK(offered("initial") == "recover cancel ");
    CHECK(offered("pending") == "recover cancel ");
    CHECK(offered("applied") == "recover ");
    CHECK(offered("done") == "reverse ");
    CHECK(offered("canceled").empty());
    CHECK(post(console, "/entries/none/cancel", "dry_run=1").status == 404);
    CHECK(post(console, "/entries/done/explode", "dry_run=1").status == 404);
}

TEST_CASE("console: an action on all that a filter matches does what its dry run has counted") {
    bank bank{"bulk"};
    for (auto const* const id : {"a-1", "a-2", "a-3", "b-1"}) bank.leave(id, settle::step::apply);
    bank.leave("a-4", settle::step::commit);
    std::vector<std::string> told;
    settle::console const console{bank.engine, {.audit = [&](settle::console_action const& action) {
                                      told.push_back(action.name + " " + action.action + " " +
                                                     action.id);
                                  }}};
    auto const path = std::string{"/entries/cancel"};
    CHECK(post(console, path, "dry_run=1").status == 400);
    CHECK(post(console, path, "all=1&dry_run=1").json()["allowed"] == 4);
    auto const tried = post(console, path, "id=a-&dry_run=1").json();
    CHECK(tried["allowed"] == 3);
    REQUIRE(tried["would"].size() == 2);
    CHECK(tried["would"][0]["state"] == "pending");
    CHECK(tried["would"][0]["count"] == 3);
    CHECK(tried["would"][1]["allowed"] == false);
    auto const token = "&token=" + tried["token"].get<std::string>();
    // The token is of this filter, this action and these counts.
    CHECK(post(console, path, "id=b-" + token).status == 409);
    CHECK(post(console, "/entries/recover", "id=a-" + token).status == 409);
    CHECK(post(console, path, "id=a-").status == 409);
    CHECK(told.empty());
    auto const begun = post(console, path, "id=a-" + token);
    CHECK(begun.status == 202);
    auto const ended = wait_for_end(console, "/" + begun.json()["address"].get<std::string>());
    CHECK(ended["state"] == "done");
    CHECK(ended["handled"] == 3);
    CHECK(ended["ended"] == nlohmann::json{{"canceled", 3}});
    CHECK(told == std::vector<std::string>{"operator cancel a-1", "operator cancel a-2",
                                           "operator cancel a-3"});
    CHECK(post(console, path, "id=a-" + token).status == 409);
    CHECK(bank.engine.find("b-1").value()->state == settle::state::pending);
    CHECK(bank.engine.find("a-4").value()->state == settle::state::applied);
}

} // namespace
} // namespace console_bank
