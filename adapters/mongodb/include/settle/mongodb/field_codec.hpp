// SPDX-License-Identifier: BSL-1.0
// Members of described structs as values of documents: as other programs write and read them.
//
//   integer, enum   int64; read from int32, int64, or a double without a fraction
//   bool            bool
//   std::string     string
//   time            date where its unit is a millisecond or longer; else int64, the count of its
//                   unit. Read from either
//   std::optional   null, or its value; read from null or nothing
#pragma once

#include <settle/definition/field_type.hpp>
#include <settle/definition/reflection.hpp>
#include <settle/mongodb/bson.hpp>
#include <settle/store/utf8.hpp>

#include <ratio>

SETTLE_BEGIN
namespace mongodb::detail {

using milliseconds = std::chrono::milliseconds;

/// Whether every value of a time's unit is a whole number of milliseconds.
template <typename Time>
inline constexpr bool is_date =
    std::ratio_divide<typename Time::duration::period, std::milli>::den == 1;

template <typename Field>
void append_field(document& to, std::string_view name, Field const& value) {
    if constexpr (field_traits<Field>::optional) {
        if (value) append_field(to, name, *value);
        else to.null(name);
    } else if constexpr (field_traits<Field>::kind == field_kind::text) {
        to.text(name, value);
    } else if constexpr (field_traits<Field>::kind == field_kind::boolean) {
        to.boolean(name, value);
    } else if constexpr (field_traits<Field>::kind == field_kind::time) {
        std::int64_t count = to_integer(value);
        if constexpr (is_date<Field>) {
            using factor = std::ratio_divide<typename Field::duration::period, std::milli>;
            // What no date can say is kept as a count.
            if (!__builtin_mul_overflow(count, std::int64_t{factor::num}, &count)) {
                to.date(name, count);
                return;
            }
            count = to_integer(value);
        }
        to.integer(name, count);
    } else {
        to.integer(name, to_integer(value));
    }
}

/// Why a value is none of the field's; empty when it was read.
template <typename Field>
[[nodiscard]] std::string_view read_field(value_view const& from, Field& into) {
    if constexpr (field_traits<Field>::optional) {
        into.reset();
        if (from.is_null()) return {};
        return read_field(from, into.emplace());
    } else if constexpr (field_traits<Field>::kind == field_kind::text) {
        auto const found = from.text();
        if (!found) return "is no string";
        if (!is_utf8(*found)) return "is not UTF-8, or holds a NUL";
        into = *found;
        return {};
    } else if constexpr (field_traits<Field>::kind == field_kind::boolean) {
        auto const found = from.boolean();
        if (found) into = *found;
        return found ? std::string_view{} : "is no boolean";
    } else {
        auto found = from.integer();
        if constexpr (field_traits<Field>::kind == field_kind::time) {
            if constexpr (is_date<Field>) {
                using factor = std::ratio_divide<typename Field::duration::period, std::milli>;
                if (auto const date = from.date()) {
                    if (*date % std::int64_t{factor::num} != 0) return "is no whole unit of time";
                    found = *date / std::int64_t{factor::num};
                }
            }
        }
        if (!found) {
            return from.type() == BSON_TYPE_DOUBLE ? "is a number with a fraction, or too large"
                                                   : "is no whole number";
        }
        return from_integer(*found, into) ? std::string_view{} : "is none of its type's values";
    }
}

} // namespace mongodb::detail
SETTLE_END
