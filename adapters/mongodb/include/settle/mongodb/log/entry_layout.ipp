// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_layout.hpp declares.
#pragma once

#include <settle/mongodb/log/document_reader.hpp>
#include <settle/mongodb/log/entry_layout.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION entry_layout const& own_entries() {
    static entry_layout const own;
    return own;
}

SETTLE_FUNCTION document entry_layout::encode(entry_write const& write,
                                              write_context const& context) const {
    document encoded;
    for (auto const field : settle::detail::fields_inserted()) {
        append(encoded, field, write, context);
    }
    return encoded;
}

SETTLE_FUNCTION document entry_layout::change_of(entry_write const& write,
                                                 write_context const& context) const {
    document set;
    for (auto const field : settle::detail::fields_changed_by(write.action)) {
        if (field != entry_field::open) append(set, field, write, context);
    }
    document change;
    change.object("$set", set);
    if (is_own && is_final(write.change.to)) {
        change.object("$unset", document{}.text("open", ""));
    }
    return change;
}

SETTLE_FUNCTION document entry_layout::commit_of(epoch committed) {
    document set;
    return only("$set", set.integer("committed", static_cast<std::int64_t>(committed)));
}

/// Without a creation time, an ObjectId holds the creation, and the last change is later.
[[nodiscard]] SETTLE_FUNCTION timestamp creation_of(document const& from, entry const& read) {
    auto const id = from.find("_id");
    if (!id || id->type() != BSON_TYPE_OID) return read.modified;
    std::chrono::seconds const born{bson_oid_get_time_t(bson_iter_oid(id->iterator()))};
    return timestamp{born};
}

SETTLE_FUNCTION std::string entry_layout::decode(document const& from, entry& into) const {
    document_reader reader{from, *this};
    read_id(reader, into);
    read_type(reader, into);
    read_state_of(reader, into);
    settle::detail::read_members(
        into, [&](entry_field field, auto& member) { reader.member(field, member); });
    auto const created = from.find("created");
    if (!created || created->is_null()) into.created = creation_of(from, into);
    // As in tutorial_entries: an initial entry with an owner counts as pending.
    bool const initial = !is_own && into.state == state::initial;
    if (initial && !into.owner.empty()) into.state = state::pending;
    return reader.problem();
}

SETTLE_FUNCTION void entry_layout::append(document& to, entry_field field, entry_write const& write,
                                          write_context const& context) const {
    if (field == entry_field::id) return append_id(to, "_id", *write.id);
    bool const initial = write.inserts && write.change.to == state::initial;
    // In another layout an initial entry has no owner, so that any program may claim it.
    bool const absent = field == entry_field::open || (field == entry_field::owner && initial);
    if (!is_own && absent) return;
    auto const name = name_of(field);
    auto const put = [&]<typename Value>(Value const& value) {
        if constexpr (std::is_same_v<Value, transaction_descriptor>) append_parameters(to, write);
        else if constexpr (std::is_same_v<Value, state>) to.text(name, name_of(value));
        else if constexpr (std::is_same_v<Value, reason>) to.text(name, settle::name_of(value));
        else if constexpr (std::is_same_v<Value, std::string_view>) to.text(name, value);
        else if constexpr (std::is_same_v<Value, epoch>) {
            to.integer(name, static_cast<std::int64_t>(value));
        } else if constexpr (std::is_same_v<Value, bool>) {
            if (value) to.boolean(name, true);
        } else if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, timestamp>) {
            append_field(to, name, value);
        } else {
            to.array(name, array_of(value));
        }
    };
    settle::detail::with_value(field, write, context, put);
}

/// An unreadable id is shown in its stored form.
SETTLE_FUNCTION void entry_layout::read_id(document_reader& reader, entry& into) const {
    auto const id = reader.find("_id");
    if (auto const text = id ? id->id() : std::nullopt) into.id = *text;
    if (id && finds(*id)) return;
    reader.wrong("_id", "is of another kind than the ids of this log");
    if (!id || !into.id.empty()) return;
    document shown;
    shown.copy("_id", *id);
    into.id = take_text(bson_as_relaxed_extended_json(shown.native(), nullptr));
}

/// An entry with an unreadable state counts as unfinished, and no worker continues it.
SETTLE_FUNCTION void entry_layout::read_state_of(document_reader& reader, entry& into) const {
    std::string text;
    reader.field(state_field, text);
    if (read_state(text, into.state)) return;
    into.state = state::pending;
    reader.wrong(state_field, "is '" + text + "', which is no known state");
}

/// A field that is absent means 0.
SETTLE_FUNCTION void append_number(document& filter, std::string_view name, std::uint64_t number) {
    if (number != 0) {
        filter.integer(name, static_cast<std::int64_t>(number));
        return;
    }
    document none;
    document among;
    filter.object(name, among.array("$in", none.integer("0", 0).null("1")));
}

SETTLE_FUNCTION document entry_layout::filter_of(transaction_id const& id) const {
    document filter;
    if (!has_several_forms) {
        append_id(filter, "_id", id);
        return filter;
    }
    document forms;
    std::size_t count = 0;
    append_forms(forms, id, count);
    document among;
    return only("_id", among.array("$in", forms));
}

SETTLE_FUNCTION document entry_layout::filter_of(transaction_id const& id,
                                                 transition const& change) const {
    document filter = filter_of(id);
    append_states(filter, {change.from});
    append_number(filter, "epoch", change.from_epoch);
    append_number(filter, "revision", change.from_revision);
    return filter;
}

SETTLE_FUNCTION document entry_layout::query_of(entry_filter const& filter,
                                                document const& after) const {
    document query;
    if (auto const id = after.find("_id")) append_after(query, *id);
    else query.object("_id", readable_ids());
    append_conditions(query, filter);
    return query;
}

SETTLE_FUNCTION document entry_layout::query_of_unreadable(entry_filter const& filter) const {
    document query;
    query.object("_id", only("$not", readable_ids()));
    append_conditions(query, filter);
    return query;
}

SETTLE_FUNCTION document entry_layout::query_of_finished(timestamp before,
                                                         std::int64_t passed) const {
    document query;
    append_states(query, {state::done, state::canceled, state::barred});
    document created;
    document modified;
    created.date("$gte", passed).date("$lt", count_of(before));
    query.object("created", created);
    query.object(modified_field, modified.date("$lt", count_of(before)));
    return query;
}

SETTLE_FUNCTION document entry_layout::options_for_match() {
    document fields;
    fields.integer("state", 1).integer("epoch", 1).integer("revision", 1);
    return only("projection", fields);
}

SETTLE_FUNCTION bool entry_layout::matches(document const& stored, transition const& change) {
    auto const state = stored.find("state");
    auto const number = stored.find("epoch");
    auto const revision = stored.find("revision");
    return state && state->text() == settle::name_of(change.from) && number &&
           number->integer() == static_cast<std::int64_t>(change.from_epoch) &&
           (revision ? revision->integer() : 0) == change.from_revision;
}

SETTLE_FUNCTION void entry_layout::append_conditions(document& query,
                                                     entry_filter const& filter) const {
    if (filter.state) append_states(query, {*filter.state});
    else if (filter.unfinished) append_unfinished(query);
    bool const open = filter.state ? !is_final(*filter.state) : filter.unfinished;
    if (open && is_own) query.boolean("open", true);
    if (filter.before) append_stalled(query, filter);
}

SETTLE_FUNCTION void entry_layout::append_stalled(document& query,
                                                  entry_filter const& filter) const {
    std::vector<document> any;
    auto const by = [&](std::string_view name, document const& condition) {
        any.push_back(only(name, condition));
    };
    auto const& modified = modified_field;
    auto const before = count_of(*filter.before);
    by(modified, document{}.date("$lte", before));
    if (filter.ahead_of) {
        by(modified, document{}.date("$gt", count_of(*filter.ahead_of)));
        by("created", document{}.date("$gt", count_of(*filter.ahead_of)));
    }
    append_other_times(any, filter);
    document alternatives;
    for (std::size_t index = 0; index < any.size(); ++index) {
        alternatives.object_at(index, any[index]);
    }
    query.array("$or", alternatives);
}

SETTLE_FUNCTION std::string_view entry_layout::name_of(entry_field field) const {
    switch (field) {
    case entry_field::id: return "_id";
    case entry_field::state: return state_field;
    case entry_field::owner: return owner_field;
    case entry_field::modified: return modified_field;
    default: return settle::detail::name_of(field);
    }
}

SETTLE_FUNCTION bool entry_layout::is_parameter(std::string_view) const { return false; }

SETTLE_FUNCTION void entry_layout::append_id(document& to, std::string_view name,
                                             transaction_id const& id) const {
    to.text(name, id);
}

SETTLE_FUNCTION void entry_layout::append_forms(document& to, transaction_id const& id,
                                                std::size_t& count) const {
    append_id(to, std::to_string(count++), id);
}

SETTLE_FUNCTION bool entry_layout::finds(value_view const& stored) const {
    return stored.text().has_value();
}

SETTLE_FUNCTION document entry_layout::readable_ids() const {
    document kinds;
    document condition;
    return std::move(condition.array("$type", kinds.text("0", "string")));
}

SETTLE_FUNCTION document entry_layout::locator_of(link&, transaction_id const& id) const {
    document locator;
    append_id(locator, "_id", id);
    return locator;
}

SETTLE_FUNCTION void entry_layout::append_after(document& query, value_view const& after) const {
    query.object("_id", document{}.copy("$gt", after));
}

SETTLE_FUNCTION std::string entry_layout::name_of(state value) const {
    return std::string{settle::name_of(value)};
}

SETTLE_FUNCTION bool entry_layout::read_state(std::string_view text, state& into) const {
    for (state const value : all_states) {
        if (settle::name_of(value) != text) continue;
        into = value;
        return true;
    }
    return false;
}

SETTLE_FUNCTION void entry_layout::append_states(document& query,
                                                 std::initializer_list<state> states) const {
    if (states.size() == 1) {
        query.text(state_field, settle::name_of(*states.begin()));
        return;
    }
    document names;
    std::size_t count = 0;
    for (state const value : states) {
        names.text(std::to_string(count++), settle::name_of(value));
    }
    query.object(state_field, document{}.array("$in", names));
}

SETTLE_FUNCTION void entry_layout::append_unfinished(document& query) const {
    document names;
    std::size_t count = 0;
    for (state const value : {state::done, state::canceled, state::initial}) {
        names.text(std::to_string(count++), settle::name_of(value));
    }
    query.object(state_field, document{}.array("$nin", names));
}

SETTLE_FUNCTION void entry_layout::append_other_times(std::vector<document>&,
                                                      entry_filter const&) const {}

SETTLE_FUNCTION void entry_layout::append_parameters(document& to, entry_write const& write) const {
    to.object("parameters", document_of_json(write.type->json(write.parameters)));
}

SETTLE_FUNCTION void entry_layout::read_type(document_reader& reader, entry& into) const {
    if (!reader.find("type")) return;
    read_named_type(reader, into);
    if (!into.type.empty()) read_parameters(reader, into);
}

SETTLE_FUNCTION std::string entry_layout::description() const { return {}; }

} // namespace mongodb::detail

SETTLE_END
