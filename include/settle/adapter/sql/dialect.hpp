// SPDX-License-Identifier: BSL-1.0
// What the tables of adapter/sql/ ask of a database's SQL. Their statements have parameters `$1`,
// `$2`, …; a statement on a wave finds the wave's columns in the table `w`, as parameter_type.hpp
// says. An adapter names its dialect in its parts (adapter/sql/record_waves.hpp): a struct with
// these static functions, which give SQL.
//
//   name(text), quoted(text)                 a name, quoted if it may be a reserved word; or always
//   table_name(pool, text)                   a table's name, with its schema
//   as_text(value), one()                    the value as a text; the number 1
//   read_sql(column), write_sql(column, value)
//                                            a column of the table `t` as it is exchanged, and back
//   row_stands(stands, value)                ` AND …`, which fails with an error if `stands` is
//                                            false; empty where the server notices an altered table
//                                            itself
//   in_time(limit, value)                    the value; an error of the adapter once the server's
//                                            clock has passed the limit, in milliseconds since 1970
//   exists(table, condition)
//   among(key, value), by_key(key, key_value, value)
//                                            that a key is one of the wave's; the wave's value for
//                                            that key. Some rows are then changed by one statement
//   among_many(keys)                         that some columns are those of a row of the wave, in a
//                                            statement that takes no other value of the row
//
// Of rows that are found beside the rows of a wave, with `types` of all parameters:
//
//   lock(list, types, table, alias, condition)     reads and locks them in the order of the wave
//   look_up(list, types, table, alias, condition)  reads them, each by an index
//   update(table, alias, sets, types, condition)   also of one row, without a wave
//   update_giving(list, …)                         the same, and gives a list of columns
//   erase(table, alias, types, condition)
//   erased_name(table, alias)                      the alias of a table whose rows are erased
//   update_found, erase_found(…, condition, keys, others)
//                                                  the same, where columns are those of a row of
//                                                  the wave, and a row is found by `keys` first
//   insert(table, names, values, types, condition)
//   insert_absent(table, names, values, types, condition, key, value)
//                                                  inserts where no row has the key; gives the keys
//   page_of_marks(table)
//   version(alias)                                 a number that differs after each change of a
//   row,
//                                                  or NULL
//   begin_snapshot(connection)                     begins a native transaction whose statements all
//                                                  read one moment
//
// Statements that fail with an error of the adapter, and undo their native transaction:
//
//   prepare_exact(pool, sql, types, phase, stands)  if it does not change a row for each row of the
//                                                   wave; the last parameter is their number
//   prepare_exact_lock(pool, table, alias, key, types, condition, stands)
//                                                   the same for rows that are locked alone
//   prepare_absent(pool, types, table, alias, key, value, condition)
//                                                   if a row of the wave finds a row by its key
//
//   most_rows_of_one_update                         so many rows are changed by one UPDATE, with
//   rows
//                                                   that it locks alone
//   returns_changes                                 an UPDATE can give the rows that it changed
//   has_places                                      a row can be found by its place, a text:
//   giving_places                                   the end of an insert that gives the places of
//                                                   its rows in their order; or empty
//   is_at(alias, place)                             that a row is at a place, a column of the wave
//   without_disk                                    the commit of this native transaction does not
//                                                   wait for the disk; empty where none can
//   with_disk                                       if without_disk is not empty: a statement whose
//                                                   commit waits until all before it is on the disk
//   committed_is_null                               an entry without a committed epoch has NULL
#pragma once

#include <settle/adapter/sql/parameter_type.hpp>

#include <string>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail::sql {

/// Columns and their new values.
using assignments = std::vector<std::pair<std::string, std::string>>;

/// The assignments of an UPDATE.
/// Shape:   qualifier - before each column
[[nodiscard]] inline std::string assignments_sql(assignments const& sets,
                                                 std::string const& qualifier = "") {
    std::string sql;
    for (auto const& [column, value] : sets) {
        sql.append(sql.empty() ? "" : ", ").append(qualifier).append(column);
        sql.append(" = ").append(value);
    }
    return sql;
}

} // namespace detail::sql
SETTLE_END
