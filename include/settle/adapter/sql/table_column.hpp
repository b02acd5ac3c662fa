// SPDX-License-Identifier: BSL-1.0
// A column of a collection's table: the form in which its values are exchanged with the database,
// and how a member's value is given and read.
#pragma once

#include <settle/adapter/sql/parameter_type.hpp>
#include <settle/adapter/sql/table_values.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// The form in which values are exchanged: `number` is an integer of 64 bits, `decimal` is an
/// integer that counts the column's smallest unit, `time` is an integer that counts microseconds;
/// `cast` is a text that SQL casts to the column's type.
enum class column_form : std::uint8_t { number, decimal, time, boolean, text, cast };

struct table_column : column_limits {
    /// The value read for a time that a count of microseconds cannot express, such as `infinity`.
    static constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::min();

    static constexpr std::string_view other_scale = "was altered to another scale";

    std::string name; ///< quoted
    column_form form = column_form::text;
    std::string type{}; ///< in SQL, for a cast
    int scale = 0;      ///< the digits after the point of a decimal, or after the second of a time

    [[nodiscard]] column_kind kind() const noexcept;
    [[nodiscard]] parameter_type element() const noexcept { return {kind(), false}; }
    [[nodiscard]] parameter_type array() const noexcept { return {kind(), true}; }

    template <typename Array>
    void give(Array& to, member_access const& access, void const* value) const {
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
    /// Adds a key to an array or to parameters. False if no row can have the key.
    template <typename To>
    [[nodiscard]] bool give_key(To& to, part_key const& key) const {
        auto const* const text = std::get_if<std::string_view>(&key);
        // SQL could not compare any other text with a uuid.
        if (is_uuid && !holds_text(*text)) return false;
        // In the lambda, clang 14 takes the condition for false.
        constexpr bool binds = requires(To& target) { target.bind(std::int64_t{}); };
        std::visit(
            [&](auto value) {
                if constexpr (binds) to.bind(value);
                else to.add(value);
            },
            key);
        return true;
    }
    /// Reads a value; returns the error or an empty text, which never shows the value.
    template <typename Row>
    [[nodiscard]] std::string_view read(Row const& from, int column, member_access const& access,
                                        void* value) const {
        bool const counts = form == column_form::decimal || form == column_form::time;
        if (!counts || from.kind(column) == value_kind::null) {
            return read_member(from, column, access, value);
        }
        return form == column_form::time ? read_time(from.integer(column), access, value)
                                         : read_decimal(from.text(column), scale, access, value);
    }

    /// True if no value of the column's type can be the reason why one cannot be read.
    [[nodiscard]] bool was_altered(value_kind kind, std::string_view problem) const noexcept {
        if (form == column_form::decimal) return problem == other_scale;
        bool const is_text = form == column_form::text || form == column_form::cast;
        return kind == (is_text ? value_kind::integer : value_kind::text);
    }

    /// The microseconds of a time's unit; 0 for a finer unit.
    [[nodiscard]] static std::int64_t micros(member_access const& access) noexcept {
        return access.unit_num * 1'000'000 / access.unit_den;
    }
    /// Whether it holds every integer of 64 bits, and no other value.
    [[nodiscard]] bool has_all_integers() const noexcept {
        using limits = std::numeric_limits<std::int64_t>;
        return form == column_form::number && least == limits::min() && most == limits::max();
    }
    /// Makes it a decimal, with the limits of its smallest unit.
    void set_decimal(int precision, int digits_after_point);

private:
    [[nodiscard]] static std::string_view read_time(std::int64_t microseconds,
                                                    member_access const& access, void* value);
    [[nodiscard]] static std::string_view read_decimal(std::string_view text, int digits_after,
                                                       member_access const& access, void* value);
};

} // namespace detail::sql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/sql/table_column.ipp>
#endif
