// SPDX-License-Identifier: BSL-1.0
// Records and values as the columns of a row, for databases of tables: the requirements of each
// column, and how a member is read. Structs and lists inside of a record are JSON texts.
#pragma once

#include <settle/adapter/collection.hpp>

#include <algorithm>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// The values that a column must be able to hold.
struct column_need {
    std::string_view name;
    field_kind kind = field_kind::none;
    bool optional = false;
    bool key = false;
};

/// The table that a collection needs, without its types.
struct table_need {
    std::string_view name;
    std::vector<column_need> columns;

    [[nodiscard]] column_need const* find(std::string_view column) const;
    [[nodiscard]] column_need const& key() const;
};

[[nodiscard]] table_need need_of(collection_descriptor const& collection);

/// A key as error messages show it.
[[nodiscard]] inline std::string shown(std::int64_t key) { return std::to_string(key); }
[[nodiscard]] inline std::string shown(std::string_view key) {
    std::string text{"'"};
    return text.append(key).append("'");
}
[[nodiscard]] inline std::string shown(part_key const& key) {
    return std::visit([](auto const& value) { return shown(value); }, key);
}

[[nodiscard]] inline std::int64_t limit_of(std::size_t limit) {
    auto const most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(limit, most));
}

/// The kind of a value in a row.
enum class value_kind : std::uint8_t { null, integer, text, other };

/// The value as a text of a member; returns the error or an empty text.
[[nodiscard]] std::string_view set_text(member_access const& access, std::string_view text,
                                        void* value);

/// Reads a value; returns the error or an empty text. It never shows a value, which may be secret.
/// Shape:   Row - has kind(column), integer(column) and text(column)
template <typename Row>
[[nodiscard]] std::string_view read_member(Row const& from, int column, member_access const& access,
                                           void* value) {
    auto const kind = from.kind(column);
    if (access.optional && kind == value_kind::null) {
        access.set_null(value);
        return {};
    }
    if (access.kind == field_kind::text) {
        if (kind == value_kind::text) return set_text(access, from.text(column), value);
        return kind == value_kind::null ? "is NULL" : "holds no text";
    }
    if (kind != value_kind::integer) {
        return kind == value_kind::null ? "is NULL" : "holds no integer";
    }
    if (access.set_integer(value, from.integer(column))) return {};
    return "holds a number that is none of the field's values";
}
template <typename T, typename Row>
[[nodiscard]] std::string_view read_field(Row const& from, int column, T& value) {
    return read_member(from, column, access_to<T>, &value);
}

/// The error of a row that cannot be read.
/// Shape:   key - as the row has it; problem - the end of a clause about the column
[[nodiscard]] error damaged_row(collection_descriptor const& collection, std::string_view key,
                                std::string_view column, std::string_view problem);

/// Reads a record whose members are the columns from `first` on, in the order of the description.
/// Shape:   read(column, member, value) - reads a member by its number; returns the error or an
///          empty text
/// Errors:  throws errc::damaged, naming record and column
template <typename Row, typename Read>
void read_record(collection_descriptor const& collection, Row const& from, int first, void* record,
                 Read&& read) {
    for (std::size_t index = 0; index < collection.members().size(); ++index) {
        auto const problem =
            read(first + static_cast<int>(index), index, collection.record->member(record, index));
        if (problem.empty()) continue;
        auto const key = first + static_cast<int>(collection.key);
        bool const number = from.kind(key) == value_kind::integer;
        throw failure(damaged_row(
            collection, number ? std::to_string(from.integer(key)) : std::string{from.text(key)},
            collection.members()[index].name, problem));
    }
}

/// Calls `take(column, value)` for each column of a row's image.
/// Errors:  throws errc::damaged
void read_image(std::string_view image, function_view<void(std::string&&, native_value&&)> take);

/// The error of a column that an image has and its table lacks.
/// Shape:   table - as the sentence shows it; page - of the adapter's documentation
[[nodiscard]] error column_is_gone(std::string_view column, std::string_view table,
                                   std::string_view page);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/row_values.ipp>
#endif
