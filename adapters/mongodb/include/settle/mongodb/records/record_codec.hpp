// SPDX-License-Identifier: BSL-1.0
// Records as documents: members by their names, the key as _id, marks in pendingTransactions.
// Fields of other programs are kept, and restored with an image. If the layout allows it, an id
// alone in pendingTransactions is a bare mark.
#pragma once

#include <settle/mongodb/connection/error.hpp>
#include <settle/mongodb/records/layout.hpp>
#include <settle/mongodb/records/mark_codec.hpp>

#include <charconv>
#include <vector>

SETTLE_BEGIN
namespace mongodb::detail {

/// The member of an image that holds the fields that the struct does not name.
inline constexpr std::string_view rest_name = "$document";

/// Null when the text is no document, as in from_digits.
[[nodiscard]] inline bson_t* from_json(std::string const& text) {
    bson_error_t problem{};
    return bson_new_from_json(reinterpret_cast<std::uint8_t const*>(text.data()),
                              static_cast<ssize_t>(text.size()), &problem);
}
[[nodiscard]] inline bson_t* from_digits(std::string const& text) {
    std::vector<std::uint8_t> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto const* const from = text.data() + 2 * i;
        if (std::from_chars(from, from + 2, bytes[i], 16).ptr != from + 2) return nullptr;
    }
    return bson_new_from_data(bytes.data(), bytes.size());
}

/// The part of an image with other programs' fields, or an empty document.
/// Errors:  throws errc::damaged
[[nodiscard]] inline document rest_of(std::string_view image) {
    if (image.empty()) return {};
    json_reader reader{image};
    std::string rest;
    if (reader.begin_object()) {
        for (std::string_view name; reader.next_member(name);) {
            if (name == rest_name) reader.read_text(rest);
            else reader.skip_value();
        }
    }
    bool const readable = reader.finish();
    if (readable && rest.empty()) return {};
    bson_t* native = nullptr;
    if (readable) native = rest.front() == '{' ? from_json(rest) : from_digits(rest);
    if (native == nullptr) raise(errc::damaged, "settle: an image is damaged. See errors#damaged");
    return document::adopt(native);
}

/// JSON for people. Where JSON would not restore the same document (text that is not UTF-8, a
/// name that denotes a type), two hexadecimal digits for each byte.
[[nodiscard]] inline std::string text_of(document const& rest) {
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

/// Appends a key in settle's own form.
inline void append_key(document& to, std::string_view name, part_key const& key) {
    if (auto const* const text = std::get_if<std::string_view>(&key)) to.text(name, *text);
    else to.integer(name, std::get<std::int64_t>(key));
}

/// Adds every stored form of a key to an array that has `count` elements.
inline void append_key_forms(document& to, record_layout const& layout, part_key const& key,
                             std::size_t& count) {
    auto const* const text = std::get_if<std::string_view>(&key);
    if (text != nullptr && layout.any_keys) {
        append_all_forms(to, std::string{*text}, count);
    } else {
        append_key(to, std::to_string(count++), key);
    }
}

/// The error of a record that cannot be used.
[[nodiscard]] inline error damaged_record(collection_descriptor const& descriptor,
                                          key_value const& key, std::string const& problem) {
    return {make_error_code(errc::damaged), "settle: " + name_of_record(descriptor, key) +
                                                " cannot be used: " + problem +
                                                ". Repair the document. See errors#damaged"};
}

class record_codec {
public:
    /// Shape:   database - of the collection; outlives this object
    record_codec(collection_descriptor const& collection, std::string const& database,
                 record_layout layout)
        : of_(&collection), database_(&database), layout_(std::move(layout)) {}

    [[nodiscard]] collection_descriptor const& of() const noexcept { return *of_; }
    [[nodiscard]] std::string_view collection() const noexcept { return of_->name; }
    [[nodiscard]] std::string const& database() const noexcept { return *database_; }
    [[nodiscard]] record_layout const& layout() const noexcept { return layout_; }
    [[nodiscard]] std::size_t size() const noexcept { return of_->members().size(); }
    [[nodiscard]] bool is_key(std::size_t member) const noexcept { return member == of_->key; }
    [[nodiscard]] bool takes_any_key() const noexcept { return of_->text_key && layout_.any_keys; }

    /// The field name of a member.
    [[nodiscard]] std::string_view name_of(std::size_t member) const {
        if (is_key(member)) return layout_.key;
        return layout_.field_of(of_->members()[member].name);
    }

    /// The key of a document; nothing if it does not fit the type.
    [[nodiscard]] std::optional<key_value> key_in(document const& from) const {
        auto const value = from.find(layout_.key);
        if (!value) return std::nullopt;
        if (of_->text_key) {
            auto id = layout_.any_keys && !value->text() ? value->id() : std::nullopt;
            if (id) return *std::move(id);
            std::string text;
            if (read_field(*value, text).empty()) return text;
        } else {
            auto const number = value->integer();
            auto const& key = of_->members()[of_->key];
            if (number && *number >= key.least && *number <= key.most) return *number;
        }
        return std::nullopt;
    }

    /// Reads a document. Returns the first problem, or an empty text.
    /// Shape:   record - gets the members; marks - gets the marks; bare - gets the ids of bare
    ///          marks, if the layout allows them
    [[nodiscard]] std::string decode(document const& from, void* record, any_slot& marks,
                                     std::vector<std::string>& bare) const {
        std::string problem;
        std::uint64_t seen = 0;
        std::optional<value_view> found_marks;
        from.for_each([&](value_view const& value) {
            if (value.name() == marks_field) {
                found_marks.emplace(value);
                return true;
            }
            auto const position = find(value.name());
            if (!position) return true;
            seen |= std::uint64_t{1} << *position;
            auto const wrong = read_member_of(value, record, *position);
            if (!wrong.empty()) problem = shown(value.name()) + ' ' + std::string{wrong};
            return problem.empty();
        });
        if (!problem.empty()) return problem;
        for (std::size_t index = 0; index < size(); ++index) {
            if ((seen >> index & 1U) != 0) continue;
            // A missing optional is empty, whatever the struct's default.
            auto const& access = *of_->members()[index].access;
            if (!access.optional) return shown(name_of(index)) + " is missing";
            access.set_null(of_->record->member(record, index));
        }
        return found_marks ? decode_marks(*found_marks, record, marks, bare) : problem;
    }

    /// Reads the members of a document.
    /// Errors:  throws errc::damaged
    void read(document const& from, void* record) const {
        any_slot marks{*of_->record};
        std::vector<std::string> bare;
        auto const problem = decode(from, record, marks, bare);
        if (problem.empty()) return;
        auto const none = of_->text_key ? key_value{std::string{}} : key_value{std::int64_t{0}};
        throw failure(damaged_record(*of_, key_in(from).value_or(none), problem));
    }

    /// A new document.
    /// Shape:   image - of the record that is restored, or empty
    /// Errors:  throws errc::damaged when the image cannot be read
    [[nodiscard]] document encode(void const* record, document const& marks,
                                  std::string_view image = {}) const {
        document encoded;
        document const rest = rest_of(image);
        for (std::size_t at = 0; at < size(); ++at) {
            // The image restores a nested document with other programs' fields.
            if (!rest.find(name_of(at))) append(encoded, const_cast<void*>(record), at);
        }
        rest.for_each([&](value_view const& value) {
            encoded.copy(value.name(), value);
            return true;
        });
        encoded.array(marks_field, marks);
        return encoded;
    }

    /// Shape:   bare - bare marks in their stored form
    [[nodiscard]] document marks_of(any_slot const& from,
                                    std::vector<value_view> const& bare = {}) const {
        document array;
        std::size_t number = 0;
        for (auto const& one : bare) array.copy(std::to_string(number++), one);
        from.for_each_mark([&](mark_view const& mark) {
            array.object_at(number++, encode_mark(*of_->record, mark));
        });
        return array;
    }

    /// Appends a member in its stored form.
    void append(document& to, void* record, std::size_t member) const {
        append_member(to, name_of(member), of_->members()[member],
                      of_->record->member(record, member));
    }

    /// Whether a document may hold this mark, even if the document cannot be used.
    [[nodiscard]] bool may_hold_mark(document const& stored, transaction_id const& id,
                                     part_number part) const {
        auto const marks = stored.find(marks_field);
        if (!marks || marks->is_null()) return false;
        bool holds = marks->type() != BSON_TYPE_ARRAY;
        marks->for_each([&](value_view const& value) {
            mark_data mark;
            auto const bare = layout_.bare_marks != nullptr ? value.id() : std::nullopt;
            holds = holds || bare == id;
            auto const named = value.find("id");
            // A mark with an unreadable part may be this mark.
            holds = holds || (named && named->text() == id &&
                              (!read_mark_key(value, mark) || mark.part == part));
            return !holds;
        });
        return holds;
    }

    /// The members as JSON, followed by the fields of other programs.
    [[nodiscard]] std::string image_of(document const& from, void* record) const {
        std::string image = settle::detail::encode_record(*of_->record, record);
        document rest;
        from.for_each([&](value_view const& value) {
            bool const ours = value.name() == marks_field || find(value.name());
            if (!ours) rest.copy(value.name(), value);
            return true;
        });
        for (std::size_t index = 0; index < size(); ++index) {
            if (!of_->members()[index].access->nested) continue;
            auto const field = name_of(index);
            auto const value = from.find(field);
            document named;
            document whole;
            append(named, record, index);
            if (value) whole.copy(field, *value);
            if (value && !bson_equal(named.native(), whole.native())) rest.copy(field, *value);
        }
        if (rest.empty()) return image;
        image.back() = ',';
        append_json_text(image, rest_name);
        image += ':';
        append_json_text(image, text_of(rest));
        return image += '}';
    }

private:
    static std::string shown(std::string_view name) { return "its '" + std::string{name} + "'"; }

    [[nodiscard]] std::optional<std::size_t> find(std::string_view field) const {
        for (std::size_t at = 0; at < size(); ++at) {
            if (name_of(at) == field) return at;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::string_view read_member_of(value_view const& from, void* record,
                                                  std::size_t member) const {
        void* const into = of_->record->member(record, member);
        if (is_key(member) && takes_any_key() && !from.text()) {
            if (auto const id = from.id()) {
                of_->members()[member].access->set_text(into, *id);
                return {};
            }
        }
        return read_member(from, of_->members()[member], into);
    }
    [[nodiscard]] std::string decode_marks(value_view const& marks, void* record, any_slot& into,
                                           std::vector<std::string>& bare) const {
        if (marks.is_null()) return {};
        if (marks.type() != BSON_TYPE_ARRAY) return shown(marks_field) + " is no array";
        std::string problem;
        marks.for_each([&](value_view const& value) {
            if (auto const id = value.id(); id && layout_.bare_marks != nullptr) {
                bare.push_back(*id);
                return true;
            }
            mark_data mark;
            problem = decode_mark(*of_->record, value, record, mark);
            if (problem.empty() && into.has_mark(mark.id, mark.part)) problem = "it is there twice";
            if (problem.empty()) into.insert(std::move(mark));
            else problem = "a mark in " + shown(marks_field) + ": " + problem;
            return problem.empty();
        });
        return problem;
    }

    collection_descriptor const* of_;
    std::string const* database_;
    record_layout layout_;
};

} // namespace mongodb::detail
SETTLE_END
