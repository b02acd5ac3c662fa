// SPDX-License-Identifier: BSL-1.0
// The table of a collection: new tables, the accepted tables of a user, and the sentence for each
// refused table.
#include "sqlite_file.hpp"

namespace sqlite_test {
namespace {

using settle::sqlite::database;

/// The parts of a table that fits the collection of items; a test replaces one part.
struct table_parts {
    std::string name = "items";
    std::string id = "id TEXT PRIMARY KEY";
    std::string amount = "amount INTEGER NOT NULL";
    std::string small = "small INTEGER";
    std::string open = "open INTEGER";
    std::string limit = "\"limit\" INTEGER";
    std::string note = "note TEXT";
    std::string more{};
    std::string end{};
    std::string after{};

    [[nodiscard]] std::string text() const {
        return "CREATE TABLE " + name + "(" + id + ", " + amount + ", " + small + ", " + open +
               ", shade INTEGER, made INTEGER, " + limit + ", " + note + more + ")" + end + "; " +
               after;
    }
};

/// The answer of binding the collection to a table.
std::string binding(table_parts const& parts) {
    folder const folder;
    sql(folder.file(), parts.text());
    database db{folder.file()};
    return refusal([&] { engine_on(db); });
}

/// Binds the collection to a table that fits and runs a transaction on it.
void check_fits(table_parts const& parts, std::string_view what) {
    INFO("the table with ", std::string{what});
    folder const folder;
    sql(folder.file(), parts.text());
    database db{folder.file()};
    REQUIRE(refusal([&] { engine_on(db); }) == "");
    auto engine = engine_on(db);
    item const record{
        "it's \"A\"; --", 5,  -3, true, colour::blue, second{std::chrono::seconds{-9}},
        std::nullopt,     "n"};
    REQUIRE(engine.create(items, record).has_value());
    REQUIRE(engine.run<take_type>(change{record.id, 2, "", {}}).done());
    item expected = record;
    expected.amount = 3;
    CHECK(engine.read(items, record.id).value() == expected);
}

/// A table that is refused; the sentence names the table and contains this text.
void check_refused(table_parts const& parts, std::string_view text) {
    std::string const reply = binding(parts);
    INFO(reply);
    CHECK(contains(reply, "the store does not fit the collection: settle: the table 'items' cannot "
                          "hold the collection as it is described: "));
    CHECK(contains(reply, text));
    CHECK(contains(reply, ". See sqlite#existing-tables"));
}

TEST_CASE("sqlite tables: a new table has a readable column for each field") {
    folder const folder;
    database db{folder.file()};
    engine_on(db);
    static_cast<void>(db.bind<numbers_type>(db.bind_log().name()));
    CHECK(sql_value(folder.file(), "SELECT sql FROM sqlite_master WHERE name = 'items'") ==
          "CREATE TABLE \"items\"(\"id\" TEXT PRIMARY KEY NOT NULL, \"amount\" INTEGER NOT NULL, "
          "\"small\" INTEGER NOT NULL, \"open\" INTEGER NOT NULL, \"shade\" INTEGER NOT NULL, "
          "\"made\" INTEGER NOT NULL, \"limit\" INTEGER, \"note\" TEXT) WITHOUT ROWID");
    CHECK(sql_value(folder.file(), "SELECT sql FROM sqlite_master WHERE name = 'numbers'") ==
          "CREATE TABLE \"numbers\"(\"number\" INTEGER PRIMARY KEY NOT NULL, "
          "\"label\" TEXT NOT NULL)");
    // Its own table fits the next time, too.
    CHECK(refusal([&] { engine_on(db); }) == "");
}

TEST_CASE("sqlite tables: a table that fits is used unchanged") {
    check_fits({}, "nothing special");
    check_fits({.end = " WITHOUT ROWID"}, "no rowid");
    check_fits({.end = " STRICT"}, "strict types");
    check_fits({.id = "id TEXT NOT NULL UNIQUE"}, "a unique key");
    check_fits({.id = "number INTEGER PRIMARY KEY, id TEXT",
                .after = "CREATE UNIQUE INDEX of_id ON items(id)"},
               "a unique index on the key and another primary key");
    check_fits({.id = "id VARCHAR(40) PRIMARY KEY", .amount = "amount BIGINT"}, "other type names");
    check_fits({.open = "open BOOLEAN"}, "a BOOLEAN");
    check_fits({.amount = "amount INT CONSTRAINT \"CHECK\" NOT NULL /* CHECK */",
                .more = ", [CHECK (1)] TEXT DEFAULT 'CHECK (0)' -- CHECK\n"},
               "the word CHECK where it is none");
    check_fits({.more = ", extra REAL NOT NULL DEFAULT 1.5, twice AS (amount * 2), "
                        "email TEXT UNIQUE"},
               "columns of its own");
    check_fits({.more = ", owner TEXT REFERENCES people(id)"}, "a foreign key of its own");
    check_fits({.after = "CREATE INDEX by_amount ON items(amount)"}, "an index");
    check_fits({.id = "id TEXT PRIMARY KEY ON CONFLICT REPLACE"}, "a conflict clause");
}

TEST_CASE("sqlite tables: an object that is not a table is refused") {
    check_refused({.name = "base", .after = "CREATE VIEW items AS SELECT * FROM base"},
                  "it is a view, not an ordinary table");
    check_refused({.name = "base", .after = "CREATE VIRTUAL TABLE items USING fts5(id)"},
                  "it is a virtual, not an ordinary table");
    check_refused({.name = "Items"}, "its name is 'Items', in another letter case");
}

TEST_CASE("sqlite tables: missing columns and columns of another type are refused") {
    check_refused({.note = "remark TEXT"}, "it has no column 'note'. Add it");
    check_refused({.note = "Note TEXT"}, "the member 'note' has the column 'Note'");
    check_refused({.amount = "amount"},
                  "'amount' has no type and must keep whole numbers. Declare it INTEGER");
    check_refused({.amount = "amount REAL"}, "'amount' is declared 'REAL'");
    check_refused({.amount = "amount DECIMAL(10,2)"}, "'amount' is declared 'DECIMAL(10,2)'");
    check_refused({.amount = "amount TEXT"}, "'amount' is declared 'TEXT' and must keep whole");
    check_refused({.open = "open TEXT"}, "'open' is declared 'TEXT'");
    check_refused({.note = "note BLOB"}, "'note' is declared 'BLOB' and must keep texts");
    check_refused({.note = "note INTEGER"}, "'note' is declared 'INTEGER' and must keep texts");
    check_refused({.note = "note TEXT NOT NULL"},
                  "'note' is NOT NULL and its field is optional. Remove the NOT NULL");
    check_refused({.note = "note TEXT AS (id)"}, "'note' is generated");
}

TEST_CASE("sqlite tables: a key that is not unique byte by byte is refused") {
    check_refused({.id = "id TEXT"}, "is the key, and two rows could have the same key");
    check_refused({.id = "id TEXT", .more = ", PRIMARY KEY(id, amount)"}, "'id' is the key");
    check_refused({.id = "id TEXT", .after = "CREATE UNIQUE INDEX some ON items(id) WHERE open"},
                  "two rows could have the same key");
    check_refused({.id = "id TEXT", .after = "CREATE UNIQUE INDEX some ON items(id, lower(id))"},
                  "two rows could have the same key");
    check_refused({.id = "id TEXT COLLATE NOCASE PRIMARY KEY"}, "compares texts by NOCASE");
    check_refused(
        {.id = "id TEXT", .after = "CREATE UNIQUE INDEX some ON items(id COLLATE NOCASE)"},
        "two rows could have the same key");
}

TEST_CASE("sqlite tables: an integer key may be the rowid") {
    auto const problem_of = [](std::string const& text) {
        folder const folder;
        sql(folder.file(), text);
        database db{folder.file()};
        return refusal([&] { static_cast<void>(db.bind<numbers_type>("log")); });
    };
    CHECK(problem_of("CREATE TABLE numbers(number INTEGER PRIMARY KEY, label TEXT)") == "");
    CHECK(problem_of("CREATE TABLE numbers(number INT PRIMARY KEY, label TEXT)") == "");
    CHECK(problem_of("CREATE TABLE numbers(number INT UNIQUE, label TEXT)") == "");
    CHECK(contains(problem_of("CREATE TABLE numbers(number INT, label TEXT)"),
                   "two rows could have the same key"));
    CHECK(
        contains(problem_of("CREATE TABLE numbers(number INT, x INTEGER PRIMARY KEY, label TEXT)"),
                 "two rows could have the same key"));
}

TEST_CASE("sqlite tables: constraints and triggers that could alter a change are refused") {
    check_refused({.amount = "amount INTEGER CHECK (amount >= 0)"}, "it has a CHECK");
    check_refused({.more = ", constraint positive check(amount>=0)"}, "it has a CHECK");
    check_refused({.amount = "amount INTEGER UNIQUE"}, "the unique index 'sqlite_autoindex_items_");
    check_refused({.after = "CREATE UNIQUE INDEX some ON items(amount, note)"},
                  "the unique index 'some' could refuse a change");
    check_refused(
        {.more = ", twice AS (amount * 2)", .after = "CREATE UNIQUE INDEX some ON items(twice)"},
        "the unique index 'some'");
    check_refused({.after = "CREATE UNIQUE INDEX some ON items(abs(amount))"},
                  "the unique index 'some'");
    check_refused({.more = ", email TEXT",
                   .after = "CREATE UNIQUE INDEX some ON items(email) WHERE amount > 0"},
                  "the unique index 'some'");
    check_refused({.more = ", twice AS (nullif(amount, 3)) NOT NULL"},
                  "'twice' is generated and NOT NULL");
    check_refused({.note = "note TEXT REFERENCES people(id)"}, "'note' has a foreign key");
    check_refused({.more = ", FOREIGN KEY(id) REFERENCES people(id)"}, "'id' has a foreign key");
    check_refused({.after = "CREATE TRIGGER no BEFORE UPDATE ON items BEGIN SELECT "
                            "RAISE(ABORT, 'no'); END"},
                  "the trigger 'no' could refuse or add to a change. Drop it");
}

TEST_CASE("sqlite tables: an index that needs another program's function is refused by its name") {
    folder const folder;
    sql(folder.file(), table_parts{}.text());
    // Another program, which has a function and a collation of its own.
    ::sqlite3* other = nullptr;
    REQUIRE(::sqlite3_open(folder.file().c_str(), &other) == SQLITE_OK);
    auto const half = [](sqlite3_context* call, int, sqlite3_value** given) {
        ::sqlite3_result_int64(call, ::sqlite3_value_int64(given[0]) / 2);
    };
    auto const any = [](void*, int, void const*, int, void const*) { return 0; };
    ::sqlite3_create_function(other, "half", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr, half,
                              nullptr, nullptr);
    ::sqlite3_create_collation(other, "german", SQLITE_UTF8, nullptr, any);
    std::string cause;
    std::string index = "CREATE INDEX theirs ON items";
    SUBCASE("a function") {
        index += "(half(amount))";
        cause = "unknown function: half()";
    }
    SUBCASE("a function of a condition") {
        index += "(amount) WHERE half(amount) > 1";
        cause = "unknown function: half()";
    }
    SUBCASE("a collation") {
        index += "(note COLLATE german)";
        cause = "no such collation sequence: german";
    }
    CHECK(::sqlite3_exec(other, index.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    ::sqlite3_close(other);
    database db{folder.file()};
    std::string const reply = refusal([&] { engine_on(db); });
    CHECK_MESSAGE(contains(reply, "its index 'theirs' cannot be written by this process: " + cause +
                                      ". Drop the index. See sqlite#existing-tables"),
                  reply);
}

TEST_CASE("sqlite tables: names reserved by settle and SQLite are refused") {
    folder const folder;
    database db{folder.file()};
    static constexpr settle::collection<item, "settle_items", &item::id> ours;
    static constexpr settle::collection<item, "SQLite_items", &item::id> theirs;
    auto const problem_of = [&](auto const& one) {
        using type = std::remove_cvref_t<decltype(one)>;
        return refusal([&] { static_cast<void>(db.bind<type>("log")); });
    };
    CHECK(contains(problem_of(ours), "a collection cannot be named 'settle_items'"));
    CHECK(contains(problem_of(theirs), "a collection cannot be named 'SQLite_items'"));
}

TEST_CASE("sqlite tables: a table that changes after it was bound is noticed") {
    folder const folder;
    database db{folder.file(), {.busy_timeout = std::chrono::milliseconds{100}}};
    auto engine = engine_on(db);
    engine.create(items, item{"A", 5}).value();
    settle::call_options const for_a_moment{std::chrono::milliseconds{50}, {}};

    sql(folder.file(), "ALTER TABLE items ADD COLUMN extra TEXT DEFAULT 'e'");
    CHECK(engine.run<take_type>("one", change{"A", 1, "", {}}).done());

    sql(folder.file(), "CREATE TRIGGER no BEFORE UPDATE ON items BEGIN SELECT RAISE(IGNORE); END");
    auto const outcome = engine.run<take_type>("two", change{"A", 1, "", {}}, for_a_moment);
    CHECK(outcome.why == settle::reason::record_unusable);
    CHECK(contains(outcome.problem.text, "changed 0 rows instead of 1; has a trigger been added"));
    sql(folder.file(), "DROP TRIGGER no");
    CHECK(engine.run<take_type>("two again", change{"A", 1, "", {}}).done());

    sql(folder.file(), "ALTER TABLE items RENAME COLUMN amount TO sum");
    auto const lost = engine.run<take_type>("three", change{"A", 1, "", {}}, for_a_moment);
    CHECK(lost.verdict == settle::verdict::undecided);
    CHECK(lost.problem.code == settle::condition::permanent);
    CHECK(contains(lost.problem.text, "no such column"));
    sql(folder.file(), "ALTER TABLE items RENAME COLUMN sum TO amount");
    CHECK(engine.run<take_type>("three", change{"A", 1, "", {}}).done());
    CHECK(sql(folder.file(), "SELECT amount, extra FROM items") == std::vector<std::string>{"2|e"});
}

} // namespace
} // namespace sqlite_test
