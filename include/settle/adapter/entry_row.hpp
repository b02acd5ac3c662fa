// SPDX-License-Identifier: BSL-1.0
// An entry as a row, for databases of tables: states and reasons are numbers, times are
// milliseconds, images and results are JSON. The columns have the order of the fields.
#pragma once

#include <settle/adapter/entry_fields.hpp>
#include <settle/adapter/image_codec.hpp>
#include <settle/adapter/row_values.hpp>
#include <settle/base/trace_context.hpp>

SETTLE_BEGIN
namespace detail {

template <typename Number>
[[nodiscard]] std::int64_t number_in(Number value) {
    if constexpr (std::is_same_v<Number, timestamp>) return value.time_since_epoch().count();
    else return static_cast<std::int64_t>(value);
}

/// Calls `give` with the value that a write stores in a field: a number, a bool or a text. Without
/// a value, it makes no call.
/// Shape:   text - empty; it may hold the value, which stays as long as the text
template <typename Give>
void with_stored_value(entry_field field, entry_write const& write, write_context const& context,
                       std::string& text, Give&& give) {
    with_value(field, write, context, [&]<typename Value>(Value const& value) {
        if constexpr (std::is_same_v<Value, std::vector<image>>) {
            append_images(text, value);
            give(std::string_view{text});
        } else if constexpr (std::is_same_v<Value, std::vector<kept_result>>) {
            append_results(text, value);
            give(std::string_view{text});
        } else if constexpr (std::is_same_v<Value, transaction_descriptor>) {
            value.append_json(text, write.parameters, secrets::written);
            give(std::string_view{text});
        } else if constexpr (std::is_same_v<Value, std::string_view> ||
                             std::is_same_v<Value, bool>) {
            give(value);
        } else {
            give(number_in(value));
        }
    });
}

/// The SQL expression for the names of a column of states or reasons.
/// Shape:   otherwise - the expression for a number that has no name
template <typename Enum>
[[nodiscard]] std::string words_of(std::string_view column, std::span<Enum const> values,
                                   std::string_view otherwise) {
    std::string sql{"CASE "};
    sql.append(column);
    for (auto const value : values) {
        sql += " WHEN " + std::to_string(static_cast<int>(value)) + " THEN '";
        sql.append(name_of(value)).append("'");
    }
    return sql.append(" ELSE ").append(otherwise).append(" END");
}

/// The columns of the view settle_entries, in which people read the entries.
/// Shape:   column(field) - as people read it; state and reason as they are stored
template <typename Column>
[[nodiscard]] std::string columns_of_view(Column&& column) {
    using enum entry_field;
    std::string sql;
    for (auto const field : {id,          type,       entry_field::state, entry_field::reason,
                             participant, line,       parameters,         created,
                             modified,    attempts,   entry_field::epoch, committed,
                             owner,       images,     definition,         revision,
                             stages_kept, results,    reason_text,        call_tries,
                             next_try,    traceparent}) {
        std::string value = column(field);
        auto const text = "CAST(" + value + " AS text)";
        if (field == entry_field::state) value = words_of<settle::state>(value, all_states, text);
        if (field == entry_field::reason) {
            value = "nullif(" + words_of<settle::reason>(value, all_reasons, text) + ", '0')";
        }
        if (!sql.empty()) sql += ", ";
        sql.append(value).append(" AS ").append(name_of(field));
    }
    return sql;
}

/// Reads the columns of a row, and keeps the first problem.
/// Shape:   Row - as in read_member(), and has name(column)
template <typename Row>
struct entry_columns {
    Row const& row;
    std::string problem{};

    void wrong(int column, std::string_view what) {
        if (!problem.empty()) return;
        problem = "its column '" + std::string{row.name(column)} + "'";
        problem += what;
    }

    template <typename Value>
    void read(entry_field field, Value& value) {
        int const column = static_cast<int>(field);
        if (may_be_absent(field) && row.kind(column) == value_kind::null) return;
        if constexpr (std::is_same_v<Value, std::string>) {
            // Only people read it, so no value of it makes an entry unusable.
            if (field == entry_field::reason_text) {
                if (row.kind(column) == value_kind::text) value = bounded_reason(row.text(column));
                return;
            }
            if (field == entry_field::traceparent) {
                auto const is_text = row.kind(column) == value_kind::text;
                if (is_text && is_traceparent(row.text(column))) value = row.text(column);
                return;
            }
        }
        if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, epoch>) {
            auto const number = row.integer(column);
            bool const good = row.kind(column) == value_kind::integer && number >= 0 &&
                              static_cast<epoch>(number) <= static_cast<epoch>(last_of(value));
            if (good) value = static_cast<Value>(number);
            else if (std::is_enum_v<Value>) wrong(column, " holds a number without a meaning");
            else wrong(column, " holds no epoch");
        } else if constexpr (std::is_same_v<Value, std::vector<image>>) {
            take(column, decode_images, value);
        } else if constexpr (std::is_same_v<Value, std::vector<kept_result>>) {
            take(column, decode_results, value);
        } else {
            auto const found = read_field(row, column, value);
            if (!found.empty()) wrong(column, std::string{" "}.append(found));
        }
    }

private:
    static constexpr epoch last_of(epoch) { return ~epoch{0}; }
    static constexpr state last_of(state) { return all_states.back(); }
    static constexpr reason last_of(reason) { return all_reasons.back(); }

    template <typename Decode, typename List>
    void take(int column, Decode decode, List& list) {
        std::string text;
        if (auto const found = read_field(row, column, text); !found.empty()) {
            return wrong(column, std::string{" "}.append(found));
        }
        auto decoded = decode(text);
        if (decoded.has_value()) list = std::move(decoded).value();
        else wrong(column, ": " + decoded.problem().text);
    }
};

/// Reads all columns that are readable; returns the first error.
template <typename Row>
[[nodiscard]] std::string read_entry(Row const& row, entry& into) {
    entry_columns<Row> from{row};
    std::string definition;
    from.read(entry_field::id, into.id);
    from.read(entry_field::type, into.type);
    from.read(entry_field::definition, definition);
    if (from.problem.empty() && !read_hex(definition, into.definition)) {
        from.problem = "its definition is no number";
    }
    from.read(entry_field::parameters, into.parameters);
    from.read(entry_field::state, into.state);
    read_members(into, [&](entry_field field, auto& value) { from.read(field, value); });
    return std::move(from.problem);
}

/// Reads an entry of a listing. A damaged entry has its error and no parameters: no worker claims
/// it, and it does not block the others.
template <typename Row>
void read_listed(Row const& row, entry& into) {
    into.fault = read_entry(row, into);
    if (!into.fault.empty()) into.parameters.clear();
    // The next page begins after this id, even if the id is damaged.
    if (into.id.empty()) into.id = row.text(static_cast<int>(entry_field::id));
}

/// The error of a single damaged entry.
[[nodiscard]] inline error damaged_entry(transaction_id const& id, std::string const& problem) {
    return {make_error_code(errc::damaged), "settle: the entry '" + id +
                                                "' is damaged: " + problem +
                                                ". Repair its row in settle_entry. "
                                                "See errors#damaged"};
}

} // namespace detail
SETTLE_END
