// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that field_codec.hpp declares.
#pragma once

#include <settle/mongodb/records/field_codec.hpp>

#include <settle/base/utf8.hpp>

#include <charconv>
#include <system_error>

SETTLE_BEGIN

namespace mongodb::detail {

/// `12.34` for 1234 and two places.
[[nodiscard]] SETTLE_FUNCTION std::string decimal_text(std::int64_t units, int places) {
    std::string digits = std::to_string(units);
    std::size_t const sign = units < 0 ? 1 : 0;
    auto const decimals = static_cast<std::size_t>(places);
    if (digits.size() - sign <= decimals) {
        digits.insert(sign, decimals + 1 + sign - digits.size(), '0');
    }
    if (decimals > 0) digits.insert(digits.size() - decimals, 1, '.');
    return digits;
}

SETTLE_FUNCTION bool read_decimal_text(std::string_view text, int places, std::int64_t& units) {
    std::string digits;
    if (text.starts_with('-')) digits = '-';
    if (!digits.empty()) text.remove_prefix(1);
    std::int64_t exponent = places;
    bool past_point = false;
    std::size_t index = 0;
    for (; index < text.size() && text[index] != 'E'; ++index) {
        bool const point = text[index] == '.';
        if (!point && (text[index] < '0' || text[index] > '9')) return false;
        if (!point) digits += text[index];
        if (!point && past_point) --exponent;
        past_point = past_point || point;
    }
    if (index < text.size()) {
        auto const power = text.substr(index + (text.substr(index).starts_with("E+") ? 2 : 1));
        std::int64_t read = 0;
        if (std::from_chars(power.data(), power.data() + power.size(), read).ec != std::errc{}) {
            return false;
        }
        exponent += read;
    }
    bool const is_zero = digits.find_first_of("123456789") == std::string::npos;
    // No 64-bit number has more than 20 digits, so longer texts need no exact count.
    for (; exponent > 0 && !is_zero && digits.size() < 40; --exponent) digits += '0';
    for (; exponent < 0 && !is_zero; ++exponent) {
        if (digits.empty() || digits.back() != '0') return false;
        digits.pop_back();
    }
    if (is_zero) digits = "0";
    auto const* const end = digits.data() + digits.size();
    auto const number = std::from_chars(digits.data(), end, units);
    return number.ec == std::errc{} && number.ptr == end;
}

/// The milliseconds in a time's unit; 0 if they are no whole number.
[[nodiscard]] SETTLE_FUNCTION std::int64_t milliseconds_in(member_access const& access) {
    std::intmax_t const thousands = access.unit_num * 1000;
    bool const is_whole = access.kind == field_kind::time && thousands % access.unit_den == 0;
    return is_whole ? thousands / access.unit_den : 0;
}

/// A struct as a document, or a list as an array.
[[nodiscard]] SETTLE_FUNCTION document document_of(settle::detail::nested_access const& nested,
                                                   void const* value) {
    document document;
    for (std::size_t index = 0; index < nested.fields.size(); ++index) {
        auto const& field = nested.fields[index];
        append_value(document, field.name, *field.access,
                     nested.field(const_cast<void*>(value), index));
    }
    if (nested.element == nullptr) return document;
    std::size_t number = 0;
    nested.for_each(value, [&](void const* element) {
        append_value(document, std::to_string(number++), *nested.element, element);
    });
    return document;
}

SETTLE_FUNCTION void append_value(document& to, std::string_view name, member_access const& access,
                                  void const* value) {
    if (access.optional && access.is_null(value)) {
        to.null(name);
    } else if (access.nested != nullptr) {
        bool const is_list = access.nested->element != nullptr;
        if (is_list) to.array(name, document_of(*access.nested, value));
        else to.object(name, document_of(*access.nested, value));
    } else if (access.kind == field_kind::text) {
        to.text(name, access.text(value));
    } else if (access.kind == field_kind::boolean) {
        to.boolean(name, access.integer(value) != 0);
    } else {
        std::int64_t const number = access.integer(value);
        std::int64_t const factor = milliseconds_in(access);
        std::int64_t date = 0;
        // A time outside the range of a date is stored as a count.
        bool const is_date = factor != 0 && !__builtin_mul_overflow(number, factor, &date);
        if (is_date) to.date(name, date);
        else to.integer(name, number);
    }
}

[[nodiscard]] SETTLE_FUNCTION std::string_view
read_nested(value_view const& from, settle::detail::nested_access const& nested, void* value) {
    if (nested.element == nullptr) {
        if (from.type() != BSON_TYPE_DOCUMENT) return "is no document";
        for (std::size_t index = 0; index < nested.fields.size(); ++index) {
            auto const& field = nested.fields[index];
            auto const stored = from.find(field.name);
            bool const good =
                stored ? read_value(*stored, *field.access, nested.field(value, index)).empty()
                       : field.access->optional;
            if (!good) return "has a field that is missing or of another kind";
        }
        return {};
    }
    if (from.type() != BSON_TYPE_ARRAY) return "is no array";
    nested.clear(value);
    std::string_view problem;
    from.for_each([&](value_view const& item) {
        nested.append(value,
                      [&](void* element) { problem = read_value(item, *nested.element, element); });
        return problem.empty();
    });
    return problem;
}

SETTLE_FUNCTION std::string_view read_value(value_view const& from, member_access const& access,
                                            void* value) {
    if (access.optional && from.is_null()) {
        access.set_null(value);
        return {};
    }
    if (access.nested != nullptr) return read_nested(from, *access.nested, value);
    if (access.kind == field_kind::text) {
        auto const text = from.text();
        if (!text) return "is no string";
        if (auto const fault = fault_of_text(*text); !fault.empty()) return fault;
        access.set_text(value, *text);
        return {};
    }
    if (access.kind == field_kind::boolean) {
        auto const stored = from.boolean();
        if (!stored) return "is no boolean";
        static_cast<void>(access.set_integer(value, *stored ? 1 : 0));
        return {};
    }
    auto number = from.integer();
    if (std::int64_t const factor = milliseconds_in(access); factor != 0) {
        if (auto const date = from.date()) {
            if (*date % factor != 0) return "is no whole unit of time";
            number = *date / factor;
        }
    }
    if (!number) {
        return from.type() == BSON_TYPE_DOUBLE ? "is a number with a fraction, or too large"
                                               : "is no whole number";
    }
    return access.set_integer(value, *number) ? std::string_view{} : "is no value of its type";
}

SETTLE_FUNCTION void append_member(document& to, std::string_view name,
                                   member_descriptor const& member, void const* value) {
    if (member.places < 0) append_value(to, name, *member.access, value);
    else to.decimal(name, decimal_text(member.access->integer(value), member.places));
}

SETTLE_FUNCTION std::string_view read_member(value_view const& from,
                                             member_descriptor const& member, void* value) {
    if (member.places < 0) return read_value(from, *member.access, value);
    auto text = from.decimal();
    if (auto const whole = from.integer(); !text && whole) text = std::to_string(*whole);
    if (!text) return "is neither a decimal nor a whole number";
    std::int64_t units = 0;
    if (!read_decimal_text(*text, member.places, units)) {
        return "has more decimal places than its member counts, or is too large";
    }
    static_cast<void>(member.access->set_integer(value, units));
    return {};
}

} // namespace mongodb::detail

SETTLE_END
