// SPDX-License-Identifier: BSL-1.0
// Members of described structs as values of documents, in the forms that other programs use.
//
//   integer, enum   int64; read from int32, int64, or a double without a fraction
//   bool            bool
//   std::string     string
//   time            date where its unit is a millisecond or longer; else int64, the count of its
//                   unit. Read from either
//   std::optional   null, or its value; read from null or nothing
//   struct, vector  document, array; fields that the struct does not name are passed over
#pragma once

#include <settle/base/utf8.hpp>
#include <settle/definition/nested_type.hpp>
#include <settle/mongodb/connection/bson.hpp>

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
            // A time outside the range of a date is stored as a count.
            if (!__builtin_mul_overflow(count, std::int64_t{factor::num}, &count)) {
                to.date(name, count);
                return;
            }
            count = to_integer(value);
        }
        to.integer(name, count);
    } else if constexpr (Described<Field>) {
        document made;
        for_each_member<Field>([&](auto m) { append_field(made, m.name, value.*m.pointer); });
        to.object(name, made);
    } else if constexpr (settle::detail::is_list<Field>) {
        using element = typename settle::detail::vector_element<Field>::type;
        document array;
        std::size_t number = 0;
        for (element const& one : value) append_field(array, std::to_string(number++), one);
        to.array(name, array);
    } else {
        to.integer(name, to_integer(value));
    }
}

/// Reads a field. Returns why the value does not fit it; empty when it was read.
template <typename Field>
[[nodiscard]] std::string_view read_field(value_view const& from, Field& into) {
    if constexpr (field_traits<Field>::optional) {
        into.reset();
        if (from.is_null()) return {};
        return read_field(from, into.emplace());
    } else if constexpr (field_traits<Field>::kind == field_kind::text) {
        auto const text = from.text();
        if (!text) return "is no string";
        if (auto const fault = fault_of_text(*text); !fault.empty()) return fault;
        into = *text;
        return {};
    } else if constexpr (field_traits<Field>::kind == field_kind::boolean) {
        auto const found = from.boolean();
        if (found) into = *found;
        return found ? std::string_view{} : "is no boolean";
    } else if constexpr (Described<Field>) {
        if (from.type() != BSON_TYPE_DOCUMENT) return "is no document";
        std::string_view problem;
        for_each_member<Field>([&](auto m) {
            using member_type = typename decltype(m)::type;
            auto const stored = from.find(m.name);
            bool good = field_traits<member_type>::optional;
            if (stored) good = read_field(*stored, into.*m.pointer).empty();
            if (!good) problem = "has a field that is missing or of another kind";
        });
        return problem;
    } else if constexpr (settle::detail::is_list<Field>) {
        if (from.type() != BSON_TYPE_ARRAY) return "is no array";
        into.clear();
        std::string_view problem;
        from.for_each([&](value_view const& item) {
            typename settle::detail::vector_element<Field>::type element{};
            problem = read_field(item, element);
            into.push_back(std::move(element));
            return problem.empty();
        });
        return problem;
    } else {
        auto number = from.integer();
        if constexpr (field_traits<Field>::kind == field_kind::time) {
            if constexpr (is_date<Field>) {
                using factor = std::ratio_divide<typename Field::duration::period, std::milli>;
                if (auto const date = from.date()) {
                    if (*date % std::int64_t{factor::num} != 0) return "is no whole unit of time";
                    number = *date / std::int64_t{factor::num};
                }
            }
        }
        if (!number) {
            return from.type() == BSON_TYPE_DOUBLE ? "is a number with a fraction, or too large"
                                                   : "is no whole number";
        }
        return from_integer(*number, into) ? std::string_view{} : "is no value of its type";
    }
}

/// Functions on the value of a type, which append it to a document and read it.
struct value_form {
    void (*append)(document& to, std::string_view name, void const* value);
    std::string_view (*read)(value_view const& from, void* value);
};

template <typename T>
struct value_form_functions {
    static void append(document& to, std::string_view name, void const* value) {
        append_field(to, name, *static_cast<T const*>(value));
    }
    static std::string_view read(value_view const& from, void* value) {
        return read_field(from, *static_cast<T*>(value));
    }
};
template <typename T>
inline constexpr value_form form_of_value{&value_form_functions<T>::append,
                                          &value_form_functions<T>::read};

} // namespace mongodb::detail
SETTLE_END
