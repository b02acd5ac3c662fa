// SPDX-License-Identifier: BSL-1.0
// The description of a console's JSON.
// Source:  https://spec.openapis.org/oas/v3.1.0
#include "openapi.hpp"

#include "actions.hpp"
#include "openapi_schemas.hpp"

#include <limits>

SETTLE_BEGIN
namespace detail {

namespace openapi {

namespace {

[[nodiscard]] members summary() {
    return {{"id", typed("string")},
            {"type", typed("string")},
            {"state", state_names({"damaged"})},
            {"age_seconds", typed("integer")},
            {"still_seconds", typed("integer")},
            {"reason", or_null("string")},
            {"participant", or_null("string")}};
}

[[nodiscard]] console_json filter() {
    return {{"type", "object"}, {"additionalProperties", typed("string")}};
}

[[nodiscard]] console_json list() {
    return object({{"at", time_of_day()},
                   {"filter", filter()},
                   {"looked_at", typed("integer")},
                   {"next", or_null("string")},
                   {"entries", list_of(object(summary()))}},
                  {{"note", typed("string")}});
}

[[nodiscard]] console_json shown_entry() {
    auto const text = typed("string");
    auto const number = typed("integer");
    auto always = summary();
    auto const problem = object({{"problem", text}});
    auto const part = object({{"participant", text},
                              {"line", or_null("integer")},
                              {"stage", number},
                              {"kind", text},
                              {"of", text},
                              {"key", or_null("string")},
                              {"committed", or_null("object")},
                              {"mark", or_null("string")},
                              {"result", or_null("object")},
                              {"closed", or_null("string")},
                              {"before", or_null("object")},
                              {"after", or_null("object")}});
    auto const action = object({{"action", text}, {"allowed", typed("boolean")}, {"effect", text}});
    for (auto const& member : members{{"at", time_of_day()},
                                      {"stage", or_null("integer")},
                                      {"owner", text},
                                      {"owner_has_ended", typed("boolean")},
                                      {"epoch", number},
                                      {"committed_epoch", number},
                                      {"revision", number},
                                      {"definition", text},
                                      {"times", list_of(object({{"when", text}, {"what", text}}))},
                                      {"actions", list_of(action)},
                                      {"seen", text}}) {
        always.push_back(member);
    }
    return object(always, {{"reason_text", text},
                           {"why_unfinished", text},
                           {"parameters", one_of({typed("object"), text})},
                           {"parts", list_of(part)},
                           {"marks", problem},
                           {"picture", text}});
}

[[nodiscard]] console_json shown_record_schema() {
    auto const additions = typed("object");
    auto const mark = object({{"id", typed("string")},
                              {"epoch", typed("integer")},
                              {"alone", typed("boolean")},
                              {"adds_if_done", additions},
                              {"adds_if_canceled", additions}});
    return object({{"at", time_of_day()},
                   {"collection", typed("string")},
                   {"key", typed("string")},
                   {"record", or_null("object")},
                   {"committed", or_null("object")},
                   {"marks", list_of(mark)}},
                  {{"problem", typed("string")}});
}

[[nodiscard]] console_json tried_or_ended() {
    auto const text = typed("string");
    return one_of({object({{"action", text},
                           {"id", text},
                           {"dry_run", typed("boolean")},
                           {"allowed", typed("boolean")},
                           {"effect", text},
                           {"seen", text}}),
                   object({{"action", text}, {"id", text}, {"verdict", text}, {"text", text}},
                          {{"problem", text}, {"not_kept", text}})});
}

/// The dry run of an action on all.
[[nodiscard]] console_json all_tried() {
    auto const text = typed("string");
    auto const number = typed("integer");
    auto const group = object({{"state", state_names({})},
                               {"count", number},
                               {"allowed", typed("boolean")},
                               {"effect", text}});
    return object({{"action", text},
                   {"filter", filter()},
                   {"would", list_of(group)},
                   {"dry_run", typed("boolean")},
                   {"allowed", number},
                   {"token", text}},
                  {{"call", text}, {"why", text}});
}

[[nodiscard]] console_json begun() {
    auto const text = typed("string");
    return object({{"action", text},
                   {"filter", filter()},
                   {"state", text},
                   {"allowed", typed("integer")},
                   {"id", text},
                   {"address", text}},
                  {{"call", text}, {"why", text}});
}

[[nodiscard]] console_json action_states() {
    return choice(console_json::array(
        {"asked", "done", "refused", "failed", "running", "stopping", "stopped", "damaged"}));
}

[[nodiscard]] console_json journal() {
    auto const text = or_null("string");
    auto const row = object({{"id", typed("string")},
                             {"when", text},
                             {"name", text},
                             {"action", text},
                             {"of", text},
                             {"state", action_states()},
                             {"result", text}});
    return object({{"next", text}, {"actions", list_of(row)}});
}

[[nodiscard]] console_json shown_action_schema() {
    auto const text = typed("string");
    auto const number = typed("integer");
    return object({{"id", text}, {"state", action_states()}},
                  {{"when", time_of_day()},
                   {"name", text},
                   {"action", text},
                   {"of", text},
                   {"why", text},
                   {"call", text},
                   {"result", text},
                   {"filter", filter()},
                   {"allowed", number},
                   {"handled", number},
                   {"ended", {{"type", "object"}, {"additionalProperties", number}}},
                   {"failed", number},
                   {"failed_by_reason", {{"type", "object"}, {"additionalProperties", number}}},
                   {"failures", list_of(object({{"id", text}, {"problem", text}}))},
                   {"stopped_by", text},
                   {"problem", text}});
}

[[nodiscard]] console_json stopped() {
    auto const text = typed("string");
    return object({{"action", text}, {"id", text}, {"state", action_states()}, {"text", text}},
                  {{"not_kept", text}});
}

[[nodiscard]] console_json swept() {
    auto const text = typed("string");
    return one_of(
        {object({{"action", text},
                 {"dry_run", typed("boolean")},
                 {"allowed", typed("boolean")},
                 {"effect", text},
                 {"seen", text}}),
         object({{"action", text}, {"text", text}}, {{"problem", text}, {"not_kept", text}})});
}

[[nodiscard]] console_json pause_changed() {
    auto const text = typed("string");
    return object({{"action", text},
                   {"scope", text},
                   {"name", text},
                   {"changed", typed("boolean")},
                   {"text", text}},
                  {{"not_kept", text}});
}

/// A text of a request: any but one with a NUL.
[[nodiscard]] console_json text_input() {
    return {{"type", "string"}, {"pattern", "^[^\\u0000]*$"}};
}
[[nodiscard]] console_json integer_input(std::uint32_t most) {
    return {{"type", "integer"}, {"minimum", 1}, {"maximum", most}};
}

/// The fields of a filter, as a query or a form has them.
[[nodiscard]] members filter_fields() {
    members fields;
    for (auto const name : filter_names) {
        auto schema = text_input();
        if (name == "state") schema = state_names({"all", "unfinished"});
        else if (name == "older" || name == "still") schema["pattern"] = "^[0-9]+[smhd]$";
        else if (name == "limit") schema = integer_input(1000);
        else if (name == "looked") schema["pattern"] = "^[0-9]{1,19}$";
        fields.emplace_back(name, std::move(schema));
    }
    return fields;
}

[[nodiscard]] console_json content(console_json const& schema) {
    return {{"application/json", {{"schema", schema}}},
            {"text/plain", {{"schema", typed("string")}}}};
}

[[nodiscard]] console_json answer(std::string_view text, std::string const& schema) {
    return {{"description", text}, {"content", content(reference(schema))}};
}

[[nodiscard]] console_json answers(std::string const& schema) {
    auto const refusal = content(one_of({reference("problem"), reference("tried_or_ended")}));
    return {
        {"200", answer("The answer.", schema)},
        {"4XX",
         {{"description", "Nothing was done; one sentence says why."}, {"content", refusal}}},
        {"5XX",
         {{"description", "The log or a store did not answer, or did not decide in time; or the "
                          "entry is damaged."},
          {"content", refusal}}}};
}

[[nodiscard]] console_json parameter(std::string const& name, std::string const& place,
                                     console_json schema) {
    return {{"name", name},
            {"in", place},
            {"required", place != "query"},
            {"schema", std::move(schema)}};
}

[[nodiscard]] console_json id_parameter() {
    auto id = text_input();
    id["minLength"] = 1;
    return parameter("id", "path", std::move(id));
}

[[nodiscard]] console_json form(console_json const& schema) {
    return {{"required", true},
            {"content", {{"application/x-www-form-urlencoded", {{"schema", schema}}}}}};
}
/// Shape:   needed - one of these schemas holds for the form; always - all of these
[[nodiscard]] console_json form(members const& fields, console_json const& needed,
                                console_json const& always = {}) {
    auto schema = object({}, fields);
    schema["anyOf"] = needed;
    if (!always.empty()) schema["allOf"] = always;
    return form(schema);
}

/// A field is there, and is not empty.
[[nodiscard]] console_json has(std::string_view name) {
    console_json needed{{"required", console_json::array({name})}};
    needed["properties"][std::string{name}] = {{"minLength", 1}};
    return needed;
}

[[nodiscard]] console_json flag() { return choice(console_json::array({"1"})); }
[[nodiscard]] console_json action_header() { return parameter("Settle-Console", "header", flag()); }

/// Actions on entries.
void add_actions(console_json& paths) {
    auto const flag_schema = flag();
    auto const header = action_header();
    for (auto const action : all_operator_actions) {
        std::string const name{name_of(action)};
        bool const is_resolve = action == operator_action::resolve;
        members fields{{"dry_run", flag_schema}, {"seen", text_input()}};
        if (is_resolve) {
            fields.insert(
                fields.end(),
                {{"participant", text_input()},
                 {"why", text_input()},
                 {"line", integer_input(std::numeric_limits<std::uint32_t>::max())},
                 {"pivot", choice(console_json::array({"was_applied", "was_not_applied"}))},
                 {"result", text_input()}});
        }
        auto& of_one = paths["/entries/{id}/" + name];
        of_one["get"] = {{"operationId", "entry_" + name},
                         {"description", "The entry whose id is '{id}/" + name + "'."},
                         {"parameters", console_json::array({id_parameter()})},
                         {"responses", answers("entry")}};
        of_one["post"] = {
            {"operationId", name},
            {"description", "With dry_run=1 it says what would happen; else it needs the 'seen' "
                            "of a dry run."},
            {"parameters", console_json::array({id_parameter(), header})},
            {"requestBody", form(fields, console_json::array({has("dry_run"), has("seen")}))},
            {"responses", answers("tried_or_ended")}};
        auto bulk_fields = filter_fields();
        auto needed = console_json::array({has("all")});
        for (auto& [field, schema] : bulk_fields) {
            // They are of a page of a list, and are passed over.
            if (field == "limit" || field == "after" || field == "looked") schema = text_input();
            else needed.push_back(has(field));
        }
        bulk_fields.insert(
            bulk_fields.end(),
            {{"dry_run", flag_schema}, {"all", flag_schema}, {"token", text_input()}});
        console_json always;
        if (is_resolve) {
            bulk_fields.insert(bulk_fields.end(), {{"call", text_input()}, {"why", text_input()}});
            always = console_json::array({has("call"), has("why")});
        }
        auto& of_all = paths["/entries/" + name];
        of_all["get"] = {{"operationId", "entry_named_" + name},
                         {"description", "The entry whose id is '" + name + "'."},
                         {"responses", answers("entry")}};
        auto responses = answers("all_tried");
        responses["202"] = answer("The action goes on; its row is at 'address'.", "begun");
        of_all["post"] = {{"operationId", name + "_all"},
                          {"description",
                           "Acts on all entries that the filter matches. With dry_run=1 it counts "
                           "them; else it needs the 'token' of a dry run."},
                          {"parameters", console_json::array({header})},
                          {"requestBody", form(bulk_fields, needed, always)},
                          {"responses", responses}};
    }
}

void add_journal(console_json& paths) {
    auto const header = action_header();
    paths["/actions"]["get"] = {
        {"operationId", "journal"},
        {"description", "The actions that persons took, the newest first."},
        {"parameters", console_json::array({parameter("before", "query", text_input()),
                                            parameter("limit", "query", integer_input(1000))})},
        {"responses", answers("journal")}};
    paths["/actions/{id}"]["get"] = {{"operationId", "action"},
                                     {"parameters", console_json::array({id_parameter()})},
                                     {"responses", answers("action")}};
    paths["/actions/{id}/stop"]["post"] = {
        {"operationId", "stop"},
        {"description", "Stops an action on all."},
        {"parameters", console_json::array({id_parameter(), header})},
        {"responses", answers("stopped")}};
    auto scopes = console_json::array();
    for (auto const scope : all_pause_scopes) scopes.push_back(name_of(scope));
    for (std::string const name : {"pause", "resume"}) {
        members needed{{"scope", choice(scopes)}, {"name", text_input()}, {"why", text_input()}};
        for (auto& [field, schema] : needed) schema["minLength"] = 1;
        members optional;
        if (name == "resume") {
            optional.emplace_back("why", text_input());
            needed.pop_back();
        }
        paths["/calls/" + name]["post"] = {{"operationId", name + "_calls"},
                                           {"parameters", console_json::array({header})},
                                           {"requestBody", form(object(needed, optional))},
                                           {"responses", answers("pause_changed")}};
    }
}

void add_sweep(console_json& paths) {
    members const fields{{"dry_run", flag()}, {"seen", text_input()}};
    auto responses = answers("swept");
    responses["5XX"]["content"] = content(one_of({reference("problem"), reference("swept")}));
    paths["/sweep"]["post"] = {
        {"operationId", "sweep"},
        {"description", "Ends marks and prepared transactions that were left behind. With "
                        "dry_run=1 it counts them; else it needs the 'seen' of a dry run."},
        {"parameters", console_json::array({action_header()})},
        {"requestBody", form(fields, console_json::array({has("dry_run"), has("seen")}))},
        {"responses", std::move(responses)}};
}

[[nodiscard]] std::string version() {
    return std::to_string(SETTLE_VERSION / 10000) + '.' +
           std::to_string(SETTLE_VERSION / 100 % 100) + '.' + std::to_string(SETTLE_VERSION % 100);
}

} // namespace

console_json description(std::string const& base_path, bool has_tokens) {
    console_json paths;
    paths["/"]["get"] = {{"operationId", "overview"}, {"responses", answers("overview")}};
    auto query = console_json::array();
    for (auto const& [name, schema] : filter_fields())
        query.push_back(parameter(name, "query", schema));
    paths["/entries"]["get"] = {
        {"operationId", "list"}, {"parameters", query}, {"responses", answers("list")}};
    paths["/entries/{id}"]["get"] = {{"operationId", "entry"},
                                     {"parameters", console_json::array({id_parameter()})},
                                     {"responses", answers("entry")}};
    auto key = id_parameter();
    key["name"] = "key";
    paths["/records/{collection}/{key}"]["get"] = {
        {"operationId", "record"},
        {"parameters", console_json::array({parameter("collection", "path", text_input()), key})},
        {"responses", answers("record")}};
    add_actions(paths);
    add_journal(paths);
    add_sweep(paths);
    auto metrics = answers("overview");
    metrics["200"]["content"] = {{"text/plain", {{"schema", typed("string")}}}};
    paths["/metrics"]["get"] = {{"operationId", "metrics"}, {"responses", metrics}};
    console_json whole{
        {"openapi", "3.1.0"},
        {"info", {{"title", "settle::console"}, {"version", version()}}},
        {"servers", console_json::array({{{"url", base_path.empty() ? "/" : base_path}}})}};
    whole["paths"] = std::move(paths);
    auto const text = typed("string");
    whole["components"]["schemas"] = {
        {"problem", object({{"problem", text}}, {{"not_kept", text}})},
        {"overview", overview()},
        {"list", list()},
        {"entry", shown_entry()},
        {"record", shown_record_schema()},
        {"tried_or_ended", tried_or_ended()},
        {"all_tried", all_tried()},
        {"begun", begun()},
        {"journal", journal()},
        {"action", shown_action_schema()},
        {"stopped", stopped()},
        {"swept", swept()},
        {"pause_changed", pause_changed()}};
    if (has_tokens) {
        whole["components"]["securitySchemes"]["token"] = {{"type", "http"}, {"scheme", "bearer"}};
        whole["security"] = console_json::array({{{"token", console_json::array()}}});
    }
    return whole;
}

} // namespace openapi

} // namespace detail
SETTLE_END
