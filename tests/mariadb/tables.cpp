// SPDX-License-Identifier: BSL-1.0
// A table that could refuse or change a write of settle is refused when the collection is bound,
// with a sentence that names the change to make.
#include "fixtures.hpp"

#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <array>
#include <thread>

namespace mariadb_tables {
namespace {

using namespace std::chrono_literals;
using settle_test::fresh_mariadb;

struct item {
    BOOST_HANA_DEFINE_STRUCT(item, (std::string, id), (std::int64_t, amount),
                             (std::optional<std::string>, note));
};
constexpr settle::collection<item, "items", &item::id> items;

template <typename Collection>
std::string refusal_of(Collection const&, std::string const& sql) {
    fresh_mariadb const own;
    own.ask(sql);
    settle::mariadb::database db{own.address()};
    try {
        static_cast<void>(db.bind<std::remove_const_t<Collection>>(db.bind_log().name()));
        return {};
    } catch (settle::failure const& caught) {
        CHECK(caught.problem().code == settle::errc::unfit_store);
        CHECK(caught.problem().text.starts_with("settle: "));
        CHECK(caught.problem().text.find('\n') == std::string::npos);
        // A refused table does not give the database to the log.
        CHECK(own.ask("SELECT 1 FROM settle_meta WHERE name = 'belongs_to'").empty());
        return caught.problem().text;
    }
}

std::string const texts = " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
std::string const plain = "CREATE TABLE items (id VARCHAR(50)" + texts +
                          " PRIMARY KEY, amount BIGINT NOT NULL, note VARCHAR(100)" + texts;
/// A table with another key.
std::string with_key(std::string const& key) {
    return "CREATE TABLE items (id " + key + ", amount BIGINT NOT NULL, note TEXT" + texts + ")";
}
/// A table with another amount.
std::string with_amount(std::string const& amount) {
    return "CREATE TABLE items (id VARCHAR(50)" + texts + " PRIMARY KEY, amount " + amount +
           ", note TEXT" + texts + ")";
}

struct wrong_table {
    std::string sql;
    std::string sentence;
};
void check_refused(std::vector<wrong_table> const& all) {
    for (auto const& wrong : all) {
        INFO(wrong.sql);
        auto const sentence = refusal_of(items, wrong.sql);
        INFO(sentence);
        CHECK(sentence.find(wrong.sentence) != std::string::npos);
    }
}

} // namespace

TEST_CASE("tables: another kind or engine of table is refused when it is bound, with a sentence") {
    check_refused({
        {"CREATE TABLE base (id INT); CREATE VIEW items AS SELECT * FROM base",
         "it is a VIEW, not an ordinary table"},
        {"CREATE SEQUENCE items", "it is a SEQUENCE, not an ordinary table"},
        {plain + ") WITH SYSTEM VERSIONING", "Use ALTER TABLE … DROP SYSTEM VERSIONING"},
        {plain + ") ENGINE = MyISAM", "its engine is MyISAM, which cannot undo"},
        {plain + ") ENGINE = Aria", "Use ALTER TABLE … ENGINE = InnoDB"},
        {plain + ") ENGINE = MEMORY", "its engine is MEMORY"},
        {"CREATE TABLE items (id VARCHAR(50) NOT NULL, amount BIGINT NOT NULL, "
         "note VARCHAR(9) NOT NULL) ENGINE = CSV",
         "its engine is CSV"},
    });
}

TEST_CASE("tables: an obstacle to a change is refused when it is bound, with a sentence") {
    check_refused({
        {plain + "); CREATE TRIGGER t BEFORE UPDATE ON items FOR EACH ROW SET NEW.amount = 1",
         "the trigger 't' could refuse"},
        {plain + "); CREATE TRIGGER t AFTER DELETE ON items FOR EACH ROW SET @x = 1",
         "the trigger 't' could refuse"},
        {plain + ", CONSTRAINT positive CHECK (AMOUNT >= 0))",
         "check 'positive' could refuse a change of the column 'amount'"},
        {"CREATE TABLE items (id VARCHAR(50)" + texts +
             " PRIMARY KEY, amount BIGINT NOT NULL CHECK (amount >= 0), note TEXT" + texts + ")",
         "could refuse a change of the column 'amount'"},
        {plain + ", other INT, CHECK (other < amount))", "could refuse a change of the column"},
        {plain + ", twice BIGINT AS (amount * 2) VIRTUAL)",
         "generated column 'twice' could refuse a change of the column 'amount'"},
        {plain + ", twice BIGINT AS (amount * 2) STORED)", "generated column 'twice'"},
        {plain + ", UNIQUE (note))", "unique index 'note' could refuse"},
        {plain + ", UNIQUE few (id(3)))", "unique index 'few' could refuse a change of a row"},
        {plain + ", UNIQUE few (note(3)))", "unique index 'few'"},
        {"CREATE TABLE notes (note VARCHAR(100)" + texts + " PRIMARY KEY); " + plain +
             ", CONSTRAINT known FOREIGN KEY (note) REFERENCES notes (note))",
         "foreign key 'known' could refuse"},
        // A foreign key may refer to a column whose index is not unique.
        {plain + ", KEY (amount)); CREATE TABLE uses (amount BIGINT, CONSTRAINT used "
                 "FOREIGN KEY (amount) REFERENCES items (amount) ON UPDATE CASCADE)",
         "foreign key 'used' could refuse a change of the column 'amount'"},
        {"CREATE TABLE items (id VARCHAR(50)" + texts + ", amount BIGINT NOT NULL, note TEXT" +
             texts + ", PRIMARY KEY (id, amount))",
         "two rows could have the same key"},
        {"CREATE TABLE items (id VARCHAR(50)" + texts + ", amount BIGINT NOT NULL, note TEXT" +
             texts + ")",
         "two rows could have the same key"},
    });
}

TEST_CASE("tables: a key that is not compared by its bytes is refused, with a sentence") {
    check_refused({
        {with_key("VARCHAR(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY"),
         "its collation 'utf8mb4_bin' does not compare texts by their bytes"},
        {with_key("VARCHAR(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY"),
         "Declare it COLLATE utf8mb4_nopad_bin"},
        {with_key("VARCHAR(50) CHARACTER SET latin1 COLLATE latin1_nopad_bin PRIMARY KEY"),
         "latin1_nopad_bin"},
        {with_key("CHAR(8)" + texts + " PRIMARY KEY"), "the column 'id' is declared 'char(8)'"},
        {with_key("BINARY(8) PRIMARY KEY"), "the column 'id' is declared 'binary(8)'"},
        {with_key("TEXT" + texts + ", PRIMARY KEY (id(50))"), "is the key and is declared 'text'"},
        {with_key("ENUM('a', 'b') PRIMARY KEY"), "is the key and is declared 'enum("},
        // Such an index finds no row, and two rows could have one key in READ COMMITTED.
        {with_key("VARCHAR(1000)" + texts + " UNIQUE"), "two rows could have the same key"},
    });
}

TEST_CASE("tables: a column that cannot keep the values of its member is refused") {
    check_refused({
        {"CREATE TABLE items (id VARCHAR(50)" + texts + " PRIMARY KEY, note TEXT)",
         "has no column 'amount'"},
        {with_amount("BIGINT AS (1) STORED"), "the column 'amount' is generated"},
        {with_amount("FLOAT"), "must keep whole numbers. Declare it BIGINT"},
        {with_amount("DOUBLE NOT NULL"), "must keep whole numbers"},
        {with_amount("VARCHAR(20)"), "must keep whole numbers"},
        {with_amount("BIT(8)"), "must keep whole numbers"},
        {with_amount("TIMESTAMP"), "must keep whole numbers"},
        {"CREATE TABLE items (id VARCHAR(50)" + texts +
             " PRIMARY KEY, amount BIGINT NOT NULL, note TEXT NOT NULL)",
         "is NOT NULL and its field is optional"},
        {"CREATE TABLE items (id VARCHAR(50)" + texts +
             " PRIMARY KEY, amount BIGINT NOT NULL, note JSON)",
         "must keep texts"},
        {"CREATE TABLE items (id VARCHAR(50)" + texts +
             " PRIMARY KEY, amount BIGINT NOT NULL, note CHAR(9)" + texts + ")",
         "must keep texts. Declare it VARCHAR or TEXT"},
        // A confirm could meet a text that has no place in the character set.
        {"CREATE TABLE items (id VARCHAR(50)" + texts +
             " PRIMARY KEY, amount BIGINT NOT NULL, note VARCHAR(9) CHARACTER SET latin1)",
         "has the collation 'latin1_swedish_ci', whose character set cannot hold every text"},
        {"CREATE TABLE items (id VARCHAR(50)" + texts +
             " PRIMARY KEY, amount BIGINT NOT NULL, note VARCHAR(9) CHARACTER SET utf8mb3)",
         "has the collation 'utf8mb3_general_ci', whose character set cannot hold every text"},
    });
    struct visit {
        BOOST_HANA_DEFINE_STRUCT(visit, (std::int64_t, id),
                                 (std::chrono::sys_time<std::chrono::microseconds>, seen));
    };
    static constexpr settle::collection<visit, "visits", &visit::id> visits;
    auto const sentence = [](std::string const& seen) {
        return refusal_of(visits, "CREATE TABLE visits (id INT PRIMARY KEY, seen " + seen + ")");
    };
    CHECK(sentence("DATETIME(6) NOT NULL") == "");
    CHECK(sentence("BIGINT NOT NULL") == "");
    CHECK(sentence("DATETIME(3) NOT NULL").find("Declare it DATETIME(6) or BIGINT") !=
          std::string::npos);
    CHECK(sentence("TIME(6)").find("must keep times") != std::string::npos);
    CHECK(sentence("TIMESTAMP(6) NOT NULL DEFAULT now(6) ON UPDATE now(6)")
              .find("changes by itself: ON UPDATE CURRENT_TIMESTAMP") != std::string::npos);
}

TEST_CASE("tables: constraints that concern no change of settle are accepted") {
    for (auto const& more :
         {std::string{")"}, std::string{", other INT UNIQUE CHECK (other > 0))"},
          std::string{", twice VARCHAR(100) AS (CONCAT(id, id)) STORED)"},
          std::string{", data JSON)"}, std::string{", KEY (note), KEY (note(3), amount))"},
          std::string{", FULLTEXT (note))"}, std::string{", hidden INT INVISIBLE DEFAULT 5)"},
          std::string{", seen TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP)"},
          std::string{") ROW_FORMAT = COMPACT"}, std::string{") ROW_FORMAT = COMPRESSED"},
          std::string{") PARTITION BY KEY (id) PARTITIONS 3"},
          std::string{"); CREATE TABLE uses (item VARCHAR(50)"} + texts +
              ", FOREIGN KEY (item) REFERENCES items (id))"}) {
        INFO(more);
        CHECK(refusal_of(items, plain + more) == "");
    }
}

TEST_CASE("tables: reserved words and a backtick in a name do not hide an obstacle") {
    struct order {
        BOOST_HANA_DEFINE_STRUCT(order, (std::int64_t, key), (std::int64_t, undo));
    };
    static constexpr settle::collection<order, "select", &order::key> orders;
    std::string const table = "CREATE TABLE `select` (`key` INT PRIMARY KEY, `undo` INT, "
                              "`a ``b'\\\"` INT AS (1 + 1) STORED";
    CHECK(refusal_of(orders, table + ")") == "");
    CHECK(refusal_of(orders, table + ", `c``d` INT CHECK (`c``d` > 0), "
                                     "`e``f` INT AS (`c``d` + 1) STORED)") == "");
    CHECK(refusal_of(orders, table + ", `c``d` INT, CHECK (`undo` > `c``d`))")
              .find("a change of the column 'undo'") != std::string::npos);
    CHECK(refusal_of(orders, table + "); CREATE TRIGGER `t``t` BEFORE UPDATE ON `select` "
                                     "FOR EACH ROW SET @x = 1")
              .find("the trigger 't`t'") != std::string::npos);
}

TEST_CASE("tables: an erase that a foreign key of another table could refuse is canceled") {
    struct erasure {
        BOOST_HANA_DEFINE_STRUCT(erasure, (std::string, id));
    };
    static constexpr auto erasure_type = settle::transaction<erasure, "erasure">(
        settle::participant<"item">(items, settle::param<&erasure::id>).confirm(settle::erase));
    for (std::string const action : {"RESTRICT", "CASCADE", "SET NULL"}) {
        fresh_mariadb const own;
        own.ask(plain + "); CREATE TABLE uses (item VARCHAR(50)" + texts +
                ", FOREIGN KEY (item) REFERENCES items (id) ON DELETE " + action +
                "); INSERT INTO items VALUES ('a', 1, NULL); INSERT INTO uses VALUES ('a')");
        settle::mariadb::database db{own.address()};
        for (auto const how : {settle::phases::one, settle::phases::two}) {
            settle::engine engine{db, settle::type<erasure_type>, how};
            auto const ended = engine.run(erasure{"a"});
            CHECK(ended.why == settle::reason::record_unusable);
            CHECK(ended.problem.text.find("foreign key") != std::string::npos);
            CHECK(engine.marks().value() == 0);
        }
        CHECK(own.ask_one("SELECT item FROM uses") == "a");
    }
}

TEST_CASE("tables: a table is bound once another program has changed its tables") {
    fresh_mariadb const own;
    fresh_mariadb const other;
    own.ask(plain + ")");
    settle::mariadb::database db{own.address(), {.lock_timeout = 1s}};
    auto const log_name = db.bind_log().name();
    // A table that is being created is locked to its end, for all who look at all tables.
    std::jthread const creates{[&] { other.ask("CREATE TABLE slow AS SELECT SLEEP(3)"); }};
    REQUIRE(settle_test::wait_until(60s, [&] {
        return own.ask_one("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                           "info LIKE 'CREATE TABLE slow%'") != "0";
    }));
    CHECK_NOTHROW(static_cast<void>(db.bind<std::remove_const_t<decltype(items)>>(log_name)));
}

} // namespace mariadb_tables
