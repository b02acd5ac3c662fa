// SPDX-License-Identifier: BSL-1.0
// A table that could refuse or change a write of settle is refused when the collection is bound,
// with a sentence that names the change to make.
#include "fixtures.hpp"

#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

namespace {

using settle_test::ask;
using settle_test::fresh_schema;

struct item {
    BOOST_HANA_DEFINE_STRUCT(item, (std::string, id), (std::int64_t, amount),
                             (std::optional<std::string>, note));
};
constexpr settle::collection<item, "items", &item::id> items;
using items_type = std::remove_const_t<decltype(items)>;

/// The sentence that refuses the table; empty if it is accepted.
std::string refusal_of_table(std::string const& sql) {
    fresh_schema const own;
    ask(own.address(), sql);
    settle::postgresql::database db{own.address()};
    try {
        static_cast<void>(db.bind<items_type>(db.bind_log().name()));
        return {};
    } catch (settle::failure const& caught) {
        CHECK(caught.problem().code == settle::errc::unfit_store);
        CHECK(caught.problem().text.starts_with("settle: "));
        CHECK(caught.problem().text.find('\n') == std::string::npos);
        // A refused table does not give the schema to the log.
        CHECK(ask(own.address(), "SELECT 1 FROM settle_meta WHERE name = 'belongs_to'").empty());
        return caught.problem().text;
    }
}

std::string const plain =
    "CREATE TABLE items (id text PRIMARY KEY, amount int8 NOT NULL, note text";

} // namespace

TEST_CASE("tables: an unfit table is refused when it is bound, with a sentence") {
    std::vector<std::pair<std::string, std::string>> const unfit_tables{
        {"CREATE TABLE base (id text, amount int8, note text); "
         "CREATE VIEW items AS SELECT * FROM base",
         "is a view"},
        {"CREATE TABLE base (id text, amount int8, note text); "
         "CREATE MATERIALIZED VIEW items AS SELECT * FROM base",
         "is a materialized view"},
        {plain + ") PARTITION BY HASH (id)", "is a partitioned table"},
        {"CREATE TABLE base (id text PRIMARY KEY, amount int8 NOT NULL, note text) "
         "PARTITION BY HASH (id); CREATE TABLE items PARTITION OF base "
         "FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
         "as a partition"},
        {plain + "); CREATE TABLE more () INHERITS (items)", "by inheritance"},
        {"CREATE UNLOGGED TABLE items (id text PRIMARY KEY, amount int8 NOT NULL, note text)",
         "a crash empties it"},
        {"CREATE TABLE items (id text PRIMARY KEY, note text)", "has no column 'amount'"},
        {"CREATE TABLE items (id text PRIMARY KEY, amount int8 GENERATED ALWAYS AS (1) STORED, "
         "note text)",
         "column 'amount' is generated"},
        {plain + ", twice int8 GENERATED ALWAYS AS (amount * 2) STORED)",
         "generated column 'twice' could refuse a change of the column 'amount'"},
        {"CREATE DOMAIN cash AS int8 CHECK (VALUE < 100); "
         "CREATE TABLE items (id text PRIMARY KEY, amount cash NOT NULL, note text)",
         "domain cash"},
        {"CREATE DOMAIN cash AS int8 NOT NULL; "
         "CREATE TABLE items (id text PRIMARY KEY, amount cash, note text)",
         "domain cash"},
        {plain + ", CHECK (amount >= 0))", "check 'items_amount_check' could refuse"},
        {plain + " UNIQUE)", "unique index 'items_note_key' could refuse"},
        {plain + "); CREATE UNIQUE INDEX few ON items (id) WHERE amount > 0", "index 'few'"},
        {plain + "); CREATE UNIQUE INDEX sums ON items ((amount + 1))", "index 'sums'"},
        {plain + "); CREATE INDEX half ON items ((1 / amount))",
         "index with an expression or a condition 'half' could refuse a change of the column "
         "'amount'"},
        {plain + "); CREATE INDEX few ON items (id) WHERE 1000 / (110 - amount) > 1",
         "index with an expression or a condition 'few'"},
        {plain + "); CREATE INDEX whole ON items ((items))",
         "index with an expression or a condition 'whole' could refuse a change of a row"},
        {plain + "); CREATE INDEX named ON items (id) WHERE items IS NOT NULL",
         "index with an expression or a condition 'named'"},
        {plain + "); CREATE FUNCTION f(text) RETURNS text LANGUAGE sql IMMUTABLE AS "
                 "'SELECT $1 || 1'; CREATE INDEX own ON items (f(id))",
         "index with a function 'own' could refuse a change of a row"},
        {"CREATE TABLE items (id text PRIMARY KEY, amount int8 GENERATED ALWAYS AS IDENTITY, "
         "note text)",
         "column 'amount' is GENERATED ALWAYS AS IDENTITY"},
        {"CREATE TABLE items (id text UNIQUE, amount int8 NOT NULL, note text);"
         "CREATE PUBLICATION items_" +
             std::to_string(::getpid()) + " FOR TABLE items",
         "a publication has it, and its rows have no replica identity"},
        {"CREATE TABLE notes (note text PRIMARY KEY);" + plain + " REFERENCES notes)",
         "foreign key 'items_note_fkey' could refuse"},
        {plain + "); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS "
                 "'BEGIN RETURN NEW; END'; CREATE TRIGGER t BEFORE UPDATE ON items "
                 "FOR EACH ROW EXECUTE FUNCTION f()",
         "trigger 't' could refuse"},
        {plain + "); CREATE RULE r AS ON UPDATE TO items DO INSTEAD NOTHING", "has a rule"},
        {"CREATE TABLE items (id text, amount int8 NOT NULL, note text)",
         "two rows could have the same key"},
        {"CREATE TABLE items (id text, amount int8, note text, PRIMARY KEY (id, amount))",
         "two rows could have the same key"},
        {"CREATE TABLE items (id char(8) PRIMARY KEY, amount int8, note text)",
         "must keep texts. Declare it text"},
        {"CREATE TABLE items (id text PRIMARY KEY, amount float8, note text)",
         "must keep whole numbers. Declare it bigint"},
        {"CREATE TABLE items (id text PRIMARY KEY, amount numeric, note text)",
         "counts a declared unit"},
        {"CREATE TABLE items (id text PRIMARY KEY, amount int8, note text NOT NULL)",
         "is NOT NULL and its field is optional"},
        {"CREATE COLLATION same (provider = icu, locale = 'und-u-ks-level2', "
         "deterministic = false); CREATE TABLE items (id text COLLATE same PRIMARY KEY, "
         "amount int8, note text)",
         "compares different texts as equal"},
    };
    for (auto const& one : unfit_tables) {
        auto const& [sql, text] = one;
        INFO(one.first);
        auto const sentence = refusal_of_table(sql);
        INFO(sentence);
        CHECK(sentence.find(text) != std::string::npos);
    }
}

TEST_CASE("tables: constraints that concern no change of settle are accepted") {
    for (auto const& more :
         {std::string{")"}, std::string{", other int8 CHECK (other > 0) UNIQUE)"},
          std::string{", twice text GENERATED ALWAYS AS (id || id) STORED)"},
          std::string{"); CREATE TABLE uses (item text REFERENCES items)"},
          std::string{"); CREATE INDEX lower ON items (lower(id)); CREATE INDEX ON items (note)"},
          std::string{"); CREATE INDEX hashed ON items USING hash (note)"},
          std::string{"); CREATE PUBLICATION with_key_"} + std::to_string(::getpid()) +
              " FOR TABLE items",
          std::string{"); CREATE DOMAIN free AS int8; ALTER TABLE items ALTER amount TYPE free"},
          std::string{"); ALTER TABLE items ENABLE ROW LEVEL SECURITY"}}) {
        INFO(more);
        CHECK(refusal_of_table(plain + more) == "");
    }
}

TEST_CASE("tables: row security that hides rows from the user is refused") {
    fresh_schema const own;
    ask(own.address(), plain + "); ALTER TABLE items ENABLE ROW LEVEL SECURITY; "
                               "CREATE POLICY few ON items USING (amount > 0)");
    auto const user = "settle_user_" + own.name();
    {
        settle::postgresql::database const made{own.address()};
    }
    ask(own.address(), "CREATE ROLE " + user + " LOGIN; GRANT USAGE ON SCHEMA " + own.name() +
                           " TO " + user + "; GRANT ALL ON ALL TABLES IN SCHEMA " + own.name() +
                           " TO " + user);
    auto address = own.address();
    address.replace(address.find("postgres@"), 8, user);
    {
        settle::postgresql::database db{address};
        try {
            static_cast<void>(db.bind<items_type>(db.bind_log().name()));
            FAIL("the table was accepted");
        } catch (settle::failure const& caught) {
            CHECK(caught.problem().text.find("row security") != std::string::npos);
        }
    }
    ask(own.address(), "DROP OWNED BY " + user + "; DROP ROLE " + user);
}

TEST_CASE("tables: an erase that a foreign key of another table could refuse is canceled") {
    fresh_schema const own;
    ask(own.address(),
        plain + "); CREATE TABLE uses (item text REFERENCES items);"
                "INSERT INTO items VALUES ('a', 1, NULL); INSERT INTO uses VALUES ('a')");
    settle::postgresql::database db{own.address()};
    struct erasure {
        BOOST_HANA_DEFINE_STRUCT(erasure, (std::string, id));
    };
    static constexpr auto erasure_type = settle::transaction<erasure, "erasure">(
        settle::participant<"item">(items, settle::param<&erasure::id>).confirm(settle::erase));
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        settle::engine engine{db, settle::type<erasure_type>, how};
        auto const ended = engine.run(erasure{"a"});
        CHECK(ended.why == settle::reason::record_unusable);
        CHECK(ended.problem.text.find("foreign key") != std::string::npos);
        CHECK(engine.marks().value() == 0);
    }
}
