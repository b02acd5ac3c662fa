// SPDX-License-Identifier: BSL-1.0
// Values pass unchanged in both directions, alone and in waves, in the row form and in the set
// form.
#include "sums.hpp"

#include <settle/mariadb/connection/dialect.hpp>

#include <limits>

namespace settle_test {
namespace {

using maria::detail::column_values;
using maria::detail::expectation;
using maria::detail::for_each_row;
using maria::detail::row;
using maria::detail::wave_sql;
using settle::detail::value_kind;

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

/// Texts that a server may change on their way.
std::vector<std::string> texts() {
    return {"",
            "\0"s,
            "a\0b"s,
            "trailing  ",
            " \t\r\n\b\f\x1b\x7f",
            "'\"`\\%_?$1 w.c0 ?wave",
            "ä\u20ac\U0001F600\U0010FFFF",
            "NULL",
            "{\"a\":[1]}",
            std::string(100'000, 'x') + "ä" + std::string(100'000, ' ')};
}

TEST_CASE("values: values pass unchanged as parameters") {
    fresh_mariadb const own;
    pool pool{own.address(), {}};
    auto const& echo = pool.prepare("SELECT $2, $1, $3, $4, $1, $5, '$1', `$1` FROM "
                                    "(SELECT 7 AS `$1`) AS t",
                                    {text_value, integer_value}, "echo");
    auto connection = pool.take();
    for (auto const& text : texts()) {
        for (std::int64_t const number : {least, std::int64_t{-1}, std::int64_t{0}, most}) {
            auto const sent = connection->send(echo, text, number, true, -0.1, nullptr);
            connection->sync();
            auto const& answer = connection->result(sent);
            REQUIRE(answer.size() == 1);
            CHECK(answer.integer(0, 0) == number);
            CHECK(answer.text(0, 1) == text);
            CHECK(answer.boolean(0, 2));
            CHECK(answer.text(0, 3) == "-0.1");
            CHECK(answer.text(0, 4) == text);
            CHECK(answer.is_null(0, 5));
            CHECK(answer.text(0, 5).empty());
            CHECK(answer.text(0, 6) == "$1");
            CHECK(answer.integer(0, 7) == 7);
        }
    }
}

TEST_CASE("values: values pass unchanged in waves, whatever their size and their form") {
    fresh_mariadb const own;
    pool pool{own.address(), {}};
    ask(own.address(), "CREATE TABLE held (n INT PRIMARY KEY, t LONGTEXT CHARACTER SET utf8mb4 "
                       "COLLATE utf8mb4_nopad_bin, i BIGINT, b BOOLEAN, f BIGINT)");
    std::vector const types{integer_array, text_array, integer_array,
                            parameter_type{column_kind::boolean, true}, integer_value};
    auto const& select = pool.prepare("INSERT INTO held SELECT w.c0, w.c1, w.c2, w.c3, $5 FROM \1" +
                                          wave_sql(types, false) + "\2DUAL\3",
                                      types, "insert", expectation::all);
    auto const& values =
        pool.prepare(maria::detail::dialect::insert("held", "n, t, i, b, f",
                                                    "w.c0, w.c1, w.c2, w.c3, $5", types, ""),
                     types, "insert", expectation::counted);
    auto const samples = texts();
    auto const check = [&](maria::detail::statement const& insert, std::size_t count) {
        CAPTURE(count);
        ask(own.address(), "DELETE FROM held");
        array_value numbers{column_kind::integer};
        array_value held{column_kind::text};
        array_value integers{column_kind::integer};
        array_value booleans{column_kind::boolean};
        auto const text_of = [&](std::size_t row) -> std::string const& {
            // The long text comes once.
            return samples[(row + samples.size() - 1) %
                           (row < samples.size() ? samples.size() : samples.size() - 1)];
        };
        auto const integer_of = [](std::size_t row) {
            return row % 3 == 0 ? least : row % 3 == 1 ? most : std::int64_t{1} << 53U | 1;
        };
        for (std::size_t row = 0; row < count; ++row) {
            numbers.add(static_cast<std::int64_t>(row));
            if (row % 7 == 6) held.add(nullptr);
            else held.add(text_of(row));
            integers.add(row % 5 == 4 ? std::nullopt : std::optional{integer_of(row)});
            booleans.add(row % 2 == 0);
        }
        auto connection = pool.take();
        auto const inserted =
            connection->send(insert, numbers, held, integers, booleans, std::int64_t{9});
        auto const read = connection->send_sql("SELECT * FROM held ORDER BY n", "read");
        connection->sync();
        CHECK(connection->result(inserted).changed() == static_cast<std::int64_t>(count));
        auto const& answer = connection->result(read);
        REQUIRE(answer.size() == static_cast<int>(count));
        for (std::size_t row = 0; row < count; ++row) {
            auto const index = static_cast<int>(row);
            CHECK(answer.integer(index, 0) == index);
            CHECK(answer.is_null(index, 1) == (row % 7 == 6));
            if (row % 7 != 6) CHECK(answer.text(index, 1) == text_of(row));
            CHECK(answer.is_null(index, 2) == (row % 5 == 4));
            if (row % 5 != 4) CHECK(answer.integer(index, 2) == integer_of(row));
            CHECK(answer.boolean(index, 3) == (row % 2 == 0));
            CHECK(answer.integer(index, 4) == 9);
        }
    };
    // As a list, as JSON, and row by row in a message of its own.
    for (std::size_t const count : {0U, 1U, 3U, 4U, 100U, 101U, 1000U}) {
        check(select, count);
        check(values, count);
    }
}

TEST_CASE("values: both forms of a statement give the same answers and changes") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    std::vector const types{text_array, integer_array, integer_value};
    auto const& read = pool.prepare("SELECT t.id, t.n, w.n, w.c1 + $3 + $3 FROM " +
                                        wave(types, true) + "sums AS t WHERE t.id = w.c0",
                                    types, "read sums");
    auto const& add = pool.prepare("UPDATE " + wave(types) +
                                       "sums AS t SET t.n = t.n + w.c1 + $3 WHERE t.id = w.c0",
                                   types, "add to sums", maria::detail::expectation::counted);
    std::vector<std::vector<std::string>> answers;
    for (bool const by_row : {true, false}) {
        CAPTURE(by_row);
        ask(own.address(), "UPDATE sums SET n = 0");
        auto ids = array_value::texts();
        auto numbers = array_value::integers();
        // In the other form, the last row finds nothing twice.
        for (char const* const id : {"c", "nobody", "a"}) ids.add(std::string_view{id});
        for (std::int64_t const number : {1, 2, 3}) numbers.add(number);
        if (!by_row) {
            ids.add("nothing"sv);
            numbers.add(std::int64_t{4});
        }
        auto connection = pool.take();
        auto const before = connection->take_round_trips();
        static_cast<void>(before);
        auto const added = connection->send(add, ids, numbers, std::int64_t{10});
        auto const sent = connection->send(read, ids, numbers, std::int64_t{10});
        connection->sync();
        CHECK(connection->take_round_trips() == 2); // with the prepare
        CHECK(connection->result(added).changed() == 2);
        auto& answer = answers.emplace_back();
        for_each_row(connection->result(sent), [&](row const& each) {
            CHECK(each.name(0) == "id");
            CHECK(each.kind(0) == value_kind::text);
            CHECK(each.kind(1) == value_kind::integer);
            answer.push_back(std::string{each.text(0)} + " " + std::to_string(each.integer(1)) +
                             " " + std::to_string(each.integer(2)) + " " +
                             std::to_string(each.integer(3)));
        });
    }
    CHECK(answers[0] == std::vector<std::string>{"c 11 1 21", "a 13 3 23"});
    CHECK(answers[0] == answers[1]);
}

TEST_CASE("values: columns have their kinds, and real numbers their digits") {
    fresh_mariadb const own;
    ask(own.address(),
        "CREATE TABLE kinds (a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d INT ZEROFILL, "
        "e BIGINT, f BIGINT UNSIGNED, g BIGINT UNSIGNED, h BOOLEAN, i YEAR, j BIT(9), "
        "k DECIMAL(65,30), l FLOAT, m DOUBLE, n DATETIME(6), o VARBINARY(256), p TIME(6), q JSON, "
        "r DOUBLE, s TINYINT)");
    ask(own.address(),
        "INSERT INTO kinds VALUES (-128, 65535, -8388608, 42, -9223372036854775808, "
        "9223372036854775807, 18446744073709551615, TRUE, 2026, b'100000001', "
        "12345678901234567890.123456789012345678901234567890, 0.1, 0.1, "
        "'2026-11-28 01:02:03.000400', x'00ff275c', '-838:59:58.999999', '[1]', 4.9e-324, NULL)");
    pool pool{own.address(), {}};
    auto connection = pool.take();
    auto const& select = pool.prepare("SELECT * FROM kinds", {}, "read");
    std::vector const texts{"-128"s,
                            "65535"s,
                            "-8388608"s,
                            "0000000042"s,
                            "-9223372036854775808"s,
                            "9223372036854775807"s,
                            "18446744073709551615"s,
                            "1"s,
                            "2026"s,
                            "\1\1"s,
                            "12345678901234567890.123456789012345678901234567890"s,
                            "0.1"s,
                            "0.1"s,
                            "2026-11-28 01:02:03.000400"s,
                            "\0\xff'\\"s,
                            "-838:59:58.999999"s,
                            "[1]"s,
                            "5e-324"s,
                            ""s};
    // Alone, in a compound, and as text.
    for (int const way : {0, 1, 2}) {
        CAPTURE(way);
        if (way == 1) connection->begin();
        auto const number = way == 2 ? connection->send_sql("SELECT * FROM kinds", "read")
                                     : connection->send(select);
        connection->sync();
        auto const& found = connection->result(number);
        REQUIRE(found.size() == 1);
        row const only{found, 0};
        for (int column = 0; column < static_cast<int>(texts.size()); ++column) {
            CAPTURE(column);
            bool const is_integer = column < 8 && column != 6;
            auto const kind = column == 18  ? value_kind::null
                              : column == 6 ? value_kind::other
                              : is_integer  ? value_kind::integer
                                            : value_kind::text;
            CHECK(only.kind(column) == kind);
            bool const is_shortest = way != 2 || column != 17;
            if (is_shortest) CHECK(only.text(column) == texts[static_cast<std::size_t>(column)]);
            if (is_integer) {
                CHECK(std::to_string(only.integer(column)) ==
                      (column == 3 ? "42" : texts[static_cast<std::size_t>(column)]));
            }
        }
        connection->rollback();
    }
}

TEST_CASE("values: a statement is cut at its values, and not within quotes and names") {
    using source = maria::detail::statement_form::source;
    statement const both{
        "UPDATE \1?wave AS w, \2\3`a'$1` AS t SET t.x = 'w.c0 $1''\\\'w.n' + w.c12, "
        "rw.c0 = t.w.n, y = w.n WHERE \"?wave\" = $12 AND w.name = $1",
        {},
        "test",
        0};
    auto const shown = [](maria::detail::statement_form const& form) {
        std::string sql;
        for (std::size_t index = 0; index < form.places.size(); ++index) {
            auto const [from, number] = form.places[index];
            sql += form.texts[index] + "<" + "vwen"[static_cast<std::size_t>(from)] +
                   std::to_string(number) + ">";
        }
        return sql + form.texts.back();
    };
    static_assert(static_cast<int>(source::row_number) == 3);
    CHECK(shown(both.set_form) ==
          "UPDATE <w0> AS w, `a'$1` AS t SET t.x = 'w.c0 $1''\\\'w.n' + w.c12, rw.c0 = t.w.n, "
          "y = w.n WHERE \"?wave\" = <v11> AND w.name = <v0>");
    CHECK(shown(both.row_form) ==
          "UPDATE `a'$1` AS t SET t.x = 'w.c0 $1''\\\'w.n' + <e12>, rw.c0 = t.w.n, y = <n0> "
          "WHERE \"?wave\" = <v11> AND w.name = <v0>");
    CHECK_FALSE(both.has_result);
    CHECK(statement{"SELECT 1", {}, "test", 0}.reads);
    statement const returning{"INSERT INTO t VALUES (1) RETURNING a", {}, "test", 0};
    CHECK(returning.has_result);
    CHECK_FALSE(returning.reads);
    CHECK_FALSE(statement{"INSERT INTO t VALUES (' RETURNING ')", {}, "test", 0}.has_result);
    CHECK(wave_sql(std::vector{text_value, text_array, integer_value, integer_array}, true) ==
          "JSON_TABLE(?wave, '$[*]' COLUMNS(n FOR ORDINALITY, c1 LONGTEXT CHARACTER SET utf8mb4 "
          "COLLATE utf8mb4_nopad_bin PATH '$[0]', c3 BIGINT PATH '$[1]')) AS w");
}

TEST_CASE("values: one value for all, or an array") {
    column_values same{column_kind::integer};
    column_values different{column_kind::text};
    for (char const* const each : {"a", "b"}) {
        same.add(std::int64_t{7});
        different.add(std::string_view{each});
    }
    CHECK_FALSE(same.differ());
    CHECK(different.differ());
    maria::detail::parameters values;
    same.bind_value(values);
    different.bind_array(values);
    CHECK(values.count() == 2);
    CHECK(values.wave_size() == 2);
    CHECK(values.wave_json() == R"([["a"],["b"]])");
}

} // namespace
} // namespace settle_test
