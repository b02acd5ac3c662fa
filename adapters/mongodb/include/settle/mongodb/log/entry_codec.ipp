// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_codec.hpp declares.
#pragma once

#include <settle/mongodb/connection/error.hpp>
#include <settle/mongodb/log/entry_codec.hpp>
#include <settle/mongodb/records/field_codec.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Source:  the core's codec writes parameters, so the members are the struct's
[[nodiscard]] inline document document_of_json(std::string const& text) {
    bson_error_t problem{};
    bson_t* const made = bson_new_from_json(reinterpret_cast<std::uint8_t const*>(text.data()),
                                            static_cast<ssize_t>(text.size()), &problem);
    if (made == nullptr) {
        raise(errc::bad_parameters,
              "settle: these parameters make no document: " + std::string{problem.message} +
                  ". See mongodb#what-is-stored");
    }
    return document::adopt(made);
}

/// Appends a value in the form of the core's codec. False for a kind that the codec never writes.
[[nodiscard]] inline bool append_json_of(std::string& out, value_view const& value) {
    if (value.is_null()) {
        out += "null";
    } else if (auto const text = value.text()) {
        append_json_text(out, *text);
    } else if (auto const number = value.integer()) {
        append_json_integer(out, *number);
    } else if (auto const truth = value.boolean()) {
        out += *truth ? "true" : "false";
    } else if (value.type() == BSON_TYPE_DOCUMENT || value.type() == BSON_TYPE_ARRAY) {
        bool const is_array = value.type() == BSON_TYPE_ARRAY;
        bool good = true;
        bool separate = false;
        out += is_array ? '[' : '{';
        value.for_each([&](value_view const& one) {
            if (std::exchange(separate, true)) out += ',';
            if (!is_array) {
                append_json_text(out, one.name());
                out += ':';
            }
            return good = append_json_of(out, one);
        });
        out += is_array ? ']' : '}';
        return good;
    } else {
        return false;
    }
    return true;
}

/// Calls `function(name, member)` for each member of an image or a result.
template <typename Part, typename Function>
void for_each_member_of(Part& one, Function&& function) {
    function("participant", one.participant);
    function("line", one.line);
    if constexpr (std::is_same_v<std::remove_const_t<Part>, image>) {
        function("before", one.before);
        function("after", one.after);
    } else {
        function("value", one.value);
        function("closed", one.closed);
    }
}

template <typename Part>
[[nodiscard]] document array_of(std::vector<Part> const& all) {
    document made;
    std::size_t number = 0;
    for (Part const& one : all) {
        document element;
        for_each_member_of(one, [&](char const* name, auto const& member) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>,
                                         std::optional<std::string>>) {
                if (member) append_field(element, name, *member);
            } else {
                append_field(element, name, member);
            }
        });
        made.object_at(number++, element);
    }
    return made;
}

/// Reads fields of an entry, and keeps the first problem.
class document_reader {
public:
    document_reader(document const& from, entry_layout const& layout)
        : from_(from), layout_(layout) {}

    void wrong(std::string_view name, std::string_view what) {
        if (problem_.empty()) problem_ = "its '" + std::string{name} + "' " + std::string{what};
    }
    template <typename Field>
    void field(std::string_view name, Field& value, bool needed = true) {
        auto const found = from_.find(name);
        bool const none = !found || found->is_null();
        if (none && needed) wrong(name, "is missing");
        if (none) return;
        if (auto const what = read_field(*found, value); !what.empty()) wrong(name, what);
    }
    template <typename Member>
    void member(entry_field which, Member& value) {
        auto const name = layout_.name_of(which);
        if constexpr (std::is_same_v<Member, std::string>) {
            // Only people read it, so no value of it makes an entry unusable.
            if (which == entry_field::reason_text) {
                auto const stored = from_.find(name);
                auto const text = stored ? stored->text() : std::nullopt;
                value = settle::detail::bounded_reason(text.value_or(std::string_view{}));
                return;
            }
        }
        bool const needed = !layout_.is_tutorial() && !may_be_absent(which);
        if constexpr (std::is_same_v<Member, epoch>) {
            std::int64_t stored = 0;
            field(name, stored, needed);
            if (stored < 0) wrong(name, "holds no epoch");
            else value = static_cast<epoch>(stored);
        } else if constexpr (std::is_same_v<Member, reason>) {
            std::string text;
            field(name, text, needed);
            if (!text.empty() && !read_reason(text, value)) wrong(name, "is no known reason");
        } else {
            field(name, value, needed);
        }
    }
    template <typename Part>
    void member(entry_field which, std::vector<Part>& into) {
        auto const name = layout_.name_of(which);
        auto const list = from_.find(name);
        if (!list || list->is_null()) return;
        if (list->type() != BSON_TYPE_ARRAY) return wrong(name, "is no array");
        list->for_each([&](value_view const& one) {
            for_each_member_of(into.emplace_back(), [&](char const* part, auto& value) {
                auto const stored = one.find(part);
                // Only a part that a person closed has the reason.
                bool const may_be_absent = std::is_same_v<std::remove_reference_t<decltype(value)>,
                                                          std::optional<std::string>>;
                bool const good = stored ? read_field(*stored, value).empty() : may_be_absent;
                if (!good) wrong(name, "is damaged");
            });
            return true;
        });
    }
    [[nodiscard]] std::optional<value_view> find(std::string_view name) const {
        return from_.find(name);
    }
    [[nodiscard]] std::string const& problem() const noexcept { return problem_; }

private:
    static bool read_reason(std::string_view text, reason& into) {
        auto const found = std::find_if(all_reasons.begin(), all_reasons.end(),
                                        [&](reason one) { return settle::name_of(one) == text; });
        bool const is_none = settle::name_of(reason::none) == text;
        into = found == all_reasons.end() ? reason::none : *found;
        return found != all_reasons.end() || is_none;
    }

    document const& from_;
    entry_layout const& layout_;
    std::string problem_;
};

SETTLE_FUNCTION document entry_codec::encode(entry_write const& write,
                                             write_context const& at) const {
    document made;
    for (auto const field : settle::detail::fields_inserted()) append(made, field, write, at);
    return made;
}

SETTLE_FUNCTION document entry_codec::change_of(entry_write const& write,
                                                write_context const& at) const {
    document set;
    for (auto const field : settle::detail::fields_changed_by(write.action)) {
        if (field != entry_field::open) append(set, field, write, at);
    }
    document change;
    change.object("$set", set);
    if (!layout_.is_tutorial() && is_final(write.change.to)) {
        change.object("$unset", document{}.text("open", ""));
    }
    return change;
}

SETTLE_FUNCTION document entry_codec::commit_of(epoch committed) {
    document set;
    return only("$set", set.integer("committed", static_cast<std::int64_t>(committed)));
}

SETTLE_FUNCTION std::string entry_codec::decode(document const& from, entry& into) const {
    document_reader read{from, layout_};
    read_id(read, into);
    read_type(read, into);
    read_state(read, into);
    settle::detail::read_members(
        into, [&](entry_field field, auto& member) { read.member(field, member); });
    auto const created = from.find("created");
    if (!created || created->is_null()) into.created = creation_of(from, into);
    // As in entry_finder: an initial entry with an owner counts as pending.
    bool const initial = layout_.is_tutorial() && into.state == state::initial;
    if (initial && !into.owner.empty()) into.state = state::pending;
    return read.problem();
}

SETTLE_FUNCTION void entry_codec::append(document& to, entry_field field, entry_write const& write,
                                         write_context const& at) const {
    if (field == entry_field::id) return layout_.append_id(to, "_id", *write.id);
    bool const initial = write.inserts && write.change.to == state::initial;
    // In the tutorial's layout an initial entry has no owner, so that any program may claim it.
    bool const absent = field == entry_field::open || (field == entry_field::owner && initial);
    if (layout_.is_tutorial() && absent) return;
    auto const name = layout_.name_of(field);
    auto const put = [&]<typename Value>(Value const& value) {
        if constexpr (std::is_same_v<Value, transaction_descriptor>) append_parameters(to, write);
        else if constexpr (std::is_same_v<Value, state>) to.text(name, layout_.name_of(value));
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
    settle::detail::with_value(field, write, at, put);
}

SETTLE_FUNCTION void entry_codec::append_parameters(document& to, entry_write const& write) const {
    auto const parameters = document_of_json(write.type->json(write.parameters));
    if (write.type->name() != layout_.type) {
        to.object("parameters", parameters);
        return;
    }
    parameters.for_each([&](value_view const& value) {
        to.copy(layout_.field_of(value.name()), value);
        return true;
    });
}

/// An unreadable id is shown in its stored form.
SETTLE_FUNCTION void entry_codec::read_id(document_reader& read, entry& into) const {
    auto const id = read.find("_id");
    if (auto const text = id ? id->id() : std::nullopt) into.id = *text;
    if (id && layout_.finds(*id)) return;
    read.wrong("_id", "is of another kind than the ids of this log");
    if (!id || !into.id.empty()) return;
    document shown;
    shown.copy("_id", *id);
    into.id = take_text(bson_as_relaxed_extended_json(shown.native(), nullptr));
}

/// An entry with an unreadable state counts as unfinished, and no worker continues it.
SETTLE_FUNCTION void entry_codec::read_state(document_reader& read, entry& into) const {
    std::string text;
    read.field(layout_.names.state, text);
    if (layout_.read_state(text, into.state)) return;
    into.state = state::pending;
    read.wrong(layout_.names.state, "is '" + text + "', which is no known state");
}

SETTLE_FUNCTION void entry_codec::read_type(document_reader& read, entry& into) const {
    // Other programs may have a field `type`; only settle writes `definition`.
    bool const named = read.find(layout_.is_tutorial() ? "definition" : "type").has_value();
    if (named) {
        read.field("type", into.type);
        std::string digits;
        read.field("definition", digits);
        if (!settle::detail::read_hex(digits, into.definition)) {
            read.wrong("definition", "is no number");
        }
    } else if (layout_.is_tutorial() && has_parameters(read)) {
        into.type = layout_.type;
        into.definition = layout_.definition;
    }
    if (into.type.empty()) return;
    if (into.type == layout_.type) return read_fields(read, into);
    auto const parameters = read.find("parameters");
    if (!parameters || parameters->type() != BSON_TYPE_DOCUMENT) {
        read.wrong("parameters", "is no document");
    } else if (!append_json_of(into.parameters, *parameters)) {
        read.wrong("parameters", "holds a value of a kind that parameters never have");
    }
}

SETTLE_FUNCTION bool entry_codec::has_parameters(document_reader const& read) const {
    return std::any_of(layout_.members.begin(), layout_.members.end(), [&](auto const& member) {
        return read.find(layout_.field_of(member.name)).has_value();
    });
}

/// Reads parameters that are fields of the entry itself, into the form of the core's codec.
SETTLE_FUNCTION void entry_codec::read_fields(document_reader& read, entry& into) const {
    into.parameters = "{";
    for (auto const& member : layout_.members) {
        std::string const field{layout_.field_of(member.name)};
        auto const value = read.find(field);
        if (into.parameters.size() > 1) into.parameters += ',';
        append_json_text(into.parameters, member.name);
        into.parameters += ':';
        auto const id = value && member.text ? value->id() : std::nullopt;
        if (!value && member.optional) {
            into.parameters += "null";
        } else if (id) {
            append_json_text(into.parameters, *id);
        } else if (!value || !append_json_of(into.parameters, *value)) {
            read.wrong(field, "is missing, or of a kind that parameters never have");
        }
    }
    into.parameters += '}';
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
