// SPDX-License-Identifier: BSL-1.0
// A page of entries that match a filter, and one entry with its parts.
#include "actions.hpp"
#include "views.hpp"

#include <settle/base/json_writer.hpp>
#include <settle/store/entry_facts.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

namespace {

constexpr std::size_t page_size = 256; ///< of a read of marks

[[nodiscard]] std::string text_of(part_key const& key) {
    if (auto const* const number = std::get_if<std::int64_t>(&key)) return std::to_string(*number);
    return std::string{std::get<std::string_view>(key)};
}

/// True if a value, or one in it, is equal to another one.
[[nodiscard]] bool has_value(console_json const& value, console_json const& wanted) {
    if (!value.is_structured()) return value == wanted;
    return std::any_of(value.begin(), value.end(),
                       [&](console_json const& inner) { return has_value(inner, wanted); });
}

/// The key of a part as JSON, if the parameters may be shown with it: one of them is the key.
/// Shape:   hidden - the parameters with secret members hidden; has_secrets - one is hidden
[[nodiscard]] std::string shown_key(part_key const& key, std::string const& hidden,
                                    bool has_secrets) {
    auto const shown = std::visit([](auto const& value) { return console_json(value); }, key);
    bool const is_shown =
        !has_secrets || has_value(console_json::parse(hidden, nullptr, false), shown);
    return is_shown ? json_text(shown) : "***";
}

} // namespace

bool has_part_on(std::string_view record, entry const& stored, known_directions known) {
    auto const direction = direction_for(known, stored);
    if (!direction.has_value() || !direction.value()->type->described) return false;
    transaction_descriptor const& type = *direction.value()->type;
    auto const parameters = read_parameters(type, stored);
    if (!parameters.has_value()) return false;
    std::string hidden;
    type.append_json(hidden, parameters.value().get(), secrets::hidden);
    bool is_found = false;
    type.for_each_part(
        parameters.value().get(), [&](part_descriptor const& part, std::size_t line, std::size_t) {
            bool const is_there = part.kind->shared && record.starts_with(part.name) &&
                                  record.substr(part.name.size()).starts_with('/');
            if (!is_there) return;
            auto const key = part.key(parameters.value().get(), line);
            is_found = is_found || (text_of(key) == record.substr(part.name.size() + 1) &&
                                    shown_key(key, hidden, true) != "***");
        });
    return is_found;
}

console_json console_views::summary_of(entry const& stored) const {
    console_json shown{{"id", stored.id},
                       {"type", stored.type},
                       {"state", stored.fault.empty() ? name_of(stored.state) : "damaged"},
                       {"age_seconds", age_in_seconds(stored.created)},
                       {"still_seconds", age_in_seconds(stored.modified)},
                       {"reason", nullptr},
                       {"participant", nullptr}};
    if (!stored.fault.empty()) shown["reason"] = stored.fault;
    else if (stored.why != reason::none) shown["reason"] = name_of(stored.why);
    if (!stored.participant.empty()) shown["participant"] = stored.participant;
    return shown;
}

console_reply console_views::list(console_fields const& fields) {
    auto const read = list_filter::from(fields);
    if (!read.has_value()) return problem_reply(400, read.problem().message());
    list_filter const& wanted = *read;
    console_json rows = console_json::array();
    auto const looked =
        scan_matches(engine_, wanted, engine_.now(), {limit_, limit_}, [&](entry const& stored) {
            if (rows.size() == wanted.limit) return false;
            rows.push_back(summary_of(stored));
            return true;
        });
    if (!looked.has_value()) return problem_reply(looked.problem());
    console_json data{{"at", utc(engine_.now())}, {"filter", wanted.shown()}};
    data["looked_at"] = looked->looked_at;
    auto const in_all = wanted.looked + looked->looked_at;
    std::string note;
    if (wanted.scans()) {
        note = "no index serves this filter, so each entry is read; the pages up to here have "
               "looked at " +
               std::to_string(in_all);
    }
    if (looked->ends_early) {
        note.append(note.empty() ? "" : "; ").append("the time was over after '");
        note.append(looked->after).append("', and the next page goes on there");
    }
    if (!note.empty()) data["note"] = note;
    data["next"] = nullptr;
    if (!looked->is_complete) data["next"] = "entries?" + wanted.query(looked->after, in_all);
    data["entries"] = std::move(rows);
    return {200, std::move(data)};
}

console_reply console_views::show(transaction_id const& id, console_role role) {
    auto const stored = engine_.find(id, call());
    if (!stored.has_value()) return problem_reply(stored.problem());
    if (!stored.value()) return problem_reply(404, unknown_id(id).problem.message());
    entry const& shown = *stored.value();
    console_json data = summary_of(shown);
    data["at"] = utc(engine_.now());
    if (!shown.why_text.empty()) data["reason_text"] = shown.why_text;
    // The stores of its parts are asked first.
    if (!is_final(shown.state)) data["why_unfinished"] = nullptr;
    // The entry has the results of the stages before it.
    bool const applies = shown.state == state::pending || shown.state == state::deciding;
    data["stage"] = nullptr;
    if (applies) data["stage"] = shown.stages_kept;
    data["owner"] = shown.owner;
    data["owner_has_ended"] = is_gone(shown.owner);
    data["epoch"] = shown.epoch_number;
    data["committed_epoch"] = shown.committed;
    data["revision"] = shown.revision;
    data["definition"] = hex_of(shown.definition);
    auto& times = data["times"] = console_json::array();
    times.push_back({{"when", utc(shown.created)}, {"what", "created"}});
    if (shown.attempts != 0) {
        times.push_back({{"when", utc(shown.modified)},
                         {"what", "claimed or begun again " + std::to_string(shown.attempts) +
                                      " times, the last time not later than this"}});
    }
    times.push_back({{"when", utc(shown.modified)},
                     {"what", "last change: " + std::string{name_of(shown.state)}}});
    if (shown.call_tries != 0) {
        times.push_back({{"when", utc(shown.next_try)},
                         {"what", "next try of a call, after " + std::to_string(shown.call_tries) +
                                      " tries without an answer"}});
    }
    add_parts(shown, data);
    if (!is_final(shown.state)) {
        auto const pauses = engine_.paused_calls(call());
        data["why_unfinished"] = why_unfinished(shown, pauses.value_or(std::vector<call_pause>{}));
    }
    auto& actions = data["actions"] = console_json::array();
    for (auto const action : all_operator_actions) {
        auto const effect = engine_.forecast(action, shown);
        actions.push_back({{"action", name_of(action)},
                           {"allowed", effect.is_allowed && role == console_role::acts},
                           {"effect", effect.text}});
    }
    data["seen"] = seen_of(shown);
    for (named_picture const& picture : pictures_) {
        if (picture.type == shown.type) data["picture"] = picture.mermaid;
    }
    return {200, std::move(data)};
}

void console_views::add_parts(entry const& stored, console_json& shown) {
    std::fill(silent_.begin(), silent_.end(), error{});
    auto const direction = direction_for(engine_.known(), stored);
    if (!direction.has_value()) {
        shown["parameters"] = {{"problem", direction.problem().message()}};
        return;
    }
    transaction_descriptor const& type = *direction.value()->type;
    if (!type.described) return;
    auto const parameters = read_parameters(type, stored);
    if (!parameters.has_value()) {
        shown["parameters"] = {{"problem", parameters.problem().message()}};
        return;
    }
    auto const* const value = parameters.value().get();
    std::string hidden;
    type.append_json(hidden, value, secrets::hidden);
    std::string written;
    type.append_json(written, value, secrets::written);
    std::string problem;
    auto const marks = marks_of(stored.id, type, problem);
    auto const parsed = console_json::parse(hidden, nullptr, false);
    shown["parameters"] = parsed.is_discarded() ? console_json(hidden) : parsed;
    auto& parts = shown["parts"] = console_json::array();
    std::size_t records_left = 20;
    auto const until = deadline_after(limit_);
    auto const ports = engine_.ports();
    type.for_each_part(
        value, [&](part_descriptor const& part, std::size_t line, std::size_t number) {
            part_name const name = type.name_part(value, number);
            console_json row{{"participant", name.participant}, {"line", nullptr}};
            // People count lines from 1.
            if (name.line) row["line"] = *name.line + 1;
            row["stage"] = part.stage;
            row["kind"] = part.is_pivot ? "pivot" : part.kind->name;
            row["of"] = part.name;
            row["key"] = nullptr;
            if (part.kind->shared)
                row["key"] = shown_key(part.key(value, line), hidden, hidden != written);
            row["committed"] = nullptr;
            bool const is_shown = row["key"].is_string() && row["key"] != "***" &&
                                  silent_.at(store_of(ports, part)).empty();
            if (is_shown && records_left != 0 && std::chrono::steady_clock::now() < until) {
                --records_left;
                auto const seen = engine_.look(part.name, text_of(part.key(value, line)), call());
                if (seen.has_value() && *seen && (*seen)->committed)
                    row["committed"] = console_json::parse(*(*seen)->committed, nullptr, false);
            }
            row["mark"] = nullptr;
            part_number const numbered{part.participant, static_cast<std::uint32_t>(line)};
            for (mark_locator const& mark : marks) {
                if (mark.part != numbered) continue;
                row["mark"] = "epoch " + std::to_string(mark.epoch_number);
                if (is_stray(standing_of(stored), mark.epoch_number)) row["mark"] = "stray";
            }
            add_kept(type, stored, numbered, row);
            parts.push_back(std::move(row));
        });
    if (!problem.empty()) shown["marks"]["problem"] = problem;
}

void console_views::add_kept(transaction_descriptor const& type, entry const& stored,
                             part_number part, console_json& row) const {
    auto const shown = [&](std::string const& text) {
        auto const json = engine_.without_secrets(type, part.participant, text);
        return json ? console_json::parse(*json, nullptr, false) : console_json{};
    };
    for (auto const* const name : {"result", "closed", "before", "after"}) row[name] = nullptr;
    for (kept_result const& kept : stored.results) {
        if (part_number{kept.participant, kept.line} != part) continue;
        row["result"] = shown(kept.value);
        if (kept.closed) row["closed"] = *kept.closed;
    }
    for (image const& kept : stored.images) {
        // A record has its key.
        if (part_number{kept.participant, kept.line} != part || row["key"] == "***") continue;
        row["before"] = shown(kept.before);
        row["after"] = shown(kept.after);
    }
}

console_reply console_views::record(std::string const& collection, std::string const& key) {
    auto const looked = engine_.look(collection, key, call());
    if (!looked.has_value()) return problem_reply(looked.problem());
    if (!looked.value()) {
        return problem_reply(404, "settle: this engine has no collection '" + collection +
                                      "' that can be looked at, or '" + key +
                                      "' is no key of it. See console#one-record");
    }
    shown_record const& seen = **looked;
    auto const json = [](std::optional<std::string> const& text) {
        return text ? console_json::parse(*text, nullptr, false) : console_json{};
    };
    console_json data{{"at", utc(engine_.now())}, {"collection", collection}, {"key", key}};
    data["record"] = json(seen.present);
    data["committed"] = json(seen.committed);
    if (!seen.problem.empty()) data["problem"] = seen.problem.message();
    auto& marks = data["marks"] = console_json::array();
    for (shown_mark const& mark : seen.marks) {
        marks.push_back({{"id", mark.id},
                         {"epoch", mark.epoch_number},
                         {"alone", mark.is_alone},
                         {"adds_if_done", json(mark.adds_if_done)},
                         {"adds_if_canceled", json(mark.adds_if_undone)}});
    }
    return {200, std::move(data)};
}

std::vector<mark_locator> console_views::marks_of(transaction_id const& id,
                                                  transaction_descriptor const& type,
                                                  std::string& problem) {
    auto const ports = engine_.ports();
    std::vector<mark_locator> own;
    auto const add = [&](std::string const& sentence) {
        problem.append(problem.empty() ? "" : "; ").append(sentence);
    };
    auto const look_in = [&](std::size_t index) -> error {
        limited_wait const within{limit_};
        auto const until = deadline_after(limit_);
        std::optional<mark_locator> after;
        for (std::size_t count = page_size; count == page_size;) {
            if (std::chrono::steady_clock::now() >= until) {
                add("there was no time to see all marks of '" + ports.names[index] + "'");
                return {};
            }
            auto const page = ports.stores[index]->marks(after, page_size);
            if (!page.has_value()) return page.problem();
            for (mark_locator const& mark : page.value()) {
                if (mark.id == id) own.push_back(mark);
            }
            count = page.value().size();
            if (count != 0) after = page.value().back();
        }
        return {};
    };
    for (std::size_t index = 0; index < ports.stores.size(); ++index) {
        auto const& parts = type.participants;
        bool const has_part = std::any_of(parts.begin(), parts.end(), [&](auto const& part) {
            return store_of(ports, part) == index;
        });
        if (!has_part) continue;
        silent_[index] = look_in(index);
        if (silent_[index].empty()) continue;
        add("the marks in '" + ports.names[index] + "' are not known: " + silent_[index].message());
    }
    return own;
}

} // namespace detail
SETTLE_END
