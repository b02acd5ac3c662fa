// SPDX-License-Identifier: BSL-1.0
// A record as the columns of a row: what each column must hold, how it is bound and how it is read.
// Structs and lists inside of a record are texts, of JSON.
#pragma once

#include <settle/sqlite/wave_rows.hpp>
#include <settle/definition/nested_type.hpp>
#include <settle/store/codec.hpp>
#include <settle/store/native_value.hpp>
#include <settle/store/utf8.hpp>

#include <vector>

SETTLE_BEGIN
namespace sqlite::detail {

/// The values that a column must be able to keep.
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

/// A key of a collection as statements take it: a text is looked at in place.
template <typename Collection>
using key_view = std::conditional_t<std::is_same_v<typename Collection::key_type, std::string>,
                                    std::string_view, std::int64_t>;

template <typename Collection>
[[nodiscard]] table_need need_of() {
    using record = typename Collection::record_type;
    table_need need{Collection::name, {}};
    for_each_member<record>([&](auto m) {
        using type = typename decltype(m)::type;
        using traits = field_traits<type>;
        constexpr auto kind = NestedType<type> ? field_kind::text : traits::kind;
        need.columns.push_back({m.name, kind, traits::optional,
                                m.index == member_index<record, Collection::key_member>});
    });
    return need;
}

/// Calls `give` with a field as a column has it: an integer, a text or nothing; or `give_copy` with
/// a text that goes with the call.
template <typename T, typename Give, typename GiveCopy>
void as_column(T const& value, Give&& give, GiveCopy&& give_copy) {
    if constexpr (field_traits<T>::optional) {
        if (value) as_column(*value, give, give_copy);
        else give(nullptr);
    } else if constexpr (field_traits<T>::kind == field_kind::text) {
        give(std::string_view{value});
    } else if constexpr (NestedType<T>) {
        give_copy(encode_json(value));
    } else {
        give(to_integer(value));
    }
}

template <typename T>
void bind_field(run& to, T const& value) {
    as_column(
        value, [&](auto column) { to.bind(column); },
        [&](std::string const& json) { to.bind_copy(json); });
}

template <typename T>
void give_field(cell to, T const& value) {
    as_column(
        value, [&](auto column) { to.give(column); },
        [&](std::string const& json) { to.give_copy(json); });
}

/// Reads a field; returns the error or an empty text. It never shows a value, which may be secret.
template <typename T>
[[nodiscard]] std::string_view read_field(run const& from, int column, T& value) {
    auto const type = from.type(column);
    if constexpr (field_traits<T>::optional) {
        if (type == SQLITE_NULL) {
            value.reset();
            return {};
        }
        return read_field(from, column, value.emplace());
    } else if constexpr (field_traits<T>::kind == field_kind::text) {
        if (type != SQLITE_TEXT) return type == SQLITE_NULL ? "is NULL" : "holds no text";
        auto const text = from.text(column);
        if (!is_utf8(text)) {
            return fault_of_text(text) == "holds a NUL" ? "holds a text with a NUL in it"
                                                        : "holds a text that is not UTF-8";
        }
        value = text;
        return {};
    } else if constexpr (NestedType<T>) {
        if (type != SQLITE_TEXT) return type == SQLITE_NULL ? "is NULL" : "holds no text";
        auto found = decode_json<T>(from.text(column));
        if (!found.has_value()) return "holds no JSON of its struct";
        value = std::move(found.value());
        return {};
    } else {
        if (type != SQLITE_INTEGER) return type == SQLITE_NULL ? "is NULL" : "holds no integer";
        if (!from_integer(from.integer(column), value)) {
            return "holds a number that is none of the field's values";
        }
        return {};
    }
}

/// A key as error sentences show it.
[[nodiscard]] std::string shown(std::int64_t key);
[[nodiscard]] std::string shown(std::string_view key);

/// Reads a record whose members are the columns from `first` on, in the order of the description.
/// Errors:  throws errc::damaged, naming record and column
template <typename Collection>
void read_record(run const& from, int first, typename Collection::record_type& record) {
    using record_type = typename Collection::record_type;
    for_each_member<record_type>([&](auto m) {
        auto const column = first + static_cast<int>(m.index);
        auto const problem = read_field(from, column, record.*decltype(m)::pointer);
        if (problem.empty()) return;
        constexpr auto key = member_index<record_type, Collection::key_member>;
        auto const name = from.text(first + static_cast<int>(key));
        std::string text{"settle: the row "};
        text.append(shown(name)).append(" of the table '").append(Collection::name);
        text.append("' is damaged: its column '").append(m.name).append("' ").append(problem);
        raise(errc::damaged, text.append(". Repair that row. See errors#damaged"));
    });
}

/// A value of any column.
[[nodiscard]] native_value read_native_column(run const& from, int column);

void bind_native(run& to, native_value const& value);

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/row.ipp>
#endif
