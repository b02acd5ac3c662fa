// SPDX-License-Identifier: BSL-1.0
// Statements: their parameters `$1`, `$2`, …, and their forms for waves of many and of few rows.
#pragma once

#include <settle/adapter/sql/parameter_type.hpp>
#include <settle/mariadb/connection/error.hpp>

#include <cstdint>
#include <span>
#include <vector>

SETTLE_BEGIN
namespace mariadb::detail {

using settle::detail::sql::parameter_type;

/// How many rows a statement must find. Otherwise it fails with wrong_count, and its native
/// transaction has no effect.
enum class expectation : std::uint8_t {
    none,
    counted, ///< any number, which rows::changed() gives
    all,     ///< one for each row of the wave; one without a wave
    no_row
};

/// Waves of at most so many rows are executed in the row form. As measured, an UPDATE of one row
/// takes half the time then, and from 3 rows on a SELECT takes more.
inline constexpr std::size_t most_single_rows = 3;

/// The SQL of a statement, cut at the places of its values.
struct statement_form {
    enum class source : std::uint8_t {
        value,      ///< `$1`
        wave,       ///< `?wave`: all arrays as JSON
        element,    ///< `w.c0`: the row's value of an array
        row_number, ///< `w.n`: from 1 on
        list_begin, ///< what follows stands once for each row
        list_end    ///< with this number of commas between
    };
    struct place {
        source from;
        std::size_t number; ///< of the parameter, from 0 on
    };
    std::vector<std::string> texts{}; ///< one more than places
    std::vector<place> places{};
    bool has_list = false; ///< it is executed once for all rows
    bool repeats = false;  ///< the list may name a row twice, so it is for more rows, too
};

/// A statement, which each connection prepares when it first sends it. The pool makes statements.
struct statement {
    /// Shape:   text - SQL with `$1`, `$2`, …, each at any place and any number of times. A wave is
    ///          wave_sql(). Text between "\x01" and "\x02" stands in the set form alone, and text
    ///          between "\x02" and "\x03" in the row form. The row form is executed for each row
    ///          of a small wave; without "\x01" there is none. With text between "\x04" and "\x05"
    ///          or "\x06", it is executed once, and the text stands there once for each row, with
    ///          commas between or with nothing. A list up to "\x07" has commas, and may name a row
    ///          twice. A set form that begins with SELECT COUNT expects its count. At most one
    ///          result: of a statement that begins with SELECT, WITH or SHOW, or that has
    ///          RETURNING, which allows no expectation
    ///          phase - the action, as error sentences put it after "MariaDB could not"; a literal
    statement(std::string text, std::vector<parameter_type> kinds, char const* action,
              std::size_t in_pool, expectation count = expectation::none);

    std::string sql;
    std::vector<parameter_type> types;
    char const* phase;
    std::size_t number; ///< in its pool
    expectation expects;
    statement_form set_form{};
    statement_form row_form{}; ///< empty if there is none
    bool inserts = false;      ///< its row form is an INSERT of a list
    bool reads = false;        ///< it is a SELECT
    bool has_result = false;
};

/// The arrays among a statement's parameters as the table `w`: array N is its column `cN`. With a
/// number, its column `n` counts the rows from 1 on.
[[nodiscard]] std::string wave_sql(std::span<parameter_type const> types, bool with_number);

/// A statement that raises an error of this library: table_altered, wrong_count or no_way_back.
[[nodiscard]] std::string raised_sql(error_number code);

/// A name as SQL takes it.
[[nodiscard]] std::string quoted_name(std::string_view name);
/// A text literal. A backslash escapes in MariaDB.
[[nodiscard]] std::string quoted_text(std::string_view text);

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/statement.ipp>
#endif
