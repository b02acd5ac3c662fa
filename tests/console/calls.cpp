// SPDX-License-Identifier: BSL-1.0
// What a console shows of transactions with calls of services, and how a person ends them.
#include "shop.hpp"

namespace console_shop {
namespace {

using settle::state;
using settle_test::get_json, settle_test::post;

/// The part of a participant, as an entry shows it.
nlohmann::json part_of(settle::console const& console, std::string const& id,
                       std::string const& participant) {
    auto const entry = get_json(console, "/entries/" + id).json();
    for (auto const& part : entry["parts"]) {
        if (part["participant"] == participant) return part;
    }
    FAIL("no part of " << participant);
    return {};
}

/// Takes an action as an operator does.
settle_test::http_answer take(settle::console const& console, std::string const& path,
                              std::string const& fields = {}) {
    auto const tried = post(console, path, fields + "&dry_run=1").json();
    REQUIRE_MESSAGE(tried["allowed"] == true, tried.dump());
    return post(console, path, fields + "&seen=" + tried["seen"].get<std::string>());
}

TEST_CASE("console: an entry shows its stage, and the results and images of its parts") {
    office office{"card"};
    office.leave("o-1", "1A");
    settle::console const console{office.engine};
    auto const card = part_of(console, "o-1", "card");
    CHECK(card["kind"] == "pivot");
    CHECK(card["result"].is_null());
    auto const goods = part_of(console, "o-1", "goods");
    CHECK(goods["result"] == nlohmann::json{{"number", "8"}, {"code", "***"}});
    CHECK(goods["stage"] == 1);
    auto const deciding = get_json(console, "/entries/o-1").json();
    CHECK(deciding["state"] == "deciding");
    CHECK(deciding["stage"] == card["stage"]);
    // The page draws the stages by these lines.
    auto const picture = deciding["picture"].get<std::string>();
    auto const title = "[\"stage " + card["stage"].dump();
    CHECK(picture.find(title) != picture.npos);
    office.repair();
    CHECK(take(console, "/entries/o-1/recover").json()["verdict"] == "done");
    auto const answer = get_json(console, "/entries/o-1");
    CHECK(answer.json()["stage"].is_null());
    CHECK(answer.body.find("4711") == answer.body.npos);
    CHECK(answer.body.find("0815") == answer.body.npos);
    CHECK(part_of(console, "o-1", "card")["result"]["number"] == "8");
    auto const place = part_of(console, "o-1", "place");
    CHECK(place["before"] == nlohmann::json{{"id", "1A"}, {"taken_by", ""}, {"badge", "***"}});
    CHECK(place["after"]["taken_by"] == "anna");
    CHECK(part_of(console, "o-1", "payer")["before"].is_null());
}

TEST_CASE("console: an entry tells when it was created, claimed, changed, and is tried again") {
    office office{"card"};
    office.leave("o-1", "1A");
    settle::console const console{office.engine, {.store_limit = std::chrono::milliseconds{50}}};
    auto const times = [&] {
        std::vector<std::string> descriptions;
        auto const entry = get_json(console, "/entries/o-1").json();
        for (auto const& each : entry["times"]) {
            CHECK(each["when"].get<std::string>().starts_with("20"));
            descriptions.push_back(each["what"]);
        }
        return descriptions;
    };
    auto const first = times();
    REQUIRE(first.size() == 3);
    CHECK(first[0] == "created");
    CHECK(first[1] == "last change: deciding");
    CHECK(first[2].starts_with("next try of a call, after "));
    CHECK(take(console, "/entries/o-1/recover").status == 503);
    auto const second = times();
    REQUIRE(second.size() == 4);
    CHECK(second[1] == "claimed or begun again 1 times, the last time not later than this");
    office.repair();
    CHECK(take(console, "/entries/o-1/recover").status == 200);
    CHECK(times().back() == "last change: done");
}

TEST_CASE("console: a pivot that does not answer is resolved with what its service says") {
    office office{"card"};
    office.leave("o-1", "1A");
    office.leave("o-2", "1B");
    settle::console const console{office.engine};
    auto const path = std::string{"/entries/o-1/resolve"};
    auto const fields = std::string{"participant=card&why=the bank has it&pivot=was_applied"};
    CHECK(post(console, path, fields + "&dry_run=1")
              .json()["effect"]
              .get<std::string>()
              .starts_with("The pivot counts as applied"));
    auto const without_result = take(console, path, fields);
    CHECK(without_result.status == 409);
    CHECK(get_json(console, "/entries/o-1").json()["state"] == "deciding");
    auto const closed = take(console, path, fields + "&result={\"number\":\"7\",\"code\":\"1\"}");
    CHECK(closed.json()["text"] == "o-1: done");
    auto const card = part_of(console, "o-1", "card");
    CHECK(card["closed"] == "the bank has it");
    CHECK(card["result"] == nlohmann::json{{"number", "7"}, {"code", "***"}});
    auto const row = get_json(console, "/actions?limit=1").json()["actions"][0]["id"];
    auto const kept = get_json(console, "/actions/" + row.get<std::string>()).json();
    CHECK(kept["why"] == "the bank has it");
    CHECK(take(console, "/entries/o-2/resolve",
               "participant=card&why=never arrived&pivot=was_not_applied")
              .json()["verdict"] == "canceled");
    CHECK(office.engine.find("o-2").value()->state == state::canceled);
    CHECK(office.engine.at(accounts, "anna").balance == 90);
}

TEST_CASE("console: a call without an answer is made again, or closed with a reason") {
    office office{"mail"};
    for (auto const* const id : {"o-1", "o-2"}) office.leave(id, id[2] == '1' ? "1A" : "1B");
    settle::console const console{office.engine, {.store_limit = std::chrono::milliseconds{50}}};
    auto const stored = [&](std::string const& id) { return *office.engine.find(id).value(); };
    CHECK(stored("o-1").state == state::applied);
    // No row of the stuck call is lost by a try without an answer.
    std::ignore = take(console, "/entries/o-1/recover");
    CHECK(stored("o-1").state == state::applied);
    CHECK(take(console, "/entries/o-2/resolve", "participant=mail&why=sent by hand").status == 200);
    CHECK(stored("o-2").state == state::done);
    CHECK(part_of(console, "o-2", "mail")["closed"] == "sent by hand");
    office.repair();
    CHECK(take(console, "/entries/o-1/recover").json()["verdict"] == "done");
    CHECK(stored("o-1").state == state::done);
    CHECK(part_of(console, "o-1", "mail")["closed"].is_null());
}

TEST_CASE("console: a call is closed for all that a filter matches, but no pivot is") {
    office office{"mail"};
    for (auto const* const id : {"o-1", "o-2"}) office.leave(id, id[2] == '1' ? "1A" : "1B");
    settle::console const console{office.engine};
    auto const path = std::string{"/entries/resolve"};
    CHECK(post(console, path, "state=applied&dry_run=1").status == 400);
    CHECK(post(console, path, "state=applied&call=mail&dry_run=1").status == 400);
    auto const tried = post(console, path, "state=applied&call=mail&why=sent&dry_run=1").json();
    CHECK(tried["allowed"] == 2);
    auto const token = "&token=" + tried["token"].get<std::string>();
    CHECK(post(console, path, "state=applied&call=mail&why=lost" + token).status == 409);
    CHECK(post(console, path, "state=applied&call=goods&why=sent" + token).status == 409);
    auto const wrong = post(console, path, "state=applied&call=male&why=sent&dry_run=1").json();
    CHECK(wrong["allowed"] == 0);
    CHECK(wrong["would"][0]["effect"] == "It has no call 'male' of one line.");
    auto const begun = post(console, path, "state=applied&call=mail&why=sent" + token);
    CHECK(begun.status == 202);
    auto const ended =
        settle_test::wait_for_end(console, "/" + begun.json()["address"].get<std::string>());
    CHECK(ended["ended"] == nlohmann::json{{"done", 2}});
    CHECK(ended["call"] == "mail");
    CHECK(ended["why"] == "sent");
    CHECK(part_of(console, "o-2", "mail")["closed"] == "sent");

    console_shop::office other{"card"};
    other.leave("o-1", "1A");
    settle::console const second{other.engine};
    auto const pivot = post(second, path, "all=1&call=card&why=charged&dry_run=1").json();
    CHECK(pivot["allowed"] == 0);
    CHECK(pivot["would"][0]["effect"].get<std::string>().ends_with("resolve this entry alone."));
}

} // namespace
} // namespace console_shop
