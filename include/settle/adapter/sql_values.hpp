// SPDX-License-Identifier: BSL-1.0
// The values of the SQL statements that a user's work sends, and the rows of their results.
#pragma once

#include <settle/base/error.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

SETTLE_BEGIN

/// A parameter of a statement: NULL, a number or a text. Texts are borrowed.
class sql_value {
public:
    using alternatives = std::variant<std::nullptr_t, std::int64_t, double, std::string_view>;

    sql_value(std::nullptr_t) noexcept {}
    template <std::integral Integer>
        requires(std::signed_integral<Integer> || sizeof(Integer) < sizeof(std::int64_t))
    sql_value(Integer value) noexcept : value_(static_cast<std::int64_t>(value)) {}
    /// Not every database keeps such a number exactly: cast it to std::int64_t.
    template <std::unsigned_integral Integer>
        requires(sizeof(Integer) >= sizeof(std::int64_t))
    sql_value(Integer value) = delete;
    sql_value(double value) noexcept : value_(value) {}
    sql_value(std::string_view value) noexcept : value_(value) {}
    sql_value(std::string const& value) noexcept : value_(std::string_view{value}) {}
    sql_value(char const* value) noexcept : value_(std::string_view{value}) {}
    template <typename T>
    sql_value(std::optional<T> const& value) noexcept {
        if (value) *this = sql_value{*value};
    }

    [[nodiscard]] alternatives const& get() const noexcept { return value_; }

private:
    alternatives value_{nullptr};
};

/// The result of a statement: its rows, with each value as the text of the database, and the number
/// of rows that it changed.
class sql_rows {
public:
    using row = std::vector<std::optional<std::string>>;

    sql_rows(std::vector<row> all, std::uint64_t changed) noexcept
        : all_(std::move(all)), changed_(changed) {}

    /// The number of rows that an INSERT, UPDATE or DELETE changed.
    [[nodiscard]] std::uint64_t changed() const noexcept { return changed_; }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    /// Shape:   at - the number of a row; column - the number of a column. Both count from 0
    [[nodiscard]] bool is_null(std::size_t index, std::size_t column) const {
        return !all_.at(index).at(column).has_value();
    }
    /// Empty for NULL.
    [[nodiscard]] std::string text(std::size_t index, std::size_t column) const {
        return all_.at(index).at(column).value_or("");
    }
    /// Errors:  throws settle::failure with errc::damaged for NULL, and for a value that is no
    ///          integer of 64 bits
    [[nodiscard]] std::int64_t integer(std::size_t index, std::size_t column) const;

private:
    std::vector<row> all_;
    std::uint64_t changed_;
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/sql_values.ipp>
#endif
