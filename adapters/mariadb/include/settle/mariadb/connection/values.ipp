// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that values.hpp declares.
#pragma once

#include <settle/base/json_writer.hpp>
#include <settle/mariadb/connection/values.hpp>

#include <charconv>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION sql_value array_value::value(std::size_t index) const {
    element const& which = all_.at(index);
    if (which.size == is_null) return nullptr;
    if (which.size == is_integer) return which.number;
    return std::string_view{texts_}.substr(static_cast<std::size_t>(which.number),
                                           static_cast<std::size_t>(which.size));
}

SETTLE_FUNCTION void array_value::append_json(std::string& to, std::size_t index) const {
    auto const held = value(index);
    if (auto const* const integer = std::get_if<std::int64_t>(&held.get())) {
        append_json_integer(to, *integer);
    } else if (auto const* const text = std::get_if<std::string_view>(&held.get())) {
        append_json_text(to, *text);
    } else {
        to += "null";
    }
}

SETTLE_FUNCTION std::optional<std::size_t> parameters::wave_size() const noexcept {
    for (auto const& each : all_) {
        if (each.array != nullptr) return each.array->size();
    }
    return std::nullopt;
}

SETTLE_FUNCTION std::string parameters::wave_json() const {
    std::string json{"["};
    auto const size = wave_size().value_or(0);
    for (std::size_t row = 0; row < size; ++row) {
        json += row == 0 ? '[' : ',';
        if (row != 0) json += '[';
        bool is_first = true;
        for (auto const& each : all_) {
            if (each.array == nullptr) continue;
            if (!std::exchange(is_first, false)) json += ',';
            each.array->append_json(json, row);
        }
        json += ']';
    }
    return json += ']';
}

SETTLE_FUNCTION std::vector<MYSQL_BIND> binds_of(std::span<sql_value const> values) {
    std::vector<MYSQL_BIND> binds(values.size());
    for (std::size_t index = 0; index < values.size(); ++index) {
        MYSQL_BIND& bind = binds[index];
        bind.buffer_type = MYSQL_TYPE_NULL;
        auto const& value = values[index].get();
        if (auto const* const integer = std::get_if<std::int64_t>(&value)) {
            bind.buffer_type = MYSQL_TYPE_LONGLONG;
            bind.buffer = const_cast<std::int64_t*>(integer);
        } else if (auto const* const real = std::get_if<double>(&value)) {
            bind.buffer_type = MYSQL_TYPE_DOUBLE;
            bind.buffer = const_cast<double*>(real);
        } else if (auto const* const text = std::get_if<std::string_view>(&value)) {
            bind.buffer_type = MYSQL_TYPE_STRING;
            // libmariadb takes a null buffer for NULL.
            bind.buffer = const_cast<char*>(text->empty() ? "" : text->data());
            bind.buffer_length = text->size();
        }
    }
    return binds;
}

SETTLE_FUNCTION bulk_binds::bulk_binds(std::span<sql_value const> values, std::size_t rows)
    : binds(values.size() / rows), columns_(binds.size()) {
    for (std::size_t number = 0; number < binds.size(); ++number) {
        column& into = columns_[number];
        MYSQL_BIND& bind = binds[number];
        bind.buffer_type = MYSQL_TYPE_LONGLONG;
        into.indicators.assign(rows, STMT_INDICATOR_NULL);
        bind.u.indicator = into.indicators.data();
        for (std::size_t row = 0; row < rows; ++row) {
            auto const& value = values[row * binds.size() + number].get();
            if (std::holds_alternative<std::nullptr_t>(value)) continue;
            into.indicators[row] = STMT_INDICATOR_NONE;
            if (auto const* const integer = std::get_if<std::int64_t>(&value)) {
                into.integers.resize(rows);
                into.integers[row] = *integer;
                bind.buffer = into.integers.data();
            } else if (auto const* const real = std::get_if<double>(&value)) {
                into.reals.resize(rows);
                into.reals[row] = *real;
                bind.buffer_type = MYSQL_TYPE_DOUBLE;
                bind.buffer = into.reals.data();
            } else if (auto const* const text = std::get_if<std::string_view>(&value)) {
                into.texts.resize(rows);
                into.lengths.resize(rows);
                into.texts[row] = text->empty() ? "" : text->data();
                into.lengths[row] = text->size();
                bind.buffer_type = MYSQL_TYPE_STRING;
                bind.buffer = static_cast<void*>(into.texts.data());
                bind.length = into.lengths.data();
            }
        }
        if (bind.buffer != nullptr) continue;
        into.integers.resize(rows);
        bind.buffer = into.integers.data();
    }
}

/// Reads an integer; false if a text is none of 64 bits.
[[nodiscard]] SETTLE_FUNCTION bool read_integer(std::string_view text, std::int64_t& value) {
    auto const* const end = text.data() + text.size();
    auto const read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc{} && read.ptr == end;
}

SETTLE_FUNCTION std::int64_t rows::integer(int row, int column) const noexcept {
    std::int64_t value = 0;
    return read_integer(text(row, column), value) ? value : 0;
}

SETTLE_FUNCTION bool rows::fits(int row, int column) const noexcept {
    std::int64_t value = 0;
    return read_integer(text(row, column), value);
}

SETTLE_FUNCTION void rows::describe(std::span<MYSQL_FIELD const> fields) {
    // The row form of a statement has a result for each row, with the same columns.
    if (!columns_.empty()) return;
    for (auto const& field : fields) {
        bool const is_integer = field.type == MYSQL_TYPE_TINY || field.type == MYSQL_TYPE_SHORT ||
                                field.type == MYSQL_TYPE_INT24 || field.type == MYSQL_TYPE_LONG ||
                                field.type == MYSQL_TYPE_LONGLONG;
        columns_.push_back({{field.name, field.name_length}, is_integer});
    }
}

SETTLE_FUNCTION void rows::add(char const* bytes, std::size_t size) {
    cells_.push_back({bytes_.size(), bytes == nullptr ? 0 : size, bytes == nullptr});
    if (bytes != nullptr) bytes_.append(bytes, size);
}

} // namespace mariadb::detail
SETTLE_END
