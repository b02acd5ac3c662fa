// SPDX-License-Identifier: BSL-1.0
// Reads the fields of an entry's document, and turns parameters into documents and back.
#pragma once

#include <settle/base/trace_context.hpp>
#include <settle/mongodb/connection/error.hpp>
#include <settle/mongodb/log/entry_layout.hpp>
#include <settle/mongodb/records/field_codec.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Source:  the core's codec writes parameters, so the members are the struct's
[[nodiscard]] inline document document_of_json(std::string const& text) {
    bson_error_t problem{};
    bson_t* const parsed = bson_new_from_json(reinterpret_cast<std::uint8_t const*>(text.data()),
                                              static_cast<ssize_t>(text.size()), &problem);
    if (parsed == nullptr) {
        raise(errc::bad_parameters,
              "settle: these parameters make no document: " + std::string{problem.message} +
                  ". See mongodb#what-is-stored");
    }
    return document::adopt(parsed);
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
        value.for_each([&](value_view const& element) {
            if (std::exchange(separate, true)) out += ',';
            if (!is_array) {
                append_json_text(out, element.name());
                out += ':';
            }
            return good = append_json_of(out, element);
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
void for_each_member_of(Part& part, Function&& function) {
    function("participant", part.participant);
    function("line", part.line);
    if constexpr (std::is_same_v<std::remove_const_t<Part>, image>) {
        function("before", part.before);
        function("after", part.after);
    } else {
        function("value", part.value);
        function("closed", part.closed);
    }
}

template <typename Part>
[[nodiscard]] document array_of(std::vector<Part> const& parts) {
    document array;
    std::size_t number = 0;
    for (Part const& part : parts) {
        document element;
        for_each_member_of(part, [&](char const* name, auto const& member) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>,
                                         std::optional<std::string>>) {
                if (member) append_field(element, name, *member);
            } else {
                append_field(element, name, member);
            }
        });
        array.object_at(number++, element);
    }
    return array;
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
        auto const stored = from_.find(name);
        bool const none = !stored || stored->is_null();
        if (none && needed) wrong(name, "is missing");
        if (none) return;
        if (auto const what = read_field(*stored, value); !what.empty()) wrong(name, what);
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
            if (which == entry_field::traceparent) {
                auto const stored = from_.find(name);
                auto const text = stored ? stored->text() : std::nullopt;
                if (text && is_traceparent(*text)) value = *text;
                return;
            }
        }
        bool const needed = layout_.is_own && !may_be_absent(which);
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
        list->for_each([&](value_view const& element) {
            for_each_member_of(into.emplace_back(), [&](char const* part, auto& value) {
                auto const stored = element.find(part);
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
        auto const known = std::find_if(all_reasons.begin(), all_reasons.end(), [&](reason reason) {
            return settle::name_of(reason) == text;
        });
        bool const is_none = settle::name_of(reason::none) == text;
        into = known == all_reasons.end() ? reason::none : *known;
        return known != all_reasons.end() || is_none;
    }

    document const& from_;
    entry_layout const& layout_;
    std::string problem_;
};

/// Reads the type that settle has written into an entry.
inline void read_named_type(document_reader& reader, entry& into) {
    reader.field("type", into.type);
    std::string digits;
    reader.field("definition", digits);
    if (!settle::detail::read_hex(digits, into.definition)) {
        reader.wrong("definition", "is no number");
    }
}

/// Reads parameters that are a document of their own.
inline void read_parameters(document_reader& reader, entry& into) {
    auto const parameters = reader.find("parameters");
    if (!parameters || parameters->type() != BSON_TYPE_DOCUMENT) {
        reader.wrong("parameters", "is no document");
    } else if (!append_json_of(into.parameters, *parameters)) {
        reader.wrong("parameters", "holds a value of a kind that parameters never have");
    }
}

} // namespace mongodb::detail
SETTLE_END
