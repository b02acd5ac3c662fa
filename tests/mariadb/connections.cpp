// SPDX-License-Identifier: BSL-1.0
// Values pass unchanged in both directions and in both forms; statements share a round trip; a
// failed statement undoes its native transaction; connections are shared and replaced.
#include "sums.hpp"

#include <atomic>
#include <limits>
#include <thread>

namespace settle_test {
namespace {

using maria::detail::column_values;
using maria::detail::expectation;
using maria::detail::quoted_text;
using maria::detail::wave_sql;
using settle::detail::value_kind;

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

/// The SQL of a wave of parameters in the set form, and nothing in the row form.
std::string wave(std::vector<parameter_type> const& types, bool with_number = false) {
    return "\1" + wave_sql(types, with_number) + " STRAIGHT_JOIN \2\3";
}

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

TEST_CASE("connections: values pass unchanged as parameters") {
    fresh_mariadb const own;
    pool with{own.address(), {}};
    auto const& echo = with.prepare("SELECT $2, $1, $3, $4, $1, $5, '$1', `$1` FROM "
                                    "(SELECT 7 AS `$1`) AS t",
                                    {text_value, integer_value}, "echo");
    auto here = with.take();
    for (auto const& text : texts()) {
        for (std::int64_t const number : {least, std::int64_t{-1}, std::int64_t{0}, most}) {
            auto const sent = here->send(echo, text, number, true, -0.1, nullptr);
            here->sync();
            auto const& found = here->result(sent);
            REQUIRE(found.size() == 1);
            CHECK(found.integer(0, 0) == number);
            CHECK(found.text(0, 1) == text);
            CHECK(found.boolean(0, 2));
            CHECK(found.text(0, 3) == "-0.1");
            CHECK(found.text(0, 4) == text);
            CHECK(found.is_null(0, 5));
            CHECK(found.text(0, 5).empty());
            CHECK(found.text(0, 6) == "$1");
            CHECK(found.integer(0, 7) == 7);
        }
    }
}

TEST_CASE("connections: values pass unchanged in waves, whatever their size and their form") {
    fresh_mariadb const own;
    pool with{own.address(), {}};
    ask(own.address(), "CREATE TABLE held (n INT PRIMARY KEY, t LONGTEXT CHARACTER SET utf8mb4 "
                       "COLLATE utf8mb4_nopad_bin, i BIGINT, b BOOLEAN, f BIGINT)");
    std::vector const types{integer_array, text_array, integer_array,
                            parameter_type{column_kind::boolean, true}, integer_value};
    auto const& insert = with.prepare("INSERT INTO held SELECT w.c0, w.c1, w.c2, w.c3, $5 FROM \1" +
                                          wave_sql(types, false) + "\2DUAL\3",
                                      types, "insert", expectation::all);
    auto const all = texts();
    for (std::size_t const count :
         {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{1000}}) {
        CAPTURE(count);
        ask(own.address(), "DELETE FROM held");
        array_value numbers{column_kind::integer};
        array_value held{column_kind::text};
        array_value integers{column_kind::integer};
        array_value booleans{column_kind::boolean};
        auto const text_of = [&](std::size_t row) -> std::string const& {
            // The long text comes once.
            return all[(row + all.size() - 1) % (row < all.size() ? all.size() : all.size() - 1)];
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
        auto here = with.take();
        auto const inserted =
            here->send(insert, numbers, held, integers, booleans, std::int64_t{9});
        auto const read = here->send_sql("SELECT * FROM held ORDER BY n", "read");
        here->sync();
        CHECK(here->result(inserted).changed() == static_cast<std::int64_t>(count));
        auto const& found = here->result(read);
        REQUIRE(found.size() == static_cast<int>(count));
        for (std::size_t row = 0; row < count; ++row) {
            auto const at = static_cast<int>(row);
            CHECK(found.integer(at, 0) == at);
            CHECK(found.is_null(at, 1) == (row % 7 == 6));
            if (row % 7 != 6) CHECK(found.text(at, 1) == text_of(row));
            CHECK(found.is_null(at, 2) == (row % 5 == 4));
            if (row % 5 != 4) CHECK(found.integer(at, 2) == integer_of(row));
            CHECK(found.boolean(at, 3) == (row % 2 == 0));
            CHECK(found.integer(at, 4) == 9);
        }
    }
}

TEST_CASE("connections: both forms of a statement give the same answers and changes") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool with{own.address(), {}};
    std::vector const types{text_array, integer_array, integer_value};
    auto const& read = with.prepare("SELECT t.id, t.n, w.n, w.c1 + $3 + $3 FROM " +
                                        wave(types, true) + "sums AS t WHERE t.id = w.c0",
                                    types, "read sums");
    auto const& add = with.prepare("UPDATE " + wave(types) +
                                       "sums AS t SET t.n = t.n + w.c1 + $3 WHERE t.id = w.c0",
                                   types, "add to sums");
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
        auto here = with.take();
        auto const before = here->take_round_trips();
        static_cast<void>(before);
        auto const added = here->send(add, ids, numbers, std::int64_t{10});
        auto const sent = here->send(read, ids, numbers, std::int64_t{10});
        here->sync();
        CHECK(here->take_round_trips() == 2); // with the prepare
        CHECK(here->result(added).changed() == 2);
        auto& answer = answers.emplace_back();
        for_each_row(here->result(sent), [&](row const& each) {
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

TEST_CASE("connections: columns have their kinds, and real numbers their digits") {
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
    pool with{own.address(), {}};
    auto here = with.take();
    auto const& select = with.prepare("SELECT * FROM kinds", {}, "read");
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
        if (way == 1) here->begin();
        auto const number =
            way == 2 ? here->send_sql("SELECT * FROM kinds", "read") : here->send(select);
        here->sync();
        auto const& found = here->result(number);
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
        here->rollback();
    }
}

TEST_CASE("connections: one value for all, or an array") {
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

TEST_CASE("connections: a wave costs one round trip, and one more for each sync in between") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool with{own.address(), {}};
    auto const& read =
        with.prepare("SELECT n FROM sums WHERE id = $1 FOR UPDATE", {text_value}, "read a sum");
    CHECK(&read == &with.prepare("SELECT n FROM sums WHERE id = $1 FOR UPDATE", {text_value}, "x"));
    auto const& update = with.prepare("UPDATE sums SET n = n + $2 WHERE id = $1",
                                      {text_value, integer_value}, "add to a sum");
    for (int const round : {0, 1}) {
        CAPTURE(round);
        auto const before = with.round_trips();
        std::int64_t found = -1;
        std::size_t changed = 0;
        native_transaction native{with};
        auto const ended = native.perform(
            [&](connection& on) {
                auto const first = on.send(read, "a"sv);
                auto const second = on.send(read, "b"sv);
                on.sync();
                found = on.result(first).integer(0, 0) + on.result(second).integer(0, 0);
                on.send(update, "a"sv, std::int64_t{1});
                changed = on.send(update, "b"sv, std::int64_t{1});
            },
            1s);
        CHECK(ended.status == commit_status::committed);
        CHECK(native.result(changed).changed() == 1);
        CHECK(found == 2 * round);
        // The loan has not ended.
        CHECK(with.round_trips() == before);
        if (round == 0) continue;
    }
    CHECK(with.round_trips() == 2 + 2 + 2); // both compounds were prepared once
    CHECK(sum_of(own.address(), "a") == "2");
    // Nothing to do is no round trip.
    native_transaction native{with};
    CHECK(native.perform([](connection&) {}, 1s).status == commit_status::committed);
    CHECK(with.round_trips() == 6);
}

TEST_CASE("connections: a session keeps a limited number of prepared statements") {
    fresh_mariadb const own;
    pool with{own.address(), {}};
    auto here = with.take();
    for (int const round : {0, 1}) {
        CAPTURE(round);
        for (int number = 0; number < 200; ++number) {
            auto const& echo =
                with.prepare("SELECT $1 + " + std::to_string(number), {integer_value}, "echo");
            auto const sent = here->send(echo, std::int64_t{1});
            here->sync();
            CHECK(here->result(sent).integer(0, 0) == number + 1);
        }
    }
    auto const sent = here->send_sql("SHOW SESSION STATUS LIKE 'Prepared_stmt_count'", "count");
    here->sync();
    auto const total = here->result(sent).integer(0, 1);
    CHECK(total >= 128);
}

TEST_CASE("connections: another number of rows than is expected undoes all") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool with{own.address(), {}};
    std::vector const types{text_array};
    auto const& add =
        with.prepare("UPDATE " + wave(types) + "sums AS t SET t.n = t.n + 1 WHERE t.id = w.c0",
                     types, "add to sums", expectation::all);
    auto const& look =
        with.prepare("UPDATE " + wave(types) + "sums AS t SET t.n = t.n WHERE t.id = w.c0", types,
                     "look for sums", expectation::no_row);
    auto const& lock =
        with.prepare("SELECT t.id FROM " + wave(types) + "sums AS t WHERE t.id = w.c0 FOR UPDATE",
                     types, "lock sums", expectation::all);
    auto const change = [&](statement const& by, std::vector<std::string_view> const& ids) {
        native_transaction native{with};
        return native.perform(
            [&](connection& on) {
                on.send_sql("UPDATE sums SET n = n + 5 WHERE id = 'c'", "add to c");
                auto all = array_value::texts();
                for (auto const id : ids) all.add(id);
                on.send(by, all);
            },
            1s);
    };
    for (auto const& ids : {std::vector{"a"sv, "b"sv}, std::vector{"a"sv, "b"sv, "c"sv, "nobody"sv},
                            std::vector{"a"sv, "nobody"sv}}) {
        CAPTURE(ids.size());
        bool const fits = ids.back() != "nobody";
        for (auto const* const by : {&add, &lock, &look}) {
            auto const is_committed = by != &look && fits;
            auto const before = sum_of(own.address(), "c");
            auto const ended = change(*by, ids);
            CHECK((ended.status == commit_status::committed) == is_committed);
            CHECK((sum_of(own.address(), "c") != before) == is_committed);
            if (is_committed) continue;
            CHECK(ended.status == commit_status::undone);
            CHECK(ended.problem.code == maria::wrong_count);
            CHECK(maria::detail::is_of_one_record(ended.problem.code));
        }
        CHECK(change(look, {"nobody", "nothing"}).status == commit_status::committed);
    }
    CHECK(sum_of(own.address(), "a") == "1");
    // Without a wave, one row is expected; a statement alone is checked, too.
    auto const& single = with.prepare("UPDATE sums SET n = n + 1 WHERE id = $1", {text_value},
                                      "add to a sum", expectation::all);
    auto here = with.take();
    here->send(single, "a"sv);
    here->sync();
    here->send(single, "nobody"sv);
    CHECK(failure_of([&] { here->sync(); }).code == maria::wrong_count);
    CHECK(sum_of(own.address(), "a") == "2");
}

TEST_CASE("connections: a statement raises errors of the library") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool with{own.address(), {}};
    for (auto const code : {maria::table_altered, maria::no_way_back}) {
        native_transaction native{with};
        auto const ended = native.perform(
            [&](connection& on) {
                on.send_sql("UPDATE sums SET n = 5", "change sums");
                on.send_sql("IF EXISTS(SELECT 1 FROM sums WHERE n = 5) THEN " +
                                maria::detail::raised_sql(code) + "; END IF",
                            "look at sums");
            },
            1s);
        CHECK(ended.status == commit_status::undone);
        CHECK(ended.problem.code == code);
        CHECK(says(ended.problem, "could not change sums or look at sums"));
    }
    CHECK(sum_of(own.address(), "a") == "0");
}

TEST_CASE("connections: a failed statement undoes all of its native transaction, and no other") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool with{own.address(), {}};
    std::vector<std::pair<std::string, int>> const errors{
        {"INSERT INTO sums VALUES ('a', 1)", 1062},
        {"UPDATE sums SET n = -2000 WHERE id = 'a'", 4025},
        {"UPDATE sums SET n = 9223372036854775807 + n + 1", 1690},
        {"UPDATE nowhere SET n = 1", 1146},
        {"UPDATE sums SET m = 1", 1054},
        {"INSERT INTO sums VALUES (NULL, 1)", 1048},
        {"INSERT INTO sums VALUES (REPEAT('x', 100), 1)", 1406},
        {"SIGNAL SQLSTATE '45000'", 1644},
        {"SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 31000", maria::value_refused},
        {"UPDATE sums SET", 1064}};
    for (auto const& [sql, number] : errors) {
        // In the first message, in a later one, and with the COMMIT.
        for (int const way : {0, 1, 2}) {
            auto const& refused = sql;
            CAPTURE(refused);
            CAPTURE(way);
            auto const ended = add(with, "a", 1, [&](connection& on) {
                on.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
                if (way == 2) on.sync();
                on.send_sql(sql, "be refused");
                if (way != 0) on.sync();
            });
            CHECK(ended.status == commit_status::undone);
            CHECK(ended.problem.code.value() == number);
            CHECK(ended.problem.code == settle::condition::permanent);
            bool const of_table = number == 1146 || number == 1054 || number == 1064;
            CHECK(maria::detail::is_of_one_record(ended.problem.code) == !of_table);
            CHECK(maria::detail::is_of_one_table(ended.problem.code) == of_table);
            CHECK(sum_of(own.address(), "b") == "0");
            CHECK(open_transactions(own) == "0");
        }
    }
    auto const refused = add(with, "a", 1, [&](connection& on) {
        on.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        on.sync();
        on.send_sql("UPDATE sums SET n = 6 WHERE id = 'b'", "change b");
        throw settle::failure({settle::errc::damaged, "settle: refused"});
    });
    CHECK(refused.status == commit_status::undone);
    CHECK(refused.problem.code == settle::errc::damaged);
    CHECK_THROWS_AS(static_cast<void>(add(with, "a", 1, [](connection&) { throw 5; })), int);
    CHECK(sum_of(own.address(), "b") == "0");
    CHECK(open_transactions(own) == "0");
    CHECK(add(with, "a", 1).status == commit_status::committed);
    CHECK(sum_of(own.address(), "a") == "1");
}

TEST_CASE("connections: after a failed statement, the rest of its native transaction is refused") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool with{own.address(), {}};
    auto here = with.take();
    here->begin();
    here->send_sql("INSERT INTO sums VALUES ('a', 1)", "insert a sum");
    CHECK(failure_of([&] { here->sync(); }).code == maria::duplicate_key);
    CHECK(here->in_transaction());
    here->send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
    CHECK(failure_of([&] { here->sync(); }).code == maria::duplicate_key);
    here->send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
    CHECK(failure_of([&] { here->commit(); }).code == maria::duplicate_key);
    CHECK(sum_of(own.address(), "b") == "0");
    here->rollback();
    CHECK_FALSE(here->in_transaction());
    CHECK(here->reusable());
}

TEST_CASE("connections: deadlocks are tried again") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool with{own.address(), patient_limits()};
    constexpr int rounds = 20;
    std::atomic<int> committed = 0;
    std::vector<std::thread> threads;
    for (std::string_view const first : {"a"sv, "b"sv}) {
        threads.emplace_back([&, first] {
            auto const& update = with.prepare("UPDATE sums SET n = n + 1 WHERE id = $1",
                                              {text_value}, "add to a sum");
            for (int round = 0; round < rounds; ++round) {
                native_transaction native{with};
                auto const ended = native.perform(
                    [&](connection& on) {
                        on.send(update, first);
                        on.sync();
                        std::this_thread::sleep_for(5ms);
                        on.send(update, first == "a" ? "b"sv : "a"sv);
                    },
                    20s);
                committed += ended.status == commit_status::committed;
            }
        });
    }
    for (auto& each : threads) each.join();
    CHECK(committed == 2 * rounds);
    CHECK(sum_of(own.address(), "a") == std::to_string(2 * rounds));
    CHECK(sum_of(own.address(), "b") == std::to_string(2 * rounds));
}

TEST_CASE("connections: a row that another holds for too long is held, and nothing stays") {
    fresh_mariadb const own;
    make_sums(own.address());
    maria::options limits;
    limits.lock_timeout = 1s;
    pool with{own.address(), limits};
    mariadb_session holder{own.address()};
    holder.ask("BEGIN");
    holder.ask("UPDATE sums SET n = 7 WHERE id = 'a'");
    auto const ended = add(with, "a", 1, [](connection& on) {
        on.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        on.sync();
    });
    CHECK(ended.status == commit_status::undone);
    CHECK(ended.problem.code == maria::lock_wait_timeout);
    CHECK(maria::detail::is_held(ended.problem.code));
    holder.ask("ROLLBACK");
    CHECK(sum_of(own.address(), "b") == "0");
    CHECK(open_transactions(own) == "0");
}

TEST_CASE("connections: a pool has as many connections as it may, and renews those that ended") {
    fresh_mariadb const own;
    make_sums(own.address());
    auto limits = patient_limits();
    limits.connections = 2;
    limits.connect_timeout = 1s;
    pool with{own.address(), limits};
    for (int const round : {0, 1}) {
        CAPTURE(round);
        auto const first = with.take();
        auto const second = with.take();
        auto const problem = failure_of([&] { static_cast<void>(with.take()); });
        CHECK(problem.code == maria::all_in_use);
        CHECK(problem.code == settle::condition::retryable);
        mariadb_session killer{own.address()};
        for (auto const* const each : {&first, &second}) {
            auto const number = std::to_string((*each)->server().session);
            killer.ask("KILL " + number);
            CHECK(wait_until(60s, [&] { return !(*each)->alive(); }));
        }
    }
    CHECK_FALSE(with.take_unused().has_value());
    // A loan that ends in the middle leaves nothing behind.
    {
        auto const here = with.take();
        here->begin();
        here->send_sql("UPDATE sums SET n = 5 WHERE id = 'a'", "change a");
        here->sync();
        here->send_sql("UPDATE sums SET n = 6 WHERE id = 'a'", "change a");
    }
    CHECK(sum_of(own.address(), "a") == "0");
    CHECK(open_transactions(own) == "0");
    CHECK(with.take_unused().has_value());
}

TEST_CASE("connections: the session has its settings, and waves of other collations") {
    fresh_mariadb const own;
    pool with{own.address(), {}};
    CHECK(with.schema_prefix() == "`" + own.name() + "`.");
    auto const here = with.take();
    auto const sent = here->send_sql("SELECT @@sql_mode, @@tx_isolation, @@time_zone, "
                                     "@@autocommit, @@innodb_lock_wait_timeout, " +
                                         quoted_text("a'b\\c"),
                                     "read the settings");
    here->sync();
    auto const& found = here->result(sent);
    CHECK(found.text(0, 0).find("NO_AUTO_VALUE_ON_ZERO") != std::string_view::npos);
    CHECK(found.text(0, 0).find("STRICT_ALL_TABLES") != std::string_view::npos);
    CHECK(found.text(0, 1) == "READ-COMMITTED");
    CHECK(found.text(0, 2) == "+00:00");
    CHECK(found.integer(0, 3) == 1);
    CHECK(found.integer(0, 4) == 2);
    CHECK(found.text(0, 5) == "a'b\\c");
}

} // namespace
} // namespace settle_test
