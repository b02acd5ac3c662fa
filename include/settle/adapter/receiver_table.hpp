// SPDX-License-Identifier: BSL-1.0
// The rows of a receiver in a table of a SQL database.
#pragma once

#include <settle/adapter/row_values.hpp>
#include <settle/kinds/services/receiver_row.hpp>

#include <array>

SETTLE_BEGIN
namespace detail {

/// The statements of the table.
class receiver_sql {
public:
    /// Shape:   table - as SQL takes it; sign - before the number of a parameter: `?1` or `$1`;
    ///          key - the name of the key's column, as SQL takes it
    receiver_sql(std::string table, char sign, std::string key = "key")
        : table_(std::move(table)), key_(std::move(key)), sign_(sign) {}

    /// Creates the table and its index.
    /// Shape:   key - type and constraint of the key; options - of the table, after its columns
    [[nodiscard]] std::array<std::string, 2> create(std::string_view key,
                                                    std::string_view options = {}) const;
    /// Rows for read_receiver_row().
    /// Shape:   condition - with `?` as the sign
    [[nodiscard]] std::string select(std::string_view condition) const;
    /// The columns of such a row.
    [[nodiscard]] std::string selected() const;
    /// Rows in the order of their keys. page_of_receiver_rows() gives the parameters.
    [[nodiscard]] std::string list() const;
    /// Inserts or replaces a row. values_of_receiver_row() gives the parameters.
    [[nodiscard]] std::string store() const;
    /// What follows INSERT or REPLACE, with the parameters of store().
    [[nodiscard]] std::string insert() const;
    /// Erases at most ?2 rows whose end_of() (the last moment of an ended row) precedes ?1.
    /// Shape:   lock - a clause after the query of their keys
    [[nodiscard]] std::string erase(std::string_view lock = {}) const;

private:
    [[nodiscard]] std::string columns() const;
    [[nodiscard]] std::string with_sign(std::string_view sql) const;

    std::string table_;
    std::string key_;
    char sign_;
};

[[noreturn]] void raise_damaged_receiver_row(std::string_view key);

/// Shape:   from - a row of receiver_sql::select(), with kind(column), integer(column) and
///          text(column)
/// Errors:  throws errc::damaged
template <typename Row>
[[nodiscard]] receiver_row read_receiver_row(Row const& from) {
    auto const time = [&](int column) {
        return timestamp{std::chrono::milliseconds{from.integer(column)}};
    };
    receiver_row row;
    row.key = from.text(0);
    auto const status = receiver_status_named(from.text(1));
    if (!status || from.kind(8) != value_kind::integer) raise_damaged_receiver_row(row.key);
    row.standing = {*status, from.integer(7) != 0, time(8)};
    row.answer = from.text(2);
    row.service = from.text(3);
    row.transaction = from.text(4);
    row.participant = from.text(5);
    if (from.kind(6) != value_kind::null) row.line = static_cast<std::uint32_t>(from.integer(6));
    row.created = time(9);
    row.modified = time(10);
    row.request = from.text(11);
    return row;
}

/// Calls `give(values…)` with the parameters of receiver_sql::store().
template <typename Give>
void values_of_receiver_row(receiver_row const& row, Give&& give) {
    auto const number = [](timestamp moment) {
        return static_cast<std::int64_t>(moment.time_since_epoch().count());
    };
    auto const& standing = row.standing;
    std::optional<std::int64_t> line;
    if (row.line) line = *row.line;
    // Without a value while the row must stay, so that a purge looks at no other row.
    std::optional<std::int64_t> ends;
    if (auto const end = end_of(standing)) ends = number(*end);
    give(row.key, name_of(standing.status), row.answer, row.service, row.transaction,
         row.participant, line, standing.has_apply, number(standing.last_moment),
         number(row.created), number(row.modified), ends, row.request);
}

/// Calls `give(values…)` with the parameters of receiver_sql::list().
template <typename Give>
void page_of_receiver_rows(receiver_filter const& filter, std::string_view after, std::size_t limit,
                           Give&& give) {
    std::optional<std::string_view> status;
    if (filter.status) status = name_of(*filter.status);
    std::optional<std::string_view> id;
    if (!filter.transaction.empty()) id = filter.transaction;
    give(after, status, id, limit_of(limit));
}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/receiver_table.ipp>
#endif
