// SPDX-License-Identifier: BSL-1.0
// Entries as documents that a person can read:
//
//   { _id: "…", type: "transfer", definition: "0123456789abcdef", parameters: {…},
//     state: "pending", epoch: 5, committed: 5, owner: "host/1/2", created: date, modified: date,
//     attempts: 1, reason: "guard failed", participant: "source", line: 0,
//     images: [{participant: 0, line: 0, before: "{…}", after: "{…}"}], open: true,
//     revision: 1, stages_kept: 1, results: [{participant: 0, line: 0, value: "{…}"}] }
//
// `open` exists as long as the entry is unfinished, and the last three fields from the first keep
// on. In the tutorial's layout parameters stand
// beside the other fields, and only an id, a state and the parameters that are not optional are
// required.
#pragma once

#include <settle/mongodb/entry_finder.hpp>
#include <settle/mongodb/error.hpp>
#include <settle/mongodb/field_codec.hpp>
#include <settle/store/entry_facts.hpp>

#include <charconv>

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

[[nodiscard]] inline document encode_images(std::vector<image> const& images) {
    document all;
    std::size_t number = 0;
    for (image const& one : images) {
        document made;
        made.integer("participant", one.participant).integer("line", one.line);
        made.text("before", one.before).text("after", one.after);
        all.object_at(number++, made);
    }
    return all;
}

[[nodiscard]] inline document encode_results(std::vector<kept_result> const& results) {
    document all;
    std::size_t number = 0;
    for (kept_result const& one : results) {
        document made;
        made.integer("participant", one.participant).integer("line", one.line);
        all.object_at(number++, made.text("value", one.value));
    }
    return all;
}

/// Writes and reads entries in their layout.
class entry_codec {
public:
    explicit entry_codec(entry_layout layout) : layout_(std::move(layout)) {}

    [[nodiscard]] entry_layout const& layout() const noexcept { return layout_; }

    /// The document of a new entry.
    [[nodiscard]] document encode(entry_write const& write, write_context const& at) const {
        state const born = write.change.to;
        document made;
        layout_.append_id(made, "_id", *write.id);
        if (write.type->described) append_type(made, write);
        made.text(names().state, layout_.word_of(born));
        made.integer("epoch", static_cast<std::int64_t>(write.change.to_epoch));
        // An entry that any program may claim has no owner yet.
        if (!layout_.is_tutorial() || born != state::initial) {
            made.text(names().application, at.owner);
        }
        made.date("created", count_of(write.created)).date(names().modified, count_of(at.now));
        made.integer("attempts", 0);
        append_failed_part(made, write);
        if (write.images != nullptr) made.array("images", encode_images(*write.images));
        if (!layout_.is_tutorial() && !is_final(born)) made.boolean("open", true);
        return made;
    }

    [[nodiscard]] document change_of(entry_write const& write, write_context const& at) const {
        transition const& wanted = write.change;
        document set;
        set.text(names().state, layout_.word_of(wanted.to));
        set.integer("epoch", static_cast<std::int64_t>(wanted.to_epoch));
        if (wanted.committed != 0) {
            set.integer("committed", static_cast<std::int64_t>(wanted.committed));
        }
        set.integer("attempts", wanted.attempts);
        set.date(names().modified, count_of(at.now));
        if (wanted.takes_owner) set.text(names().application, at.owner);
        append_failed_part(set, write);
        if (write.images != nullptr) set.array("images", encode_images(*write.images));
        if (wanted.to_revision != wanted.from_revision) {
            set.integer("revision", wanted.to_revision).integer("stages_kept", wanted.stages_kept);
        }
        if (write.results != nullptr) set.array("results", encode_results(*write.results));
        document change;
        change.object("$set", set);
        if (!layout_.is_tutorial() && is_final(wanted.to)) {
            change.object("$unset", document{}.text("open", ""));
        }
        return change;
    }

    /// Stores only the committed epoch.
    [[nodiscard]] static document commit_of(epoch committed) {
        document set;
        return only("$set", set.integer("committed", static_cast<std::int64_t>(committed)));
    }

    /// Reads the legible parts of an entry. Returns the first problem, or an empty text.
    [[nodiscard]] std::string decode(document const& from, entry& into) const {
        entry_reader read{from};
        read_id(read, into);
        read_type(read, into);
        read_state(read, into);
        bool const whole = !layout_.is_tutorial();
        read.number("epoch", into.epoch_number, whole);
        read.number("committed", into.committed, false);
        read.field(names().application, into.owner, whole);
        if (taken_early(into)) into.state = state::pending;
        read.field(names().modified, into.modified, whole);
        into.created = birth_of(from, into);
        read.field("created", into.created, whole);
        read.field("attempts", into.attempts, whole);
        read_reason(read, into);
        read.field("participant", into.participant, false);
        read.field("line", into.line, false);
        read_list(read, "images", into.images, [](auto const& part, image& one) {
            part("before", one.before);
            part("after", one.after);
        });
        read.field("revision", into.revision, false);
        read.field("stages_kept", into.stages_kept, false);
        read_list(read, "results", into.results,
                  [](auto const& part, kept_result& one) { part("value", one.value); });
        return read.problem();
    }

private:
    /// Reads fields, and keeps the first problem.
    class entry_reader {
    public:
        explicit entry_reader(document const& from) : from_(from) {}

        void wrong(std::string_view name, std::string_view what) {
            if (problem_.empty()) problem_ = "its '" + std::string{name} + "' " + std::string{what};
        }
        template <typename Field>
        void field(std::string const& name, Field& value, bool needed = true) {
            auto const found = from_.find(name);
            bool const none = !found || found->is_null();
            if (none && needed) wrong(name, "is missing");
            if (none) return;
            if (auto const what = read_field(*found, value); !what.empty()) wrong(name, what);
        }
        void number(std::string const& name, epoch& value, bool needed) {
            std::int64_t stored = 0;
            field(name, stored, needed);
            if (stored < 0) wrong(name, "holds no epoch");
            else value = static_cast<epoch>(stored);
        }
        [[nodiscard]] std::optional<value_view> find(std::string_view name) const {
            return from_.find(name);
        }
        [[nodiscard]] std::string const& problem() const noexcept { return problem_; }

    private:
        document const& from_;
        std::string problem_;
    };

    /// As in entry_finder: an initial entry with an owner counts as pending.
    [[nodiscard]] bool taken_early(entry const& read) const {
        return layout_.is_tutorial() && read.state == state::initial && !read.owner.empty();
    }
    [[nodiscard]] tutorial_layout const& names() const noexcept { return layout_.names; }

    void append_type(document& to, entry_write const& write) const {
        to.text("type", write.type->name());
        to.text("definition", settle::detail::hex_of(write.type->definition()));
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

    static void append_failed_part(document& to, entry_write const& write) {
        if (write.change.why == reason::none) return;
        to.text("reason", settle::name_of(write.change.why));
        auto const where = write.failed();
        if (!where.participant.empty()) to.text("participant", where.participant);
        if (where.line) to.integer("line", *where.line);
    }

    /// An unreadable id is shown in its stored form.
    void read_id(entry_reader& read, entry& into) const {
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
    void read_state(entry_reader& read, entry& into) const {
        std::string word;
        read.field(names().state, word);
        if (layout_.read_state(word, into.state)) return;
        into.state = state::pending;
        read.wrong(names().state, "is '" + word + "', which is no known state");
    }

    void read_type(entry_reader& read, entry& into) const {
        // Other programs may have a field `type`; only settle writes `definition`.
        bool const named = read.find(layout_.is_tutorial() ? "definition" : "type").has_value();
        if (named) {
            read.field("type", into.type);
            std::string digits;
            read.field("definition", digits);
            auto const* const end = digits.data() + digits.size();
            auto const number = std::from_chars(digits.data(), end, into.definition, 16);
            if (number.ec != std::errc{} || number.ptr != end) {
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

    [[nodiscard]] bool has_parameters(entry_reader const& read) const {
        return std::any_of(layout_.members.begin(), layout_.members.end(), [&](auto const& member) {
            return read.find(layout_.field_of(member.name)).has_value();
        });
    }

    /// Reads parameters that stand beside the other fields, into the form of the core's codec.
    void read_fields(entry_reader& read, entry& into) const {
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
    static timestamp birth_of(document const& from, entry const& read) {
        auto const id = from.find("_id");
        if (!id || id->type() != BSON_TYPE_OID) return read.modified;
        std::chrono::seconds const born{bson_oid_get_time_t(bson_iter_oid(id->iterator()))};
        return timestamp{born};
    }

    static void read_reason(entry_reader& read, entry& into) {
        std::string word;
        read.field("reason", word, false);
        if (word.empty()) return;
        for (int at = 0; at <= static_cast<int>(reason::record_unusable); ++at) {
            if (settle::name_of(static_cast<reason>(at)) != word) continue;
            into.why = static_cast<reason>(at);
            return;
        }
        read.wrong("reason", "is none that is known");
    }

    /// Shape:   members(part, element) - calls `part(name, value)` for each further member
    template <typename Element, typename Members>
    static void read_list(entry_reader& read, char const* field, std::vector<Element>& into,
                          Members&& members) {
        auto const list = read.find(field);
        if (!list) return;
        list->for_each([&](value_view const& one) {
            Element& kept = into.emplace_back();
            auto const part = [&](char const* name, auto& value) {
                auto const found = one.find(name);
                bool const good = found && read_field(*found, value).empty();
                if (!good) read.wrong(field, "is damaged");
            };
            part("participant", kept.participant);
            part("line", kept.line);
            members(part, kept);
            return true;
        });
    }

    entry_layout layout_;
};

} // namespace mongodb::detail
SETTLE_END
