// SPDX-License-Identifier: BSL-1.0
// A column of a collection's table: its SQL form, its limits, and how a member's value is written
// and read.
#pragma once

#include <settle/adapter/sql/table_values.hpp>
#include <settle/postgresql/connection/row.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::collection_descriptor;
using settle::detail::member_access;
using settle::detail::member_descriptor;

/// The form in which values are exchanged: `number` is an int8, `decimal` is an int8 that counts
/// the column's smallest unit, `time` is an int8 that counts microseconds; `cast` is a text that
/// SQL casts to the column's type.
enum class column_form : std::uint8_t { number, decimal, time, boolean, text, cast };

struct table_column : settle::detail::sql::column_limits {
    std::string name; ///< quoted
    column_form form = column_form::text;
    std::string type{};              ///< in SQL, for a cast
    int scale = 0;                   ///< of a decimal
    std::int64_t type_id = 0;        ///< of the declared type
    std::int64_t type_modifier = -1; ///< its length, precision and scale

    [[nodiscard]] value_type element() const noexcept;
    [[nodiscard]] array_value values() const { return array_value{element()}; }
    [[nodiscard]] value_type array() const noexcept;
    /// The expression that reads the column of the table `t`.
    [[nodiscard]] std::string read_sql() const;
    /// The expression that makes the column's value of a given element.
    [[nodiscard]] std::string write_sql(std::string const& given) const;

    void give(array_value& to, member_access const& access, void const* value) const;
    /// Adds a key to an array_value or to parameters. False if no row can have the key.
    template <typename To>
    [[nodiscard]] bool give_key(To& to, part_key const& key) const {
        auto const* const text = std::get_if<std::string_view>(&key);
        // SQL could not compare any other text with a uuid.
        if (is_uuid && !holds_text(*text)) return false;
        std::visit([&](auto value) { put(to, value); }, key);
        return true;
    }
    /// Reads a value; returns the error or an empty text, which never shows the value.
    [[nodiscard]] std::string_view read(row const& from, int column, member_access const& access,
                                        void* value) const;

    /// The microseconds of a time's unit; 0 for a finer unit.
    [[nodiscard]] static std::int64_t micros(member_access const& access) noexcept {
        return access.unit_num * 1'000'000 / access.unit_den;
    }

private:
    template <typename Value>
    static void put(array_value& to, Value value) {
        to.add(value);
    }
    template <typename Value>
    static void put(parameters& to, Value value) {
        to.bind(value);
    }
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/records/table_column.ipp>
#endif
