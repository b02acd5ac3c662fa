// SPDX-License-Identifier: BSL-1.0
// The values of a statement's parameters, and the rows of its result.
#pragma once

#include <settle/adapter/sql/parameter_type.hpp>
#include <settle/adapter/sql_values.hpp>
#include <settle/mariadb/connection/error.hpp>

#include <mysql.h>

#include <optional>
#include <span>
#include <vector>

SETTLE_BEGIN
namespace mariadb::detail {

using settle::detail::sql::column_kind;

/// The values of one column of a wave.
class array_value {
public:
    /// Shape:   of - the kind of the values; a boolean is 0 or 1
    explicit array_value(column_kind) noexcept {}
    static array_value texts() { return array_value{column_kind::text}; }
    static array_value integers() { return array_value{column_kind::integer}; }

    array_value& add(std::int64_t value) {
        all_.push_back({value, is_integer});
        return *this;
    }
    array_value& add(bool value) { return add(std::int64_t{value}); }
    array_value& add(std::string_view value) {
        all_.push_back(
            {static_cast<std::int64_t>(texts_.size()), static_cast<std::int64_t>(value.size())});
        texts_ += value;
        return *this;
    }
    array_value& add(char const*) = delete; // it would become a bool
    array_value& add(std::nullptr_t) {
        all_.push_back({0, is_null});
        return *this;
    }
    template <typename T>
    array_value& add(std::optional<T> const& value) {
        return value ? add(*value) : add(nullptr);
    }

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    /// A value as a parameter. A text is borrowed from the array.
    [[nodiscard]] sql_value value(std::size_t index) const;
    /// Appends a value as JSON. The server reads the same value from it again.
    void append_json(std::string& to, std::size_t index) const;

private:
    static constexpr std::int64_t is_null = -1;
    static constexpr std::int64_t is_integer = -2;
    struct element {
        std::int64_t number; ///< the integer, or where the text begins
        std::int64_t size;   ///< of the text, or below 0
    };
    std::vector<element> all_;
    std::string texts_;
};

/// The values of `$1`, `$2`, … in their order. Texts and arrays are borrowed: they outlive
/// connection::send().
/// Shape:   all arrays have the same size
class parameters {
public:
    template <typename... Values>
    explicit parameters(Values const&... values) {
        all_.reserve(sizeof...(Values));
        (bind(values), ...);
    }

    parameters& bind(std::int64_t value) { return bind(sql_value{value}); }
    parameters& bind(bool value) { return bind(std::int64_t{value}); }
    parameters& bind(double value) { return bind(sql_value{value}); }
    parameters& bind(std::string_view value) { return bind(sql_value{value}); }
    parameters& bind(std::string const& value) { return bind(std::string_view{value}); }
    parameters& bind(char const*) = delete;
    parameters& bind(std::nullptr_t) { return bind(sql_value{nullptr}); }
    parameters& bind(sql_value value) {
        all_.push_back({value, nullptr});
        return *this;
    }
    parameters& bind(array_value const& value) {
        all_.push_back({nullptr, &value});
        return *this;
    }
    parameters& bind(std::vector<array_value> const& all) {
        for (array_value const& each : all) bind(each);
        return *this;
    }
    template <typename T>
    parameters& bind(std::optional<T> const& value) {
        return value ? bind(*value) : bind(nullptr);
    }

    [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
    /// A value, or one of an array.
    [[nodiscard]] sql_value value(std::size_t index) const { return all_.at(index).value; }
    [[nodiscard]] sql_value element(std::size_t index, std::size_t row) const {
        return all_.at(index).array->value(row);
    }
    /// The number of values in each array; nothing without an array.
    [[nodiscard]] std::optional<std::size_t> wave_size() const noexcept;
    /// The arrays as a JSON array of rows, for wave_sql().
    [[nodiscard]] std::string wave_json() const;

private:
    struct parameter {
        sql_value value;
        array_value const* array;
    };
    std::vector<parameter> all_;
};

/// The values as the client takes them, borrowed.
[[nodiscard]] std::vector<MYSQL_BIND> binds_of(std::span<sql_value const> values);

/// The values of many rows, row by row, as the client takes them for each parameter. Texts are
/// borrowed.
/// Shape:   rows - their number
struct bulk_binds {
    bulk_binds(std::span<sql_value const> values, std::size_t rows);
    bulk_binds(bulk_binds const&) = delete;
    bulk_binds& operator=(bulk_binds const&) = delete;
    ~bulk_binds() = default;

    std::vector<MYSQL_BIND> binds;

private:
    /// Of one parameter. Its values are of one kind, or NULL.
    struct column {
        std::vector<std::int64_t> integers{};
        std::vector<double> reals{};
        std::vector<char const*> texts{};
        std::vector<unsigned long> lengths{};
        std::vector<char> indicators{};
    };
    std::vector<column> columns_;
};

/// The result of a statement: its rows, with each value as the server's text, or the number of
/// rows that it changed.
class rows {
public:
    [[nodiscard]] int size() const noexcept {
        return columns_.empty() ? 0 : static_cast<int>(cells_.size() / columns_.size());
    }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// The number of rows that an INSERT, UPDATE or DELETE without RETURNING has found or changed.
    [[nodiscard]] std::int64_t changed() const noexcept { return changed_; }

    [[nodiscard]] bool is_null(int row, int column) const noexcept {
        return cell_at(row, column).is_null;
    }
    /// Of an integer, or of a text with its digits; 0 for NULL, and for everything else.
    [[nodiscard]] std::int64_t integer(int row, int column) const noexcept;
    /// Whether integer() is the value.
    [[nodiscard]] bool fits(int row, int column) const noexcept;
    [[nodiscard]] bool boolean(int row, int column) const noexcept {
        return integer(row, column) != 0;
    }
    /// Empty for NULL. Valid as long as the rows.
    [[nodiscard]] std::string_view text(int row, int column) const noexcept {
        cell const& which = cell_at(row, column);
        return {bytes_.data() + which.begin, which.size};
    }
    [[nodiscard]] std::string_view name(int column) const noexcept {
        return columns_[static_cast<std::size_t>(column)].name;
    }
    /// True for TINYINT to BIGINT.
    [[nodiscard]] bool is_integer(int column) const noexcept {
        return columns_[static_cast<std::size_t>(column)].is_integer;
    }

    void describe(std::span<MYSQL_FIELD const> fields);
    /// Adds the next value of a row; a null pointer for NULL.
    void add(char const* bytes, std::size_t size);
    void add_changed(std::int64_t count) noexcept { changed_ += count; }

private:
    struct column_facts {
        std::string name;
        bool is_integer;
    };
    struct cell {
        std::size_t begin;
        std::size_t size;
        bool is_null;
    };
    [[nodiscard]] cell const& cell_at(int row, int column) const noexcept {
        return cells_[static_cast<std::size_t>(row) * columns_.size() +
                      static_cast<std::size_t>(column)];
    }

    std::vector<column_facts> columns_;
    std::vector<cell> cells_;
    std::string bytes_;
    std::int64_t changed_ = 0;
};

/// The values of one column in a wave: an array, or one value that all have.
class column_values {
public:
    explicit column_values(column_kind kind) : all_(kind) {}

    template <typename Value>
    void add(Value const& value) {
        all_.add(value);
        is_given_ = is_given_ || !std::is_same_v<Value, std::nullptr_t>;
        differ_ = differ_ || all_.value(all_.size() - 1).get() != all_.value(0).get();
    }
    [[nodiscard]] bool differ() const noexcept { return differ_; }
    /// False if every value is NULL.
    [[nodiscard]] bool is_given() const noexcept { return is_given_; }

    void bind_array(parameters& to) const { to.bind(all_); }
    /// Binds the value that all have.
    void bind_value(parameters& to) const { to.bind(all_.value(0)); }

private:
    array_value all_;
    bool differ_ = false;
    bool is_given_ = false;
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/values.ipp>
#endif
