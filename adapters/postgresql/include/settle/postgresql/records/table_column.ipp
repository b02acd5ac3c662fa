// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that table_column.hpp declares.
#pragma once

#include <settle/postgresql/records/table_column.hpp>

#include <charconv>

SETTLE_BEGIN
namespace postgresql::detail {

/// The value read for a time that a count of microseconds cannot express, such as `infinity`.
inline constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::min();

SETTLE_FUNCTION value_type table_column::element() const noexcept {
    switch (form) {
    case column_form::boolean: return value_type::boolean;
    case column_form::text:
    case column_form::cast: return value_type::text;
    default: return value_type::int8;
    }
}
SETTLE_FUNCTION value_type table_column::array() const noexcept {
    switch (form) {
    case column_form::boolean: return value_type::boolean_array;
    case column_form::text:
    case column_form::cast: return value_type::text_array;
    default: return value_type::int8_array;
    }
}

SETTLE_FUNCTION std::string table_column::read_sql() const {
    auto column = "t." + name;
    switch (form) {
    case column_form::decimal:
    case column_form::cast: return column + "::text";
    case column_form::time: {
        auto const seconds = "extract(epoch from " + column + ")";
        return "CASE WHEN abs(" + seconds + ") < 9000000000000 THEN (" + seconds +
               " * 1000000)::int8 WHEN " + column + " IS NOT NULL THEN " +
               "(-9223372036854775808)::int8 END";
    }
    default: return column;
    }
}

SETTLE_FUNCTION std::string table_column::write_sql(std::string const& given) const {
    switch (form) {
    case column_form::decimal:
        if (scale == 0) return given;
        return "(" + given + " * 0." + std::string(static_cast<std::size_t>(scale - 1), '0') + "1)";
    case column_form::time:
        return "(timestamptz 'epoch' + (" + given + " / 1000000) * interval '1 second' + (" +
               given + " % 1000000) * interval '1 microsecond')";
    case column_form::cast: return given + "::" + type;
    default: return given;
    }
}

SETTLE_FUNCTION void table_column::give(array_value& to, member_access const& access,
                                        void const* value) const {
    if (access.optional && access.is_null(value)) {
        to.add(nullptr);
    } else if (access.nested) {
        std::string json;
        access.json->write(json, value, secrets::written);
        to.add(std::string_view{json});
    } else if (access.kind == field_kind::text) {
        to.add(access.text(value));
    } else if (form == column_form::boolean) {
        to.add(access.integer(value) != 0);
    } else {
        auto const number = access.integer(value);
        to.add(form == column_form::time ? number * micros(access) : number);
    }
}

SETTLE_FUNCTION std::string_view
table_column::read(row const& from, int column, member_access const& access, void* value) const {
    bool const counts = form == column_form::decimal || form == column_form::time;
    if (!counts || from.kind(column) == value_kind::null) {
        return settle::detail::read_member(from, column, access, value);
    }
    std::int64_t number = 0;
    if (form == column_form::time) {
        number = from.integer(column);
        if (number == no_time) return "holds a time that is not finite";
        auto const unit = micros(access);
        if (number % unit != 0) return "holds a time between two times of the field";
        number /= unit;
    } else {
        // A decimal of a declared scale always has all its digits after the point.
        std::string digits{from.text(column)};
        std::erase(digits, '.');
        auto const* const end = digits.data() + digits.size();
        auto const read = std::from_chars(digits.data(), end, number);
        if (read.ec != std::errc{} || read.ptr != end) return "holds no number of the field";
    }
    if (access.set_integer(value, number)) return {};
    return "holds a number that is none of the field's values";
}

} // namespace postgresql::detail
SETTLE_END
