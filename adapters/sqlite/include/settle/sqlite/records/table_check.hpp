// SPDX-License-Identifier: BSL-1.0
// Creates the table of a collection, or checks an existing table: a table that could refuse or
// change a write of settle is refused when the collection is bound.
#pragma once

#include <settle/adapter/table_rules.hpp>
#include <settle/sqlite/connection/row.hpp>
#include <settle/sqlite/connection/sql_words.hpp>
#include <settle/sqlite/connection/writer.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace sqlite::detail {

enum class affinity : std::uint8_t { integer, text, blob, real, numeric };

/// Source:  https://www.sqlite.org/datatype3.html, section 3.1
[[nodiscard]] affinity affinity_of(std::string_view declared);

/// A column of the existing table.
struct column_found {
    std::string name;
    std::string type;
    bool not_null = false;
    std::int64_t in_primary_key = 0;
    bool generated = false;
};

class table_check : settle::detail::table_rules {
public:
    table_check(connection const& connection, table_need const& need)
        : table_rules(need, "'" + std::string{need.name} + "'", "sqlite"), on_(connection) {}

    /// Errors:  throws errc::unfit_store with one sentence that names the change to make
    void check();

private:
    void check_kind() const;

    void read_columns();

    [[nodiscard]] column_found const& column(std::string_view name) const;

    void check_column(column_need const& needed) const;

    /// Columns for these kinds are declared BOOLEAN, DATE and the like, which hold whole numbers
    /// exactly.
    static bool keeps_as_numeric(field_kind kind, affinity has) {
        return has == affinity::numeric &&
               (kind == field_kind::boolean || kind == field_kind::time);
    }

    /// Refuses an index with a collation or a function that this process does not have.
    void check_indexes() const;

    void check_key() const;

    /// An INTEGER PRIMARY KEY is the table's own order and has no index.
    [[nodiscard]] bool is_rowid(column_need const& key) const;

    void check_obstacles() const;

    connection const& on_;
    std::vector<column_found> found_;
};

[[nodiscard]] std::string create_sql(table_need const& need);

/// Creates the table if it does not exist; an existing table is used unchanged if it fits.
/// Errors:  throws settle::failure
void settle_table(writer& writer, table_need const& need);

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/records/table_check.ipp>
#endif
