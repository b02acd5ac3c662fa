// SPDX-License-Identifier: BSL-1.0
// BSON documents that own their memory, and views of their values.
#pragma once

#include <settle/version.hpp>

#include <bson/bson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

SETTLE_BEGIN
namespace mongodb::detail {

class document;

/// A view of a value, valid as long as its document.
class value_view {
public:
    explicit value_view(bson_iter_t const& iterator) noexcept : at_(iterator) {}

    [[nodiscard]] bson_type_t type() const noexcept { return bson_iter_type(&at_); }
    [[nodiscard]] bool is_null() const noexcept {
        return type() == BSON_TYPE_NULL || type() == BSON_TYPE_UNDEFINED;
    }
    [[nodiscard]] std::string_view name() const noexcept {
        return {bson_iter_key(&at_), bson_iter_key_len(&at_)};
    }

    [[nodiscard]] std::optional<std::string_view> text() const noexcept;
    /// An integer in any program's form: 32 or 64 bits, or a double that is exactly that integer.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
    /// The integer value of a double, also if the double represents several integers.
    [[nodiscard]] std::optional<std::int64_t> whole_double() const noexcept;
    [[nodiscard]] std::optional<bool> boolean() const noexcept {
        if (type() != BSON_TYPE_BOOL) return std::nullopt;
        return bson_iter_bool(&at_);
    }
    /// Milliseconds since 1970.
    [[nodiscard]] std::optional<std::int64_t> date() const noexcept;
    /// A Decimal128 as the library spells it.
    [[nodiscard]] std::optional<std::string> decimal() const;
    /// A value that can be an id: a text, an integer, or the digits of an ObjectId.
    [[nodiscard]] std::optional<std::string> id() const;

    /// Calls `function(value_view)` for every value of an array or a document, until it returns
    /// false.
    template <typename Function>
    void for_each(Function&& function) const {
        bson_iter_t inside;
        if (type() != BSON_TYPE_ARRAY && type() != BSON_TYPE_DOCUMENT) return;
        if (!bson_iter_recurse(&at_, &inside)) return;
        while (bson_iter_next(&inside)) {
            if (!function(value_view{inside})) return;
        }
    }
    [[nodiscard]] std::optional<value_view> find(std::string_view name) const;

    /// A copy of a document within a document.
    [[nodiscard]] document as_document() const;

    [[nodiscard]] bson_value_t const* native() const noexcept { return bson_iter_value(&at_); }
    [[nodiscard]] bson_iter_t const* iterator() const noexcept { return &at_; }

private:
    // The library's iterator caches state while it reads.
    mutable bson_iter_t at_;
};

/// A document on the heap.
class document {
public:
    document() : document(bson_new(), taken{}) {}
    document(document&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    document& operator=(document&& other) noexcept {
        std::swap(held_, other.held_);
        return *this;
    }
    ~document() { bson_destroy(held_); }
    explicit document(bson_t const* copied) : document(bson_copy(copied), taken{}) {}
    /// Takes ownership of a document that the library made.
    static document adopt(bson_t* bson) { return document{bson, taken{}}; }

    [[nodiscard]] bson_t* native() noexcept { return held_; }
    [[nodiscard]] bson_t const* native() const noexcept { return held_; }
    [[nodiscard]] bool empty() const noexcept { return bson_empty(held_); }
    [[nodiscard]] std::uint32_t size() const noexcept { return held_->len; }

    document& text(std::string_view name, std::string_view value) {
        bson_append_utf8(native(), name.data(), length(name), value.data(), length(value));
        return *this;
    }
    document& integer(std::string_view name, std::int64_t value) {
        bson_append_int64(native(), name.data(), length(name), value);
        return *this;
    }
    document& boolean(std::string_view name, bool value) {
        bson_append_bool(native(), name.data(), length(name), value);
        return *this;
    }
    document& date(std::string_view name, std::int64_t milliseconds) {
        bson_append_date_time(native(), name.data(), length(name), milliseconds);
        return *this;
    }
    document& timestamp(std::string_view name, std::uint32_t seconds) {
        bson_append_timestamp(native(), name.data(), length(name), seconds, 0);
        return *this;
    }
    /// Shape:   digits - of a decimal, 34 at most
    document& decimal(std::string_view name, std::string const& digits);
    /// Shape:   digits - 24 hexadecimal digits
    document& object_id(std::string_view name, std::string const& digits);
    document& null(std::string_view name) {
        bson_append_null(native(), name.data(), length(name));
        return *this;
    }
    document& object(std::string_view name, document const& value) {
        bson_append_document(native(), name.data(), length(name), value.native());
        return *this;
    }
    document& array(std::string_view name, document const& value) {
        bson_append_array(native(), name.data(), length(name), value.native());
        return *this;
    }
    document& copy(std::string_view name, value_view const& value) {
        bson_append_value(native(), name.data(), length(name), value.native());
        return *this;
    }
    /// Appends an element to an array.
    /// Shape:   number - how many elements the array has
    document& object_at(std::size_t number, document const& value) {
        return object(std::to_string(number), value);
    }

    [[nodiscard]] std::optional<value_view> find(std::string_view name) const;
    template <typename Function>
    void for_each(Function&& function) const {
        bson_iter_t iterator;
        if (!bson_iter_init(&iterator, held_)) return;
        while (bson_iter_next(&iterator)) {
            if (!function(value_view{iterator})) return;
        }
    }

private:
    struct taken {};
    document(bson_t* bson, taken) : held_(bson) {}

    static int length(std::string_view text) noexcept { return static_cast<int>(text.size()); }

    bson_t* held_; ///< freed by its type's own function, which takes null
};

/// Takes ownership of text that the library made.
[[nodiscard]] inline std::string take_text(char* native_text) {
    std::string text{native_text == nullptr ? "" : native_text};
    bson_free(native_text);
    return text;
}

/// A document with one member.
[[nodiscard]] inline document only(std::string_view name, document const& value) {
    document made;
    made.object(name, value);
    return made;
}

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/bson.ipp>
#endif
