// SPDX-License-Identifier: BSL-1.0
// Tables with columns that the struct does not name: any number of them, of every type.
#include "sums.hpp"

#include <settle/postgresql.hpp>
#include <settle/settle.hpp>

#include <map>

namespace unnamed_columns {

using namespace settle_test;
namespace {

using settle::field;
using settle::param;
using settle::participant;

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance),
                             (std::string, mood));
};
inline constexpr settle::collection<account, "accounts", &account::id> accounts;

struct credit {
    BOOST_HANA_DEFINE_STRUCT(credit, (std::string, id), (std::int64_t, amount));
};
/// An exclusive effect beside a sum: it needs the image of the whole row.
constexpr auto set_type = settle::transaction<credit, "set">(
    participant<"to">(accounts, param<&credit::id>)
        .confirm(field<&account::balance> = param<&credit::amount>));

struct transfer {
    BOOST_HANA_DEFINE_STRUCT(transfer, (std::string, from), (std::string, to),
                             (std::int64_t, amount));
};
constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    participant<"from">(accounts, param<&transfer::from>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse)
        .require(field<&account::balance> >= param<&transfer::amount>),
    participant<"to">(accounts, param<&transfer::to>)
        .confirm(field<&account::balance> = param<&transfer::amount>));

struct removal {
    BOOST_HANA_DEFINE_STRUCT(removal, (std::string, id));
};
constexpr auto removal_type = settle::transaction<removal, "removal">(
    participant<"gone">(accounts, param<&removal::id>).confirm(settle::erase));

template <typename... Options>
auto make(pg::database& db, Options const&... options) {
    return settle::engine{db, settle::type<set_type>, settle::type<transfer_type>,
                          settle::type<removal_type>, options...};
}

std::string const plain = "CREATE TABLE accounts (id text COLLATE \"C\" PRIMARY KEY, "
                          "balance bigint NOT NULL, mood text NOT NULL)";

std::string balance_of(std::string const& address, std::string const& id) {
    return ask_one(address, "SELECT balance FROM accounts WHERE id = '" + id + "'");
}

/// A value of each type of PostgreSQL that a column can have and a program can write.
std::map<std::string, std::string> const& samples() {
    static std::map<std::string, std::string> const values{
        {"aclitem", "postgres=r/postgres"},
        {"bit", "1"},
        {"bool", "t"},
        {"box", "(1.1,2),(0.1,-2)"},
        {"bpchar", "ab  "},
        {"bytea", "\\x00ff5c"},
        {"char", "\\200"},
        {"cid", "7"},
        {"cidr", "10.1.0.0/16"},
        {"circle", "<(0.1,2),3.3333333333333335>"},
        {"date", "0044-03-15 BC"},
        {"datemultirange", "{[2020-01-01,2020-02-01)}"},
        {"daterange", "[2020-01-01,2020-02-01)"},
        {"float4", "1.1754944e-38"},
        {"float8", "0.1000000000000000055"},
        {"inet", "10.1.2.3/16"},
        {"int2", "-32768"},
        {"int2vector", "1 2"},
        {"int4", "-2147483648"},
        {"int4multirange", "{[1,3),[5,7)}"},
        {"int4range", "empty"},
        {"int8", "-9223372036854775808"},
        {"int8multirange", "{}"},
        {"int8range", "[1,)"},
        {"interval", "-1 year 2 mons -3 days 04:05:06.000001"},
        {"json", " {\"b\" : 1,\"a\":2, \"b\": null } "},
        {"jsonb", "\"a text\""},
        {"jsonpath", "$.\"a\"[*]?(@ > 1)"},
        {"line", "{1,-1,0.1}"},
        {"lseg", "[(0.1,2),(3,4)]"},
        {"macaddr", "08:00:2b:01:02:03"},
        {"macaddr8", "08:00:2b:01:02:03:04:05"},
        {"money", "-12345.67"},
        {"name", "a name"},
        {"numeric", "-123456789012345678901234567890.1200"},
        {"nummultirange", "{[1.10,2)}"},
        {"numrange", "(1.10,2.0]"},
        {"oid", "4294967295"},
        {"oidvector", "1 4294967295"},
        {"path", "[(0.1,2),(3,4)]"},
        {"pg_lsn", "16/B374D848"},
        {"pg_snapshot", "795:799:795,797"},
        {"point", "(0.1,-2)"},
        {"polygon", "((0,0),(1.1,1),(2,0))"},
        {"refcursor", "a cursor"},
        {"regclass", "pg_class"},
        {"regcollation", "\"C\""},
        {"regconfig", "english"},
        {"regdictionary", "simple"},
        {"regnamespace", "pg_catalog"},
        {"regoper", "pg_catalog.||/"},
        {"regoperator", "+(integer,integer)"},
        {"regproc", "1598"}, // random, as a number: there may be functions of one name
        {"regprocedure", "abs(bigint)"},
        {"regrole", "postgres"},
        {"regtype", "integer[]"},
        {"text", "ä \"b\" \\ '' \n"},
        {"tid", "(5,7)"},
        {"time", "24:00:00"},
        {"timestamp", "infinity"},
        {"timestamptz", "4713-11-24 00:00:00.000001+00 BC"},
        {"timetz", "04:05:06.789-08"},
        {"tsmultirange", "{[\"2020-01-01 00:00:00\",infinity)}"},
        {"tsquery", "'a ''b' & !'c':*A <-> 'd'"},
        {"tsrange", "[\"2020-01-01 00:00:00\",\"2020-01-02 00:00:00\"]"},
        {"tstzmultirange", "{}"},
        {"tstzrange", "(,\"2020-01-02 00:00:00+00\"]"},
        {"tsvector", "'a ''b':1A,2 'c'"},
        {"txid_snapshot", "795:799:795,797"},
        {"uuid", "00000000-0000-0000-0000-0000000000aa"},
        {"varbit", "10101"},
        {"varchar", "ab "},
        {"xid", "4294967295"},
        {"xid8", "18446744073709551615"},
        {"xml", "<?xml version=\"1.0\" encoding=\"latin1\"?><a b=\"1\">c</a>"}};
    return values;
}

std::string quoted(std::string const& text) {
    std::string made{"'"};
    for (char const one : text) made.append(one == '\'' ? "''" : std::string{one});
    return made + "'";
}

} // namespace

TEST_CASE(
    "unnamed columns: any number of them is kept, and no transaction is done without effect") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        ask(own.address(), plain);
        pg::database db{own.address()};
        auto engine = make(db, how);
        std::string more{"ALTER TABLE accounts "};
        for (int number = 0; number < 300; ++number) {
            more += number == 0 ? "" : ", ";
            more += "ADD COLUMN extra" + std::to_string(number) + " int DEFAULT 7";
        }
        ask(own.address(), more);
        // The columns were added before this engine was built.
        auto wide = make(db, how);
        wide.create(accounts, account{"a", 100, ""}).value();
        wide.create(accounts, account{"b", 100, ""}).value();
        auto const moved = wide.run("t1", transfer{"a", "b", 30});
        CHECK_MESSAGE(moved.done(), moved.text());
        CHECK(balance_of(own.address(), "a") == "70");
        CHECK(balance_of(own.address(), "b") == "30");
        CHECK(wide.run("gone", removal{"a"}).done());
        auto const back = wide.reverse("gone");
        CHECK_MESSAGE(back.done(), back.text());
        CHECK(ask_one(own.address(), "SELECT sum(extra0 + extra299) FROM accounts") == "28");
    }
}

TEST_CASE("unnamed columns: a row that cannot be read cancels its own transaction alone") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        // The cast is a program of the user, and raises for one value.
        ask(own.address(),
            "CREATE TYPE mood AS ENUM ('good', 'bad');"
            "CREATE TABLE accounts (id text COLLATE \"C\" PRIMARY KEY, balance bigint NOT NULL, "
            "mood mood NOT NULL);"
            "INSERT INTO accounts VALUES ('a', 100, 'good'), ('b', 100, 'bad'), ('c', 5, 'good');"
            "CREATE FUNCTION said(mood) RETURNS text LANGUAGE plpgsql AS "
            "'BEGIN IF $1 = enum_last($1) THEN RAISE ''no word for it''; END IF; "
            "RETURN enum_out($1)::text; END';"
            "CREATE CAST (mood AS text) WITH FUNCTION said(mood)");
        pg::database db{own.address()};
        auto engine = make(db, how);
        std::vector<transfer> const all{{"a", "c", 1}, {"a", "b", 2}, {"a", "c", 3}};
        auto const outcomes = engine.run_all<transfer_type>(all);
        CHECK_MESSAGE(outcomes[0].done(), outcomes[0].text());
        CHECK_MESSAGE(outcomes[2].done(), outcomes[2].text());
        INFO(outcomes[1].text());
        CHECK(outcomes[1].why == settle::reason::record_unusable);
        CHECK(outcomes[1].text().find("(to: record unusable)") != std::string::npos);
        CHECK(outcomes[1].text().find("no word for it") != std::string::npos);
        CHECK(balance_of(own.address(), "a") == "96");
        CHECK(balance_of(own.address(), "b") == "100");
        CHECK(balance_of(own.address(), "c") == "3");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("unnamed columns: an erased row of every type comes back byte by byte") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        auto const types =
            ask(own.address(), "SELECT typname, typarray <> 0 FROM pg_type WHERE "
                               "typnamespace = 'pg_catalog'::regnamespace AND "
                               "typtype IN ('b', 'r', 'm') AND typcategory <> 'A' ORDER BY 1");
        std::string columns;
        std::string names;
        std::string values;
        std::vector<std::string> unwritable;
        auto const add = [&](std::string const& type, std::string const& value) {
            auto const name = "c" + std::to_string(std::count(names.begin(), names.end(), ','));
            columns += ", " + name + " " + type;
            names += ", " + name;
            values += ", " + value;
        };
        for (auto const& row : types) {
            auto const sample = samples().find(row[0]);
            if (sample == samples().end()) {
                unwritable.push_back(row[0]);
                continue;
            }
            auto const type = "pg_catalog.\"" + row[0] + "\"";
            add(type, quoted(sample->second) + "::" + type);
            if (row[1] == "f" || row[0] == "xml") continue;
            auto const element = quoted(sample->second) + "::" + type;
            add(type + "[]", "ARRAY[" + element + ", NULL, " + element + "]");
        }
        ask(own.address(), "CREATE TYPE mood AS ENUM ('good', 'o''dd');"
                           "CREATE TYPE pair AS (first char(3), second xid8);"
                           "CREATE DOMAIN code AS char(5) CHECK (VALUE <> 'no')");
        add("char(24)", "'CZ6508'");
        add("char(3)[]", "'[0:1]={a,\"b \"}'");
        add("bit(3)", "'101'");
        add("varbit(5)", "'1'");
        add("numeric(12, 4)", "1.5");
        add("varchar(3)", "'a  '");
        add("timestamp(0)", "now()");
        add("interval day to second(0)", "'3 days 04:05:06'");
        add("mood", "'o''dd'");
        add("mood[]", "'{o''dd}'");
        add("pair", "'(a,7)'");
        add("pair", "'(,)'");
        add("pair[]", "ARRAY['(a,7)']::pair[]");
        add("code", "'a '");
        add("text", "NULL");
        add("pair", "NULL");
        add("int GENERATED ALWAYS AS IDENTITY", "DEFAULT");
        ask(own.address(), "CREATE TABLE accounts (id text COLLATE \"C\" PRIMARY KEY, "
                           "balance bigint NOT NULL, mood text NOT NULL" +
                               columns + ")");
        ask(own.address(), "INSERT INTO accounts (id, balance, mood" + names +
                               ") VALUES ('a', 7, ''" + values +
                               "); CREATE TABLE copies AS SELECT * FROM accounts");
        pg::database db{own.address()};
        auto engine = make(db, how);
        auto const gone = engine.run("gone", removal{"a"});
        CHECK_MESSAGE(gone.done(), gone.text());
        CHECK(ask(own.address(), "SELECT 1 FROM accounts").empty());
        auto const back = engine.reverse("gone");
        CHECK_MESSAGE(back.done(), back.text());
        CHECK(ask_one(own.address(), "SELECT (SELECT t FROM accounts AS t) "
                                     "OPERATOR(pg_catalog.*=) (SELECT c FROM copies AS c)") == "t");

        // No program can write a value of the other types, so no row is erased.
        REQUIRE(!unwritable.empty());
        for (auto const& type : unwritable) {
            INFO(type);
            ask(own.address(), "ALTER TABLE accounts ADD COLUMN odd pg_catalog.\"" + type + "\"");
            auto again = make(db, how);
            auto const kept = again.run("kept " + type, removal{"a"});
            CHECK(kept.why == settle::reason::record_unusable);
            CHECK(kept.text().find("no program can write its column 'odd'") != std::string::npos);
            ask(own.address(), "ALTER TABLE accounts DROP COLUMN odd");
        }
        CHECK(balance_of(own.address(), "a") == "7");
    }
}

TEST_CASE("unnamed columns: a row whose own type does not give it back is not erased") {
    for (auto const how : all_phases) {
        fresh_schema const own;
        // The encoding of a document inside an array is not in its text.
        ask(own.address(), plain + ";ALTER TABLE accounts ADD COLUMN documents xml[];"
                                   "INSERT INTO accounts VALUES ('a', 7, '', ARRAY["
                                   "'<?xml version=\"1.0\" encoding=\"latin1\"?><a/>'::xml])");
        pg::database db{own.address()};
        auto engine = make(db, how);
        auto const kept = engine.run("kept", removal{"a"});
        INFO(kept.text());
        CHECK(kept.why == settle::reason::record_unusable);
        CHECK(kept.text().find("cannot be written back") != std::string::npos);
        CHECK(engine.run("set", credit{"a", 8}).done());
        CHECK(balance_of(own.address(), "a") == "8");
        CHECK(engine.marks().value() == 0);
    }
}

} // namespace unnamed_columns
