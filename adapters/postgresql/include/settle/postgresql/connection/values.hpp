// SPDX-License-Identifier: BSL-1.0
// The values of a statement's parameters, and the rows of its result, in PostgreSQL's binary form.
#pragma once

#include <settle/adapter/sql/parameter_type.hpp>
#include <settle/postgresql/connection/error.hpp>

#include <array>
#include <bit>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

SETTLE_BEGIN
namespace postgresql::detail {

/// A type that has a binary form here. The SQL casts from and to all other types: `$1::text::uuid`
/// for a parameter, `amount::text` for a column.
/// Source:  src/include/catalog/pg_type.dat of PostgreSQL 15
enum class value_type : Oid {
    boolean = 16,
    bytes = 17,
    int8 = 20,
    text = 25,
    float8 = 701,
    bytes_array = 1001,
    boolean_array = 1000,
    text_array = 1009,
    int8_array = 1016,
    float8_array = 1022
};

using settle::detail::sql::column_kind;

[[nodiscard]] constexpr value_type native_type(settle::detail::sql::parameter_type parameter) {
    switch (parameter.kind) {
    case column_kind::text: return parameter.is_array ? value_type::text_array : value_type::text;
    case column_kind::boolean:
        return parameter.is_array ? value_type::boolean_array : value_type::boolean;
    default: return parameter.is_array ? value_type::int8_array : value_type::int8;
    }
}

/// Appends a number with its most significant byte first.
template <typename T>
void append_number(std::string& to, T value) {
    using bits = std::make_unsigned_t<T>;
    auto const unsigned_value = static_cast<bits>(value);
    std::array<char, sizeof(T)> bytes{};
    for (std::size_t at = 0; at < sizeof(T); ++at) {
        bytes[at] = static_cast<char>(unsigned_value >> (8 * (sizeof(T) - 1 - at)) & 0xffU);
    }
    to.append(bytes.data(), bytes.size());
}
/// Shape:   bytes - at least as many as the number has
template <typename T>
[[nodiscard]] T number_at(char const* bytes) noexcept {
    using bits = std::make_unsigned_t<T>;
    bits number = 0;
    for (std::size_t at = 0; at < sizeof(T); ++at) {
        number = static_cast<bits>(number << 8U | static_cast<unsigned char>(bytes[at]));
    }
    return static_cast<T>(number);
}

/// An array of one dimension, for `unnest($1)`.
class array_value {
public:
    /// Shape:   of - the type of the elements: boolean, bytes, int8, text or float8
    explicit array_value(value_type value);
    explicit array_value(column_kind kind) : array_value(native_type({kind})) {}
    static array_value texts() { return array_value{value_type::text}; }
    static array_value integers() { return array_value{value_type::int8}; }

    array_value& add(std::int64_t value) {
        append_number(bytes_, std::int32_t{8});
        append_number(bytes_, value);
        return counted();
    }
    array_value& add(bool value) {
        append_number(bytes_, std::int32_t{1});
        bytes_ += value ? '\1' : '\0';
        return counted();
    }
    array_value& add(double value) { return add(std::bit_cast<std::int64_t>(value)); }
    /// A text or bytes.
    array_value& add(std::string_view value) {
        append_number(bytes_, static_cast<std::int32_t>(value.size()));
        bytes_ += value;
        return counted();
    }
    array_value& add(char const*) = delete; // it would become a bool
    array_value& add(std::nullptr_t);
    template <typename T>
    array_value& add(std::optional<T> const& value) {
        return value ? add(*value) : add(nullptr);
    }

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
    /// The elements: the length of each, -1 for NULL, and its bytes.
    [[nodiscard]] std::string_view elements() const noexcept;

private:
    array_value& counted();

    std::string bytes_;
    std::size_t count_ = 0;
};

/// The values of `$1`, `$2`, … in their order. Texts, bytes and arrays are borrowed: they outlive
/// connection::send().
/// Shape:   at most `most` values; a text has no NUL byte, which PostgreSQL cannot hold in a text
class parameters {
public:
    static constexpr std::size_t most = 200;

    template <typename... Values>
    explicit parameters(Values const&... values) {
        static_assert(sizeof...(Values) <= most);
        (bind(values), ...);
    }

    parameters& bind(std::int64_t value) noexcept;
    parameters& bind(bool value) noexcept;
    parameters& bind(double value) noexcept { return bind(std::bit_cast<std::int64_t>(value)); }
    parameters& bind(std::string_view value) noexcept { return set(value.data(), value.size()); }
    parameters& bind(std::string const& value) noexcept { return bind(std::string_view{value}); }
    parameters& bind(char const*) = delete;
    parameters& bind(array_value const& value) noexcept {
        wave_size_ = value.size();
        arrays_.set(count_);
        return bind(value.bytes());
    }
    parameters& bind(std::vector<array_value> const& all) noexcept {
        for (array_value const& one : all) bind(one);
        return *this;
    }
    parameters& bind(std::nullptr_t) noexcept;
    template <typename T>
    parameters& bind(std::optional<T> const& value) noexcept {
        return value ? bind(*value) : bind(nullptr);
    }

    [[nodiscard]] int count() const noexcept { return static_cast<int>(count_); }
    /// The number of elements of the arrays, which all have the same number; 0 without arrays.
    [[nodiscard]] std::size_t wave_size() const noexcept { return wave_size_; }
    /// The same values, with the element of each array in its place.
    /// Shape:   each array has one element
    [[nodiscard]] parameters of_one_row() const noexcept;
    /// As libpq takes them.
    [[nodiscard]] std::array<char const*, most> values() const noexcept;
    [[nodiscard]] int const* lengths() const noexcept { return lengths_.data(); }

private:
    parameters& set(char const* bytes, std::size_t size) noexcept;

    std::array<char const*, most> borrowed_{}; ///< null for a number or NULL
    std::array<std::array<char, 8>, most> numbers_;
    std::array<int, most> lengths_{}; ///< below 0 for NULL
    std::bitset<most> arrays_{};
    std::size_t count_ = 0;
    std::size_t wave_size_ = 0;
};

/// The result of a statement: its rows, read without a copy, or the number of rows it changed.
class rows {
public:
    rows() = default;
    explicit rows(PGresult* held) noexcept : held_(held) {}

    [[nodiscard]] PGresult* native() const noexcept { return held_.get(); }
    [[nodiscard]] int size() const noexcept { return PQntuples(native()); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// The number of rows that INSERT, UPDATE or DELETE has changed.
    [[nodiscard]] std::int64_t changed() const noexcept;

    [[nodiscard]] bool is_null(int row, int column) const noexcept {
        return PQgetisnull(native(), row, column) == 1;
    }
    /// Of an int2, int4 or int8; 0 for NULL.
    [[nodiscard]] std::int64_t integer(int row, int column) const noexcept;
    [[nodiscard]] bool boolean(int row, int column) const noexcept;
    [[nodiscard]] double real(int row, int column) const noexcept; ///< of a float8
    /// Of a text, varchar, name, json or bytea; empty for NULL. Valid as long as the rows.
    [[nodiscard]] std::string_view text(int row, int column) const noexcept {
        return {PQgetvalue(native(), row, column),
                static_cast<std::size_t>(PQgetlength(native(), row, column))};
    }
    [[nodiscard]] std::string_view bytes(int row, int column) const noexcept {
        return text(row, column);
    }

private:
    struct clearer {
        void operator()(PGresult* held) const noexcept { PQclear(held); }
    };
    std::unique_ptr<PGresult, clearer> held_;
};

/// The values of one column in a wave: an array, or one value that all have.
class column_values {
public:
    explicit column_values(column_kind kind) : all_(kind) {}

    template <typename Value>
    void add(Value const& value) {
        auto const before = all_.elements().size();
        all_.add(value);
        auto const added = all_.elements().substr(before);
        is_given_ = is_given_ || !std::is_same_v<Value, std::nullptr_t>;
        if (before == 0) first_ = added.size();
        else differ_ = differ_ || added != all_.elements().substr(0, first_);
    }
    [[nodiscard]] bool differ() const noexcept { return differ_; }
    /// False if every value is NULL.
    [[nodiscard]] bool is_given() const noexcept { return is_given_; }

    void bind_array(parameters& to) const noexcept { to.bind(all_); }
    /// Binds the value that all have.
    void bind_value(parameters& to) const noexcept;

private:
    array_value all_;
    std::size_t first_ = 0; ///< the bytes of the first element
    bool differ_ = false;
    bool is_given_ = false;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/values.ipp>
#endif
