// SPDX-License-Identifier: BSL-1.0
// Records as documents: members by their names, the key as _id, marks in pendingTransactions.
// Fields of other programs are kept, and restored with an image. If the layout allows it, an id
// alone in pendingTransactions is a bare mark of a tutorial's program.
#pragma once

#include <settle/mongodb/decimal.hpp>
#include <settle/mongodb/error.hpp>
#include <settle/mongodb/layout.hpp>
#include <settle/mongodb/mark_codec.hpp>
#include <settle/store/codec.hpp>

#include <charconv>
#include <vector>

SETTLE_BEGIN
namespace mongodb::detail {

/// The member of an image that holds the fields that the struct does not name.
inline constexpr std::string_view rest_name = "$document";

/// Reads a key. Returns why the value does not fit the type; empty when it was read.
template <typename Key>
[[nodiscard]] std::string_view read_key(record_layout const& layout, value_view const& from,
                                        Key& into) {
    if constexpr (std::is_same_v<Key, std::string>) {
        auto const id = layout.any_keys && !from.text() ? from.id() : std::nullopt;
        if (!id) return read_field(from, into);
        into = *id;
        return {};
    } else {
        return read_field(from, into);
    }
}
/// Adds every stored form of a key to an array that has `count` elements.
inline void append_key_forms(document& to, record_layout const& layout, std::string const& key,
                             std::size_t& count) {
    if (layout.any_keys) entry_layout::append_all_forms(to, key, count);
    else to.text(std::to_string(count++), key);
}
inline void append_key_forms(document& to, record_layout const&, std::int64_t key,
                             std::size_t& count) {
    to.integer(std::to_string(count++), key);
}

template <typename Collection>
class record_codec {
public:
    using record_type = typename Collection::record_type;
    using key_type = typename Collection::key_type;
    using slot_type = record_slot<record_type>;
    static constexpr std::size_t key_index = member_index<record_type, Collection::key_member>;
    static_assert(decimal_places<Collection::key_member> < 0,
                  "settle: a key is no decimal. See mongodb#decimals");

    explicit record_codec(record_layout layout) : layout_(std::move(layout)) {}

    [[nodiscard]] record_layout const& layout() const noexcept { return layout_; }

    /// The field name of a member.
    template <typename Member>
    [[nodiscard]] std::string_view name_of(Member m) const {
        return m.index == key_index ? std::string_view{layout_.key} : layout_.field_of(m.name);
    }

    /// Reads a document. Returns the first problem, or an empty text.
    /// Shape:   bare - gets the ids of bare marks, if the layout allows them
    [[nodiscard]] std::string decode(document const& from, slot_type& into,
                                     std::vector<std::string>& bare) const {
        auto& record = into.record.emplace();
        std::string problem;
        std::uint64_t seen = 0;
        std::optional<value_view> marks;
        from.for_each([&](value_view const& value) {
            if (value.name() == marks_field) {
                marks.emplace(value);
                return true;
            }
            for_each_member<record_type>([&](auto m) {
                if (value.name() != name_of(m)) return;
                seen |= std::uint64_t{1} << m.index;
                constexpr auto member = decltype(m)::pointer;
                std::string_view wrong;
                if constexpr (decltype(m)::index == key_index) {
                    wrong = read_key(layout_, value, record.*member);
                } else {
                    wrong = read_member<member>(value, record.*member);
                }
                if (!wrong.empty()) problem = shown(name_of(m)) + ' ' + std::string{wrong};
            });
            return problem.empty();
        });
        if (!problem.empty()) return problem;
        for_each_member<record_type>([&](auto m) {
            using type = typename decltype(m)::type;
            if ((seen >> m.index & 1U) != 0) return;
            // A missing optional is empty, whatever the struct's default.
            if constexpr (field_traits<type>::optional) record.*m.pointer = type{};
            else if (problem.empty()) problem = shown(name_of(m)) + " is missing";
        });
        if (problem.empty() && marks) problem = decode_marks(*marks, record, into, bare);
        return problem;
    }

    /// A new document, with its marks.
    /// Shape:   image - of the record that is restored, or empty
    /// Errors:  throws errc::damaged when the image cannot be read
    [[nodiscard]] document encode(slot_type const& from, std::string_view image = {}) const {
        document made;
        document const rest = rest_of(image);
        for_each_member<record_type>([&](auto m) {
            // The image restores a nested document with other programs' fields.
            if (rest.find(name_of(m))) return;
            constexpr auto member = decltype(m)::pointer;
            append_member<member>(made, name_of(m), (*from.record).*member);
        });
        rest.for_each([&](value_view const& value) {
            made.copy(value.name(), value);
            return true;
        });
        made.array(marks_field, marks_of(from));
        return made;
    }

    /// Shape:   bare - bare marks in their stored form
    [[nodiscard]] static document marks_of(slot_type const& from,
                                           std::vector<value_view> const& bare = {}) {
        document all;
        std::size_t number = 0;
        for (auto const& one : bare) all.copy(std::to_string(number++), one);
        for (auto const& one : from.marks) all.object_at(number++, encode_mark(one));
        return all;
    }

    /// Whether a document may hold this mark, even if the document cannot be used.
    [[nodiscard]] bool may_hold_mark(document const& of, transaction_id const& id,
                                     part_number part) const {
        auto const marks = of.find(marks_field);
        if (!marks || marks->is_null()) return false;
        bool holds = marks->type() != BSON_TYPE_ARRAY;
        marks->for_each([&](value_view const& value) {
            mark<record_type> found;
            auto const bare = layout_.bare_marks ? value.id() : std::nullopt;
            holds = holds || bare == id;
            auto const named = value.find("id");
            // A mark with an unreadable part may be this mark.
            holds = holds || (named && named->text() == id &&
                              (!read_mark_key(value, found) || found.part == part));
            return !holds;
        });
        return holds;
    }

    /// The members as JSON, followed by the fields of other programs.
    [[nodiscard]] std::string image_of(document const& from, record_type const& record) const {
        std::string image = encode_json(record);
        document rest;
        from.for_each([&](value_view const& value) {
            if (!is_ours(value.name())) rest.copy(value.name(), value);
            return true;
        });
        for_each_member<record_type>([&](auto m) {
            if constexpr (NestedType<typename decltype(m)::type>) {
                auto const field = name_of(m);
                auto const value = from.find(field);
                document named;
                document whole;
                append_field(named, field, record.*decltype(m)::pointer);
                if (value) whole.copy(field, *value);
                if (value && !bson_equal(named.native(), whole.native())) {
                    rest.copy(field, *value);
                }
            }
        });
        if (rest.empty()) return image;
        image.back() = ',';
        append_json_text(image, rest_name);
        image += ':';
        append_json_text(image, text_of(rest));
        return image += '}';
    }

private:
    static std::string shown(std::string_view name) { return "its '" + std::string{name} + "'"; }

    [[nodiscard]] bool is_ours(std::string_view name) const {
        bool ours = name == marks_field;
        for_each_member<record_type>([&](auto m) { ours = ours || name == name_of(m); });
        return ours;
    }

    [[nodiscard]] std::string decode_marks(value_view const& marks, record_type const& record,
                                           slot_type& into, std::vector<std::string>& bare) const {
        if (marks.is_null()) return {};
        if (marks.type() != BSON_TYPE_ARRAY) return shown(marks_field) + " is no array";
        std::string problem;
        marks.for_each([&](value_view const& value) {
            if (auto const id = value.id(); id && layout_.bare_marks) {
                bare.push_back(*id);
                return true;
            }
            mark<record_type> found;
            problem = decode_mark(value, record, found);
            if (problem.empty() && into.marks.find(found.id, found.part) != nullptr) {
                problem = "it is there twice";
            }
            if (problem.empty()) into.marks.insert(std::move(found));
            else problem = "a mark in " + shown(marks_field) + ": " + problem;
            return problem.empty();
        });
        return problem;
    }

    /// The part of an image with other programs' fields, or an empty document.
    /// Errors:  throws errc::damaged
    [[nodiscard]] static document rest_of(std::string_view image) {
        if (image.empty()) return {};
        json_reader reader{image};
        std::string rest;
        if (reader.begin_object()) {
            for (std::string_view name; reader.next_member(name);) {
                if (name == rest_name) reader.read_text(rest);
                else reader.skip_value();
            }
        }
        if (!reader.finish()) raise(errc::damaged, "settle: an image is damaged. "
                                                   "See errors#damaged");
        if (rest.empty()) return {};
        bson_t* const made = rest.front() == '{' ? from_json(rest) : from_digits(rest);
        if (made == nullptr) raise(errc::damaged, "settle: an image is damaged. "
                                                  "See errors#damaged");
        return document::adopt(made);
    }

    /// JSON for people. Where JSON would not restore the same document (text that is not UTF-8, a
    /// name that denotes a type), two hexadecimal digits for each byte.
    [[nodiscard]] static std::string text_of(document const& rest) {
        auto text = take_text(bson_as_canonical_extended_json(rest.native(), nullptr));
        bson_t* const back = text.empty() ? nullptr : from_json(text);
        if (back != nullptr && bson_equal(document::adopt(back).native(), rest.native())) {
            return text;
        }
        text.clear();
        std::uint8_t const* const bytes = bson_get_data(rest.native());
        for (std::size_t i = 0; i < rest.size(); ++i) {
            text += settle::detail::hex_digit(unsigned{bytes[i]} >> 4U);
            text += settle::detail::hex_digit(bytes[i]);
        }
        return text;
    }

    /// Null when the text is no document, as in from_digits.
    [[nodiscard]] static bson_t* from_json(std::string const& text) {
        bson_error_t problem{};
        return bson_new_from_json(reinterpret_cast<std::uint8_t const*>(text.data()),
                                  static_cast<ssize_t>(text.size()), &problem);
    }
    [[nodiscard]] static bson_t* from_digits(std::string const& text) {
        std::vector<std::uint8_t> bytes(text.size() / 2);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            auto const* const from = text.data() + 2 * i;
            if (std::from_chars(from, from + 2, bytes[i], 16).ptr != from + 2) return nullptr;
        }
        return bson_new_from_data(bytes.data(), bytes.size());
    }

    record_layout layout_;
};

} // namespace mongodb::detail
SETTLE_END
