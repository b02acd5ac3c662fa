// SPDX-License-Identifier: BSL-1.0
// The table `w`, in which a statement finds the columns of its wave.
#pragma once

#include <settle/postgresql/connection/values.hpp>

#include <string>

SETTLE_BEGIN
namespace postgresql::detail {

/// The form of the table `w`.
enum class wave_form : std::uint8_t {
    arrays,  ///< the parameters are arrays
    one_row, ///< the parameters are the values of the only row
};

/// Some parameters of a statement as the table `w`, whose columns have the numbers of the
/// parameters: `unnest($1, $3) AS w(c0, c2)`. With an ordinality, its last column is `n`, which
/// begins with 1.
/// Shape:   are_columns(number) - of the parameters, from 0 on
template <typename Predicate>
[[nodiscard]] std::string wave_source(wave_form form, std::size_t count, bool ordinality,
                                      Predicate&& are_columns) {
    std::string values;
    std::string names;
    std::string row;
    for (std::size_t index = 0; index < count; ++index) {
        if (!are_columns(index)) continue;
        auto const* const comma = values.empty() ? "" : ", ";
        auto const value = "$" + std::to_string(index + 1);
        auto const name = "c" + std::to_string(index);
        // The server would evaluate an expression of a constant when it plans the statement, also
        // where it is in no row.
        if (row.empty() && ordinality) {
            row = "(CASE WHEN " + value + " IS NULL THEN 1 ELSE 1 END)::int8 AS n";
        }
        row.append(row.empty() ? "" : ", ").append(value).append(" AS ").append(name);
        values.append(comma).append(value);
        names.append(comma).append(name);
    }
    if (form == wave_form::one_row) return "(SELECT " + row + ") AS w";
    return "unnest(" + values + (ordinality ? ") WITH ORDINALITY AS w(" : ") AS w(") + names +
           (ordinality ? ", n)" : ")");
}

/// The array parameters of a statement as the table `w`.
template <typename Predicate>
[[nodiscard]] std::string arrays_as_table(std::size_t count, bool ordinality,
                                          Predicate&& are_arrays) {
    return wave_source(wave_form::arrays, count, ordinality, are_arrays);
}
/// The same for the first parameters.
[[nodiscard]] inline std::string arrays_as_table(std::size_t count, bool ordinality = false) {
    return arrays_as_table(count, ordinality, [](std::size_t) { return true; });
}

/// The type of an element of an array; any other type is its own.
[[nodiscard]] constexpr value_type element_of(value_type type) noexcept {
    switch (type) {
    case value_type::bytes_array: return value_type::bytes;
    case value_type::boolean_array: return value_type::boolean;
    case value_type::text_array: return value_type::text;
    case value_type::int8_array: return value_type::int8;
    case value_type::float8_array: return value_type::float8;
    default: return type;
    }
}

/// A statement on a wave for a wave of one row: its parameters are the elements of the arrays.
/// Empty if no table `w` has all arrays of the statement.
[[nodiscard]] inline std::string sql_of_one_row(std::string const& sql,
                                                std::vector<value_type> const& types) {
    auto const source = [&](wave_form form, bool ordinality) {
        return wave_source(form, types.size(), ordinality, [&](std::size_t number) {
            return element_of(types[number]) != types[number];
        });
    };
    for (bool const ordinality : {false, true}) {
        auto const many = source(wave_form::arrays, ordinality);
        auto place = sql.find(many);
        if (place == sql.npos) continue;
        auto single = sql;
        auto const one_row = source(wave_form::one_row, ordinality);
        for (; place != single.npos; place = single.find(many, place + one_row.size())) {
            single.replace(place, many.size(), one_row);
        }
        return single;
    }
    return {};
}

} // namespace postgresql::detail
SETTLE_END
