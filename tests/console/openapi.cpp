// SPDX-License-Identifier: BSL-1.0
// The description of a console's JSON agrees with what the console answers.
#include "bank_server.hpp"

#include <program.hpp>
#include <server_process.hpp>

namespace console_bank {
namespace {

using settle_test::get_json, settle_test::post, settle_test::wait_for_end;

/// True if a value is one that a schema of the description allows.
bool is_allowed(nlohmann::json const& value, nlohmann::json const& schema,
                nlohmann::json const& description) {
    auto const allows = [&](nlohmann::json const& each) {
        return is_allowed(value, each, description);
    };
    if (schema.contains("$ref"))
        return allows(description.at(
            nlohmann::json::json_pointer{schema["$ref"].get<std::string>().substr(1)}));
    if (schema.contains("anyOf"))
        return std::any_of(schema["anyOf"].begin(), schema["anyOf"].end(), allows);
    std::string const name = value.is_number() ? "integer" : value.type_name();
    auto const types =
        schema["type"].is_array() ? schema["type"] : nlohmann::json::array({schema["type"]});
    if (std::find(types.begin(), types.end(), name) == types.end()) return false;
    if (schema.contains("enum")) {
        auto const& values = schema["enum"];
        if (std::find(values.begin(), values.end(), value) == values.end()) return false;
    }
    for (auto const& each : value.is_array() ? value : nlohmann::json::array()) {
        if (!is_allowed(each, schema["items"], description)) return false;
    }
    if (!value.is_object() || !schema.contains("properties")) return true;
    for (auto const& required : schema["required"]) {
        if (!value.contains(required.get<std::string>())) return false;
    }
    for (auto const& [member, of] : value.items()) {
        if (!schema["properties"].contains(member)) return false;
        if (!is_allowed(of, schema["properties"][member], description)) return false;
    }
    return true;
}

TEST_CASE("openapi: each answer has the members of the description, and each address of the page "
          "is in it") {
    bank bank{"openapi"};
    bank.leave("t-1", settle::step::apply);
    REQUIRE(bank.engine.run("t-2", transfer{"anna", "bert", 1000, ""}).canceled());
    // An action whose console it leaves goes on, and is not gone on with in this test.
    auto const leave = [](settle::console_action const& seen) {
        if (seen.action == "cancel" && seen.id == "t-3") throw std::runtime_error{"left"};
    };
    settle::console const console{
        bank.engine,
        {.figures = settle::metrics{}, .audit = leave, .store_limit = std::chrono::minutes{1}}};
    auto const description = get_json(console, "/openapi.json").json();
    auto const& paths = description["paths"];
    auto const check = [&](nlohmann::json const& operation,
                           settle_test::http_answer const& answer) {
        auto const& answers = operation["responses"];
        auto const status = std::to_string(answer.status);
        auto const& schema = answers[answers.contains(status) ? status : "4XX"];
        CHECK_MESSAGE(
            is_allowed(answer.json(), schema["content"]["application/json"]["schema"], description),
            answer.body);
    };
    check(paths["/"]["get"], get_json(console, "/"));
    check(paths["/entries"]["get"], get_json(console, "/entries?limit=1"));
    check(paths["/entries"]["get"], get_json(console, "/entries?limit=0"));
    for (auto const* const id : {"t-1", "t-2", "none"})
        check(paths["/entries/{id}"]["get"], get_json(console, std::string{"/entries/"} + id));
    check(paths["/records/{collection}/{key}"]["get"], get_json(console, "/records/accounts/anna"));
    auto const& cancel = paths["/entries/{id}/cancel"]["post"];
    auto const act_on_all = [&](std::string const& name, std::string const& filter) {
        auto const& operation = paths["/entries/" + name]["post"];
        auto const tried = post(console, "/entries/" + name, filter + "&dry_run=1");
        check(operation, tried);
        auto const token = "&token=" + tried.json()["token"].get<std::string>();
        auto const begun = post(console, "/entries/" + name, filter + token);
        REQUIRE(begun.status == 202);
        check(operation, begun);
        return "/" + begun.json()["address"].get<std::string>();
    };
    auto const& show = paths["/actions/{id}"]["get"];
    auto const& stop = paths["/actions/{id}/stop"]["post"];
    auto const ended = act_on_all("cancel", "id=t-1");
    CHECK(wait_for_end(console, ended)["handled"] == 1);
    check(show, get_json(console, ended));
    check(stop, post(console, ended + "/stop", ""));
    bank.leave("t-3", settle::step::apply);
    auto const running = act_on_all("cancel", "id=t-3");
    auto const stopped = post(console, running + "/stop", "");
    CHECK(stopped.status == 200);
    check(stop, stopped);
    check(show, get_json(console, running));
    check(show, get_json(console, "/actions/none"));
    auto const& pause = paths["/calls/pause"]["post"];
    for (std::string const scope : {"scope=transaction", "scope=service", "scope=all"})
        check(pause, post(console, "/calls/pause", scope + "&name=t-1&why=x"));
    check(paths["/"]["get"], get_json(console, "/"));
    check(paths["/calls/resume"]["post"],
          post(console, "/calls/resume", "scope=transaction&name=t-1"));
    check(paths["/actions"]["get"], get_json(console, "/actions?limit=2"));
    check(paths["/actions"]["get"], get_json(console, "/actions?limit=0"));
    auto const tried = post(console, "/entries/t-1/recover", "dry_run=1");
    check(cancel, tried);
    check(cancel,
          post(console, "/entries/t-1/recover", "seen=" + tried.json()["seen"].get<std::string>()));
    auto const& sweep = paths["/sweep"]["post"];
    auto const swept = post(console, "/sweep", "dry_run=1");
    check(sweep, swept);
    check(sweep, post(console, "/sweep", "seen=" + swept.json()["seen"].get<std::string>()));
    check(sweep, post(console, "/sweep", "seen=no"));
    // The check can fail.
    CHECK_FALSE(is_allowed({{"problem", ""}, {"more", 1}},
                           description["components"]["schemas"]["problem"], description));

    // The fields of a list are those that it takes.
    auto const refused =
        get_json(console, "/entries?colour=red").json()["problem"].get<std::string>();
    for (auto const& parameter : paths["/entries"]["get"]["parameters"])
        CHECK(refused.find(" " + parameter["name"].get<std::string>()) != std::string::npos);

    // The page's table of addresses.
    std::istringstream page{testing::read_file(SETTLE_DATA_DIR "/../adapters/console/README.md")};
    std::size_t count = 0;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| `/")) continue;
        auto path = line.substr(3, line.find_first_of("?`", 3) - 3);
        if (auto const id = path.find("/ID"); id != path.npos) path.replace(id, 3, "/{id}");
        if (path == "/records/COLLECTION/KEY") path = "/records/{collection}/{key}";
        if (path == "/openapi.json") continue;
        CAPTURE(path);
        CHECK(paths.contains(path));
        ++count;
    }
    CHECK(count > 4);
}

TEST_CASE("long: openapi: schemathesis finds no answer that the description does not allow") {
    bank bank{"schemathesis"};
    bank.leave("t-1", settle::step::apply);
    bank.leave("t-2", settle::step::commit);
    REQUIRE(bank.engine.run("0", transfer{"anna", "bert", 1, ""}).done());
    std::string const token = "0123456789abcdef";
    settle::console const console{
        bank.engine, {.operator_token = token, .base_path = "/ops", .figures = settle::metrics{}}};
    testing::scratch_folder const folder{"schemathesis"};
    auto const ended = testing::program{
        folder,
        {SETTLE_SCHEMATHESIS_SCRIPT, SETTLE_SCRATCH_DIR "/schemathesis",
         console.url().substr(0, console.url().size() - 1),
         token}}.wait();
    if (ended.code == SETTLE_SKIP_CODE) settle_test::skip(ended.out);
    CHECK_MESSAGE(ended.code == 0, ended.out << ended.err);
}

} // namespace
} // namespace console_bank
