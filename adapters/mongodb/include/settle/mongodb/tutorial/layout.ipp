// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that layout.hpp declares.
#pragma once

#include <settle/mongodb/log/document_reader.hpp>
#include <settle/mongodb/tutorial/layout.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

SETTLE_BEGIN

namespace mongodb::detail {

inline constexpr std::array<spelling, 3> all_spellings{spelling::lower, spelling::upper,
                                                       spelling::capitalised};
inline constexpr std::array<std::pair<std::string_view, state>, 10> all_state_names{
    {{"initial", state::initial},
     {"pending", state::pending},
     {"applied", state::applied},
     {"committed", state::applied},
     {"done", state::done},
     {"canceling", state::canceling},
     {"cancelling", state::canceling},
     {"canceled", state::canceled},
     {"cancelled", state::canceled},
     {"deciding", state::deciding}}};

[[nodiscard]] SETTLE_FUNCTION std::string spelled(std::string name, spelling how) {
    for (std::size_t index = 0; index < name.size(); ++index) {
        bool const upper = how == spelling::upper || (how == spelling::capitalised && index == 0);
        char& letter = name[index];
        if (upper && letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    }
    return name;
}

/// Adds every spelling of a state to an array that has `count` elements.
SETTLE_FUNCTION void append_spellings(document& to, state value, std::size_t& count) {
    for (auto const& [name, named] : all_state_names) {
        if (named != value) continue;
        for (auto const how : all_spellings) {
            to.text(std::to_string(count++), spelled(std::string{name}, how));
        }
    }
}

SETTLE_FUNCTION void refuse_layout(std::string const& because) {
    raise(errc::unfit_store, "settle: this tutorial_layout cannot be used: " + because +
                                 ". See mongodb#coming-from-the-tutorial");
}

SETTLE_FUNCTION tutorial_entries::tutorial_entries(tutorial_layout names, std::string type,
                                                   std::uint64_t definition,
                                                   std::vector<parameter> members)
    : names_(std::move(names)), type_(std::move(type)), definition_(definition),
      members_(std::move(members)) {
    collection = names_.transactions;
    state_field = names_.state;
    modified_field = names_.modified;
    owner_field = names_.application;
    is_own = false;
    has_several_forms = names_.ids == id_kind::any;
    check();
}

SETTLE_FUNCTION void tutorial_entries::check() const {
    for (auto const& [member, field] : names_.fields) {
        // clang 14 cannot capture a structured binding directly.
        auto const is_member = [&name = member](parameter const& parameter) {
            return parameter.name == name;
        };
        if (std::none_of(members_.begin(), members_.end(), is_member)) {
            refuse_layout("the parameters of '" + type_ + "' have no member '" + member +
                          "', for which it names the field '" + field + "'");
        }
    }
    std::set<std::string, std::less<>> taken;
    for (auto const field : settle::detail::all_entry_fields) {
        bool const named = field == entry_field::state || field == entry_field::modified ||
                           field == entry_field::owner;
        // Entries of this layout have no field `open`.
        if (!named && field != entry_field::open) taken.emplace(name_of(field));
    }
    auto const take = [&](std::string const& field, std::string const& what) {
        if (field.empty() || field.starts_with('$') ||
            field.find_first_of(std::string_view{".\0", 2}) != std::string::npos) {
            refuse_layout("'" + field + "', for " + what + ", is no name of a field");
        }
        if (!taken.insert(field).second) {
            refuse_layout("the field '" + field + "', for " + what +
                          ", holds something else in settle's entries already. Give " + what +
                          " another");
        }
    };
    bool const special =
        names_.transactions.starts_with("system.") || names_.transactions.starts_with("settle_");
    if (names_.transactions.empty() || special ||
        names_.transactions.find_first_of(std::string_view{"$\0", 2}) != std::string::npos) {
        refuse_layout("'" + names_.transactions +
                      "', for the transactions, is no name of a "
                      "collection of theirs");
    }
    take(names_.state, "the state");
    take(names_.modified, "the last change");
    take(names_.application, "the application");
    for (auto const& member : members_) {
        take(std::string{field_of(member.name)}, "the parameter '" + member.name + "'");
    }
    taken.clear();
    if (names_.key != "_id") take(names_.key, "the key of the records");
    for (auto const& [member, field] : names_.record_fields) {
        take(field, "the member '" + member + "' of the records");
    }
    state read{};
    if (!read_state(names_.applied, read) || read != state::applied) {
        refuse_layout("its name for applied is 'applied' or 'committed', not '" + names_.applied +
                      "'");
    }
    if (!read_state(names_.canceled, read) || read != state::canceled) {
        refuse_layout("its name for canceled is 'canceled' or 'cancelled', not '" +
                      names_.canceled + "'");
    }
}

SETTLE_FUNCTION bool tutorial_entries::is_parameter(std::string_view field) const {
    return std::any_of(members_.begin(), members_.end(),
                       [&](parameter const& member) { return field_of(member.name) == field; });
}

SETTLE_FUNCTION void tutorial_entries::append_id(document& to, std::string_view name,
                                                 transaction_id const& id) const {
    if (names_.ids == id_kind::number && is_number(id)) to.integer(name, std::stoll(id));
    else if (names_.ids == id_kind::object_id && is_object_id(id)) to.object_id(name, id);
    else to.text(name, id);
}

SETTLE_FUNCTION void tutorial_entries::append_forms(document& to, transaction_id const& id,
                                                    std::size_t& count) const {
    if (names_.ids == id_kind::any) append_all_forms(to, id, count);
    else append_id(to, std::to_string(count++), id);
}

SETTLE_FUNCTION bool tutorial_entries::finds(value_view const& stored) const {
    auto const id = stored.id();
    if (!id) return false;
    if (names_.ids == id_kind::any) return !stored.integer() || is_number(*id);
    document same;
    append_id(same, "_id", *id);
    auto const looked_for = same.find("_id");
    return looked_for->type() == stored.type() ||
           (looked_for->integer() && looked_for->integer() == stored.integer());
}

SETTLE_FUNCTION document tutorial_entries::readable_ids() const {
    document kinds;
    kinds.text("0", "string").text("1", "int").text("2", "long");
    kinds.text("3", "double").text("4", "objectId");
    document condition;
    return std::move(condition.array("$type", kinds));
}

/// The document of an id that is shown in its stored form; empty for any other id.
[[nodiscard]] SETTLE_FUNCTION document shown_id(transaction_id const& id) {
    bson_error_t ignored{};
    if (!id.starts_with("{ \"_id\" : ")) return {};
    bson_t* const made = bson_new_from_json(reinterpret_cast<std::uint8_t const*>(id.data()),
                                            static_cast<ssize_t>(id.size()), &ignored);
    return made == nullptr ? document{} : document::adopt(made);
}

SETTLE_FUNCTION document tutorial_entries::locator_of(link& client,
                                                      transaction_id const& id) const {
    document forms;
    std::size_t count = 0;
    append_all_forms(forms, id, count);
    document locator;
    client.find(collection, only("_id", document{}.array("$in", forms)), {}, "read an entry",
                [&](document document) { locator = std::move(document); });
    if (locator.empty()) locator = shown_id(id);
    if (locator.empty()) append_id(locator, "_id", id);
    return locator;
}

SETTLE_FUNCTION void tutorial_entries::append_after(document& query,
                                                    value_view const& after) const {
    query.object("_id", readable_ids());
    detail::append_after(query, "_id", after);
}

SETTLE_FUNCTION std::string tutorial_entries::name_of(state value) const {
    std::string name{settle::name_of(value)};
    if (value == state::applied) name = names_.applied;
    if (value == state::canceled) name = names_.canceled;
    return spelled(std::move(name), names_.states);
}

SETTLE_FUNCTION bool tutorial_entries::read_state(std::string_view text, state& into) const {
    for (auto const& [name, value] : all_state_names) {
        for (auto const how : all_spellings) {
            if (spelled(std::string{name}, how) != text) continue;
            into = value;
            return true;
        }
    }
    return false;
}

[[nodiscard]] SETTLE_FUNCTION document no_owner() {
    document none;
    none.null("0").text("1", "");
    document made;
    made.array("$in", none);
    return made;
}

SETTLE_FUNCTION document tutorial_entries::without_owner() const {
    document spellings;
    std::size_t count = 0;
    append_spellings(spellings, state::initial, count);
    document condition;
    condition.object(state_field, document{}.array("$in", spellings));
    condition.object(owner_field, no_owner());
    return condition;
}

SETTLE_FUNCTION void tutorial_entries::append_states(document& query,
                                                     std::initializer_list<state> states) const {
    document spellings;
    std::size_t count = 0;
    for (state const value : states) append_spellings(spellings, value, count);
    state const only_state = states.size() == 1 ? *states.begin() : state::done;
    if (only_state == state::pending) append_spellings(spellings, state::initial, count);
    query.object(state_field, document{}.array("$in", spellings));
    if (only_state == state::pending) query.array("$nor", document{}.object_at(0, without_owner()));
    if (only_state == state::initial) query.object(owner_field, no_owner());
}

SETTLE_FUNCTION void tutorial_entries::append_unfinished(document& query) const {
    document spellings;
    std::size_t count = 0;
    for (state const value : {state::done, state::canceled}) {
        append_spellings(spellings, value, count);
    }
    query.array("$nor", document{}.object_at(0, without_owner()));
    query.object(state_field, document{}.array("$nin", spellings));
}

/// The seconds in a count of milliseconds, within the range of a timestamp or an ObjectId.
[[nodiscard]] SETTLE_FUNCTION std::uint32_t seconds_of(std::int64_t count) {
    constexpr std::int64_t last = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count / 1000, 0, last));
}

SETTLE_FUNCTION void tutorial_entries::append_other_times(std::vector<document>& any,
                                                          entry_filter const& filter) const {
    auto const& modified = modified_field;
    auto const before = count_of(*filter.before);
    any.push_back(only(modified, document{}.timestamp("$lte", seconds_of(before))));
    any.push_back(only(modified, document{}.integer("$lte", before)));
    document times;
    times.text("0", "date").text("1", "timestamp").text("2", "number");
    any.push_back(only(modified, only("$not", document{}.array("$type", times))));
    if (!filter.ahead_of) return;
    auto const ahead = count_of(*filter.ahead_of);
    any.push_back(only(modified, document{}.timestamp("$gt", seconds_of(ahead))));
    any.push_back(only(modified, document{}.integer("$gt", ahead)));
    std::string const last = settle::detail::hex_of(seconds_of(ahead)).substr(8);
    document late;
    late.object("_id", document{}.object_id("$gt", last + std::string(16, 'f')));
    any.push_back(std::move(late.object("created", document{}.null("$eq"))));
}

SETTLE_FUNCTION void tutorial_entries::append_parameters(document& to,
                                                         entry_write const& write) const {
    if (write.type->name() != type_) return entry_layout::append_parameters(to, write);
    auto const parameters = document_of_json(write.type->json(write.parameters));
    parameters.for_each([&](value_view const& value) {
        to.copy(field_of(value.name()), value);
        return true;
    });
}

SETTLE_FUNCTION void tutorial_entries::read_type(document_reader& reader, entry& into) const {
    // Other programs may have a field `type`; only settle writes `definition`.
    if (reader.find("definition")) {
        read_named_type(reader, into);
    } else if (has_parameters(reader)) {
        into.type = type_;
        into.definition = definition_;
    }
    if (into.type.empty()) return;
    if (into.type == type_) read_fields(reader, into);
    else read_parameters(reader, into);
}

SETTLE_FUNCTION bool tutorial_entries::has_parameters(document_reader const& reader) const {
    return std::any_of(members_.begin(), members_.end(), [&](auto const& member) {
        return reader.find(field_of(member.name)).has_value();
    });
}

/// Reads parameters that are fields of the entry itself, into the form of the core's codec.
SETTLE_FUNCTION void tutorial_entries::read_fields(document_reader& reader, entry& into) const {
    into.parameters = "{";
    for (auto const& member : members_) {
        std::string const field{field_of(member.name)};
        auto const value = reader.find(field);
        if (into.parameters.size() > 1) into.parameters += ',';
        append_json_text(into.parameters, member.name);
        into.parameters += ':';
        auto const id = value && member.text ? value->id() : std::nullopt;
        if (!value && member.optional) {
            into.parameters += "null";
        } else if (id) {
            append_json_text(into.parameters, *id);
        } else if (!value || !append_json_of(into.parameters, *value)) {
            reader.wrong(field, "is missing, or of a kind that parameters never have");
        }
    }
    into.parameters += '}';
}

/// The settings that decide how a tutorial's entries are found and read. Different texts mean
/// different logs, even in one collection.
SETTLE_FUNCTION std::string tutorial_entries::description() const {
    constexpr std::array<std::string_view, 4> kinds{"any", "text", "number", "object_id"};
    std::string text = "type=" + type_;
    for (auto fields : {names_.fields, names_.record_fields}) {
        std::sort(fields.begin(), fields.end());
        for (auto const& [member, field] : fields) {
            if (member != field) text.append(" ").append(member).append("=").append(field);
        }
    }
    text.append(" state=").append(names_.state).append(" modified=").append(names_.modified);
    text.append(" application=").append(names_.application).append(" ids=");
    text.append(kinds[static_cast<std::size_t>(names_.ids)]).append(" key=").append(names_.key);
    return text;
}

} // namespace mongodb::detail

SETTLE_END
