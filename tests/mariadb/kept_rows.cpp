// SPDX-License-Identifier: BSL-1.0
// Rows of existing tables: an erased row comes back byte by byte, whatever its columns, and the
// columns that no member names stay as they are.
#include "fixtures.hpp"

#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <array>

namespace mariadb_kept_rows {
namespace {

using settle::field;
using settle::param;
using settle::participant;
using settle_test::fresh_mariadb;

constexpr std::array both{settle::phases::one, settle::phases::two};

struct item {
    BOOST_HANA_DEFINE_STRUCT(item, (std::string, id), (std::int64_t, amount));
};
constexpr settle::collection<item, "items", &item::id> items;

struct removal {
    BOOST_HANA_DEFINE_STRUCT(removal, (std::string, id));
};
constexpr auto removal_type = settle::transaction<removal, "removal">(
    participant<"gone">(items, param<&removal::id>).confirm(settle::erase));
struct change {
    BOOST_HANA_DEFINE_STRUCT(change, (std::string, id), (std::int64_t, amount));
};
constexpr auto credit_type = settle::transaction<change, "credit">(
    participant<"to">(items, param<&change::id>)
        .confirm(field<&item::amount> += param<&change::amount>));
constexpr auto set_type =
    settle::transaction<change, "set">(participant<"to">(items, param<&change::id>)
                                           .confirm(field<&item::amount> = param<&change::amount>));

template <typename... Options>
auto make(settle::mariadb::database& db, Options const&... options) {
    return settle::engine{db, settle::type<removal_type>, settle::type<credit_type>,
                          settle::type<set_type>, options...};
}

std::string const table = "CREATE TABLE items (id VARCHAR(50) CHARACTER SET utf8mb4 COLLATE "
                          "utf8mb4_nopad_bin PRIMARY KEY, amount BIGINT NOT NULL";

/// A column of each type, and what three rows hold in it.
struct sample {
    std::string type;
    std::array<std::string, 3> values;
};
std::vector<sample> const& samples() {
    static std::vector<sample> const columns{
        {"BIT(10)", {"b'1000000001'", "b'0'", "NULL"}},
        {"BIT(64)", {"0xffffffffffffffff", "1", "NULL"}},
        {"TINYINT", {"-128", "127", "NULL"}},
        {"SMALLINT UNSIGNED", {"65535", "0", "NULL"}},
        {"MEDIUMINT", {"-8388608", "8388607", "NULL"}},
        {"INT(9) ZEROFILL", {"42", "4294967295", "NULL"}},
        {"BIGINT", {"-9223372036854775808", "9223372036854775807", "NULL"}},
        {"BIGINT UNSIGNED", {"18446744073709551615", "9223372036854775808", "NULL"}},
        {"DECIMAL(65,30)",
         {"98765432109876543210987654321098765.987654321098765432109876543210",
          "-0.000000000000000000000000000001", "NULL"}},
        {"FLOAT", {"16777217.5e-7", "3.4028234e38", "-0e0"}},
        {"DOUBLE", {"0.1e0 + 0.7e0", "4.9e-324", "-0e0"}},
        {"FLOAT(7,3)", {"1234.567", "-0.001", "NULL"}},
        {"DOUBLE(20,4)", {"9007199254740993.25", "-1.5", "NULL"}},
        {"YEAR", {"1901", "2155", "0"}},
        {"DATE", {"'9999-12-31'", "'0000-00-00'", "'2024-00-10'"}},
        {"TIME(6)", {"'-838:59:58.999999'", "'838:59:59'", "'-00:00:00.000001'"}},
        {"TIME", {"'-00:00:01'", "'00:00:00'", "NULL"}},
        {"DATETIME(6)", {"'9999-12-31 23:59:59.999999'", "'0000-00-00 00:00:00'", "NULL"}},
        {"TIMESTAMP(6) NULL",
         {"'2026-10-25 00:30:00.654321'", "'0000-00-00 00:00:00'", "'1970-01-01 00:00:01'"}},
        {"TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP",
         {"'2001-02-03 04:05:06'", "'2038-01-19 03:14:07'", "NULL"}},
        {"CHAR(10) CHARACTER SET latin1", {"'caf\u00e9 '", "''", "NULL"}},
        {"VARCHAR(50) COLLATE utf8mb4_general_ci", {"'na\u00efve \U0001F600  '", "' '", "NULL"}},
        {"VARCHAR(20) CHARACTER SET utf16", {"'\U0001F600\u20ac'", "''", "NULL"}},
        {"VARCHAR(20) CHARACTER SET sjis", {"'\u65e5\u672c'", "'\\\\'", "NULL"}},
        {"BINARY(5)", {"x'0001000200'", "''", "NULL"}},
        {"VARBINARY(20)", {"x'00ff00'", "''", "NULL"}},
        {"BLOB", {"x'00ff01fe5c27'", "''", "REPEAT(x'80', 60000)"}},
        {"LONGTEXT CHARACTER SET utf8mb4", {"REPEAT('\"\\\\\\'\u20ac', 9000)", "''", "NULL"}},
        {"ENUM('p','q','it''s','\u00e4')", {"'it\\'s'", "'\u00e4'", "NULL"}},
        {"ENUM('2','1','0')", {"'1'", "'0'", "'2'"}},
        {"SET('x','y','z')", {"'x,z'", "''", "NULL"}},
        {"JSON", {"'{ \"b\":1, \"a\":1.10, \"b\":2 }'", "'null'", "NULL"}},
        {"GEOMETRY",
         {"ST_GeomFromText('POINT(1.1 2.2)', 4326)", "ST_GeomFromText('LINESTRING(0 0,1 1)')",
          "NULL"}},
        {"POINT", {"POINT(-1e-300, 2)", "POINT(0, 0)", "NULL"}},
        {"INET6", {"'2001:db8::1'", "'::ffff:1.2.3.4'", "NULL"}},
        {"INET4", {"'10.0.0.1'", "'255.255.255.255'", "NULL"}},
        {"UUID",
         {"'123e4567-e89b-12d3-a456-426655440000'", "'00000000-0000-0000-0000-000000000000'",
          "NULL"}},
        {"INT INVISIBLE DEFAULT 5", {"77", "DEFAULT", "NULL"}},
        {"VARCHAR(200) COMPRESSED", {"REPEAT('z', 150)", "''", "NULL"}},
        {"BLOB COMPRESSED", {"REPEAT(x'00ff', 5000)", "''", "NULL"}},
        {"INT NOT NULL DEFAULT 3", {"0", "DEFAULT", "-1"}},
        {"TINYTEXT", {"'\u20ac'", "'  '", "NULL"}}};
    return columns;
}

/// The bytes of all columns of a table.
std::string bytes_of(fresh_mariadb const& own, std::string const& of_table) {
    auto const columns =
        own.ask("SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE "
                "TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '" +
                of_table + "' ORDER BY ORDINAL_POSITION");
    std::string list;
    for (auto const& column : columns) {
        bool const is_real = column[1] == "float" || column[1] == "double";
        auto const name = "`" + column[0] + "`";
        // The sign of -0 is in its text alone.
        auto const value = is_real ? "CONCAT(" + name + " + 0e0, '/', " + name + ")"
                                   : "HEX(CAST(" + name + " AS BINARY))";
        list += (list.empty() ? "" : ", ") + ("COALESCE(" + value + ", 'NULL')");
    }
    std::string bytes;
    for (auto const& row : own.ask("SELECT " + list + " FROM " + of_table + " ORDER BY id")) {
        for (auto const& value : row) bytes += value + "\n";
    }
    return bytes;
}

} // namespace

TEST_CASE("kept rows: an erased row of every type comes back byte by byte") {
    for (auto const how : both) {
        fresh_mariadb const own;
        std::string columns;
        std::string names;
        std::array<std::string, 3> values;
        for (auto const& each : samples()) {
            auto const name = "c" + std::to_string(std::count(names.begin(), names.end(), ','));
            columns += ", " + name + " " + each.type;
            names += ", " + name;
            for (std::size_t row = 0; row < 3; ++row) values[row] += ", " + each.values[row];
        }
        own.ask(table + columns + ", g BIGINT AS (c2 * 2) STORED, h INT AS (c2 + 1) VIRTUAL" + ")");
        for (std::size_t row = 0; row < 3; ++row) {
            own.ask("SET NAMES utf8mb4; SET time_zone = '+00:00', sql_mode = ''; "
                    "INSERT INTO items (id, amount" +
                    names + ") VALUES ('" + std::string(1, static_cast<char>('a' + row)) + "', 7" +
                    values[row] + ")");
        }
        auto const before = bytes_of(own, "items");
        auto const checksum = own.ask_one("SELECT 1; CHECKSUM TABLE items") == "NULL"
                                  ? std::string{}
                                  : own.ask("CHECKSUM TABLE items").at(0).at(1);
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        for (char const* id : {"a", "b", "c"}) {
            INFO(id);
            auto const gone = engine.run(std::string{"gone "} + id, removal{id});
            CHECK_MESSAGE(gone.done(), gone.text());
        }
        CHECK(own.ask("SELECT 1 FROM items").empty());
        for (char const* id : {"a", "b", "c"}) {
            INFO(id);
            auto const back = engine.reverse(std::string{"gone "} + id);
            CHECK_MESSAGE(back.done(), back.text());
        }
        CHECK(bytes_of(own, "items") == before);
        CHECK(own.ask("CHECKSUM TABLE items").at(0).at(1) == checksum);
        // A sum and an assignment change their column alone; ON UPDATE changes its own.
        own.ask("UPDATE items SET c19 = c19, amount = 8; CREATE TABLE held AS SELECT * FROM items");
        CHECK(engine.run<credit_type>("credit", change{"a", 1}).done());
        CHECK(engine.run<set_type>("set", change{"b", 9}).done());
        own.ask("UPDATE items SET amount = 8, c19 = (SELECT h.c19 FROM held AS h "
                "WHERE h.id = items.id)");
        own.ask("UPDATE held SET amount = 7; UPDATE items SET amount = 7, c19 = c19");
        CHECK(bytes_of(own, "items") == before);
    }
}

TEST_CASE("kept rows: a row that no INSERT gives back is not erased") {
    for (auto const how : both) {
        fresh_mariadb const own;
        own.ask(table + ", mood ENUM('good')); SET sql_mode = ''; "
                        "INSERT INTO items VALUES ('a', 7, 'wrong'), ('b', 7, 'good'), "
                        "('c', 7, NULL)");
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        auto const kept = engine.run("kept", removal{"a"});
        INFO(kept.text());
        CHECK(kept.why == settle::reason::record_unusable);
        CHECK(kept.text().find("cannot be written back") != std::string::npos);
        CHECK(engine.run<set_type>("set", change{"a", 8}).done());
        for (char const* id : {"b", "c"}) {
            CHECK(engine.run(id, removal{id}).done());
            CHECK(engine.reverse(id).done());
        }
        CHECK(own.ask_one("SELECT GROUP_CONCAT(CONCAT_WS('|', id, amount, mood + 0) ORDER BY id) "
                          "FROM items") == "a|8|0,b|7|1,c|7");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("kept rows: a row that is too large for an image is not erased") {
    for (auto const how : both) {
        fresh_mariadb const own;
        own.ask(table + ", one LONGBLOB, two LONGBLOB); "
                        "INSERT INTO items VALUES ('large', 7, REPEAT(x'00', 9 << 20), NULL), "
                        "('together', 7, REPEAT(x'00', 5 << 20), REPEAT(x'00', 5 << 20)), "
                        "('fits', 7, REPEAT(x'00', 1 << 20), REPEAT(x'ff', 1 << 20))");
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        for (char const* id : {"large", "together"}) {
            auto const kept = engine.run(removal{id});
            INFO(kept.text());
            CHECK(kept.why == settle::reason::record_unusable);
            CHECK(engine.run<credit_type>(change{id, 1}).done());
        }
        auto const gone = engine.run("fits", removal{"fits"});
        CHECK_MESSAGE(gone.done(), gone.text());
        auto const back = engine.reverse("fits");
        CHECK_MESSAGE(back.done(), back.text());
        CHECK(own.ask_one("SELECT GROUP_CONCAT(CONCAT_WS('|', id, amount, LENGTH(one), "
                          "LENGTH(two)) ORDER BY id) FROM items") ==
              "fits|7|1048576|1048576,large|8|9437184,together|8|5242880|5242880");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("kept rows: any number of columns is kept, in every format of a row") {
    for (std::string const format : {"COMPACT", "DYNAMIC", "REDUNDANT", "COMPRESSED"}) {
        INFO(format);
        fresh_mariadb const own;
        std::string columns;
        for (int number = 0; number < 300; ++number) {
            columns += ", extra" + std::to_string(number) + " INT DEFAULT 7";
        }
        own.ask("CREATE TABLE items (id VARCHAR(191) CHARACTER SET utf8mb4 COLLATE "
                "utf8mb4_nopad_bin PRIMARY KEY, amount BIGINT NOT NULL" +
                columns + ") ROW_FORMAT = " + format);
        settle::mariadb::database db{own.address()};
        auto engine = make(db, settle::phases::two);
        std::string const longest(191, 'k');
        engine.create(items, item{longest, 7}).value();
        CHECK(engine.run<set_type>("set", change{longest, 8}).done());
        CHECK(engine.run("gone", removal{longest}).done());
        CHECK(engine.reverse("gone").done());
        CHECK(own.ask_one("SELECT extra0 + extra299 + amount FROM items") == "22");
    }
}

TEST_CASE("kept rows: a column that changes itself at each update comes back as it was") {
    for (auto const how : both) {
        fresh_mariadb const own;
        own.ask(table + ", seen TIMESTAMP NOT NULL DEFAULT '2001-01-01' ON UPDATE now()); "
                        "INSERT INTO items(id, amount) VALUES ('a', 7)");
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        CHECK(engine.run("gone", removal{"a"}).done());
        CHECK(engine.reverse("gone").done());
        CHECK(own.ask_one("SELECT YEAR(seen) FROM items") == "2001");
        CHECK(engine.run<credit_type>("credit", change{"a", 1}).done());
        CHECK(own.ask_one("SELECT YEAR(seen) > 2001 FROM items") == "1");
    }
}

} // namespace mariadb_kept_rows
