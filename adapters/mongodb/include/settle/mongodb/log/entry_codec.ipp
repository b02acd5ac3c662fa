// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_codec.hpp declares.
#pragma once

#include <settle/mongodb/log/document_reader.hpp>
#include <settle/mongodb/log/entry_codec.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

SETTLE_FUNCTION document entry_codec::encode(entry_write const& write,
                                             write_context const& context) const {
    document made;
    for (auto const field : settle::detail::fields_inserted()) append(made, field, write, context);
    return made;
}

SETTLE_FUNCTION document entry_codec::change_of(entry_write const& write,
                                                write_context const& context) const {
    document set;
    for (auto const field : settle::detail::fields_changed_by(write.action)) {
        if (field != entry_field::open) append(set, field, write, context);
    }
    document change;
    change.object("$set", set);
    if (layout_->is_own && is_final(write.change.to)) {
        change.object("$unset", document{}.text("open", ""));
    }
    return change;
}

SETTLE_FUNCTION document entry_codec::commit_of(epoch committed) {
    document set;
    return only("$set", set.integer("committed", static_cast<std::int64_t>(committed)));
}

SETTLE_FUNCTION std::string entry_codec::decode(document const& from, entry& into) const {
    document_reader read{from, *layout_};
    read_id(read, into);
    layout_->read_type(read, into);
    read_state(read, into);
    settle::detail::read_members(
        into, [&](entry_field field, auto& member) { read.member(field, member); });
    auto const created = from.find("created");
    if (!created || created->is_null()) into.created = creation_of(from, into);
    // As in tutorial_entries: an initial entry with an owner counts as pending.
    bool const initial = !layout_->is_own && into.state == state::initial;
    if (initial && !into.owner.empty()) into.state = state::pending;
    return read.problem();
}

SETTLE_FUNCTION void entry_codec::append(document& to, entry_field field, entry_write const& write,
                                         write_context const& context) const {
    if (field == entry_field::id) return layout_->append_id(to, "_id", *write.id);
    bool const initial = write.inserts && write.change.to == state::initial;
    // In another layout an initial entry has no owner, so that any program may claim it.
    bool const absent = field == entry_field::open || (field == entry_field::owner && initial);
    if (!layout_->is_own && absent) return;
    auto const name = layout_->name_of(field);
    auto const put = [&]<typename Value>(Value const& value) {
        if constexpr (std::is_same_v<Value, transaction_descriptor>)
            layout_->append_parameters(to, write);
        else if constexpr (std::is_same_v<Value, state>) to.text(name, layout_->name_of(value));
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
SETTLE_FUNCTION void entry_codec::read_id(document_reader& read, entry& into) const {
    auto const id = read.find("_id");
    if (auto const text = id ? id->id() : std::nullopt) into.id = *text;
    if (id && layout_->finds(*id)) return;
    read.wrong("_id", "is of another kind than the ids of this log");
    if (!id || !into.id.empty()) return;
    document shown;
    shown.copy("_id", *id);
    into.id = take_text(bson_as_relaxed_extended_json(shown.native(), nullptr));
}

/// An entry with an unreadable state counts as unfinished, and no worker continues it.
SETTLE_FUNCTION void entry_codec::read_state(document_reader& read, entry& into) const {
    std::string text;
    read.field(layout_->state_field, text);
    if (layout_->read_state(text, into.state)) return;
    into.state = state::pending;
    read.wrong(layout_->state_field, "is '" + text + "', which is no known state");
}

/// Without a creation time, an ObjectId holds the creation, and the last change is later.
SETTLE_FUNCTION timestamp entry_codec::creation_of(document const& from, entry const& read) {
    auto const id = from.find("_id");
    if (!id || id->type() != BSON_TYPE_OID) return read.modified;
    std::chrono::seconds const born{bson_oid_get_time_t(bson_iter_oid(id->iterator()))};
    return timestamp{born};
}

} // namespace mongodb::detail
SETTLE_END
