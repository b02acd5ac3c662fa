// SPDX-License-Identifier: BSL-1.0
// Records in SQLite: damaged rows and marks, faults of single records, restored rows, and other
// programs that lock the file.
#include "sqlite_file.hpp"

#include <settle/testing/entry_writer.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <limits>

namespace sqlite_test {
namespace {

using settle::condition;
using settle::errc;
using settle::verdict;
using settle::sqlite::database;

settle::call_options const brief{std::chrono::milliseconds{60}, {}};

/// A database with records A, B and C of 100 each, and its engine.
struct bank {
    folder directory{};
    database db{directory.file(), {.busy_timeout = std::chrono::milliseconds{50}}};
    decltype(engine_on(db)) engine{db,
                                   settle::type<add_type>,
                                   settle::type<take_type>,
                                   settle::type<create_type>,
                                   settle::type<erase_type>,
                                   settle::type<open_type>};

    bank() {
        for (char const* id : {"A", "B", "C"}) engine.create(items, item{id, 100}).value();
    }
    [[nodiscard]] std::string path() const { return directory.file(); }
    void set(std::string const& assignment, std::string const& id = "A") const {
        sql(path(), "UPDATE items SET " + assignment + " WHERE id = '" + id + "'");
    }
    [[nodiscard]] std::string amounts() const {
        return sql_value(path(), "SELECT group_concat(amount) FROM items");
    }
};

TEST_CASE("sqlite records: every kind of field is kept exactly, at its limits") {
    bank bank;
    item const least{
        "least",       std::numeric_limits<std::int64_t>::min(), -128, false, colour::red,
        second::min(), std::numeric_limits<std::int64_t>::min(), ""};
    item const most{"most",
                    std::numeric_limits<std::int64_t>::max(),
                    127,
                    true,
                    colour::blue,
                    second::max(),
                    std::numeric_limits<std::int64_t>::max(),
                    "\xF0\x9F\x98\x80'\""};
    for (item const& one : {least, most}) {
        bank.engine.create(items, one).value();
        CHECK(bank.engine.read(items, one.id).value() == one);
    }
    CHECK_FALSE(bank.engine.read(items, "none").value().has_value());
}

TEST_CASE("sqlite records: creating refuses an existing key and a text that is not UTF-8") {
    bank bank;
    auto const taken = bank.engine.create(items, item{"A", 1});
    CHECK(taken.problem().code == errc::record_exists);
    CHECK(bank.engine.create(items, item{"\xFF", 1}).problem().code == errc::bad_text);
    CHECK(bank.amounts() == "100,100,100");
}

TEST_CASE("sqlite records: a damaged row is named with its column, and its value is not shown") {
    bank bank;
    auto const problem_of = [&](std::string const& assignment) {
        sql(bank.path(), "DELETE FROM items WHERE id = 'A'");
        bank.engine.create(items, item{"A", 100}).value();
        bank.set(assignment);
        auto const read = bank.engine.read(items, "A");
        REQUIRE_FALSE(read.has_value());
        CHECK(read.problem().code == errc::damaged);
        CHECK(read.problem().code == condition::permanent);
        return read.problem().text;
    };
    CHECK(problem_of("amount = 'abc'") ==
          "settle: the row 'A' of the table 'items' is damaged: its column 'amount' holds no "
          "integer. Repair that row. See errors#damaged");
    CHECK(contains(problem_of("amount = 1.5"), "'amount' holds no integer"));
    CHECK(contains(problem_of("amount = 9223372036854775807 + 1"), "'amount' holds no integer"));
    CHECK(
        contains(problem_of("small = 200"), "'small' holds a number that is none of the field's"));
    CHECK(contains(problem_of("open = 2"),
                   "'open' holds a number that is none of the field's values"));
    CHECK(contains(problem_of("note = x'00'"), "'note' holds no text"));
    CHECK(contains(problem_of("note = CAST(x'FF' AS TEXT)"),
                   "'note' holds a text that is not UTF-8"));
    CHECK(contains(problem_of("note = CAST(x'6100' AS TEXT)"),
                   "'note' holds a text with a NUL in it"));
    auto const page = bank.engine.scan_page<items_type>(std::nullopt, 10);
    REQUIRE_FALSE(page.has_value());
    CHECK(contains(page.problem().text, "the row 'A' of the table 'items' is damaged"));
}

TEST_CASE("sqlite records: a transaction on a damaged row is canceled with the reason") {
    bank bank;
    bank.set("amount = 'abc'");
    auto const outcome = bank.engine.run<take_type>("one", change{"A", 1, "", {}}, brief);
    CHECK(outcome.canceled());
    CHECK(outcome.why == settle::reason::record_unusable);
    CHECK(outcome.problem.code == condition::permanent);
    CHECK(contains(outcome.problem.text, "the row 'A' of the table 'items' is damaged"));
    bank.set("amount = 100");
    CHECK(bank.engine.run<take_type>("one", change{"A", 1, "", {}}).why ==
          settle::reason::record_unusable);
    CHECK(bank.engine.run<take_type>("two", change{"A", 1, "", {}}).done());
    CHECK(bank.amounts() == "99,100,100");
    // In two phases the transaction is canceled for the same reason, and leaves no mark.
    bank.set("amount = 'abc'");
    settle::engine apart{bank.db, settle::two_phases, settle::type<take_type>};
    auto const in_two_phases = apart.run("three", change{"A", 1, "", {}}, brief);
    CHECK(in_two_phases.canceled());
    CHECK(in_two_phases.why == settle::reason::record_unusable);
    CHECK(apart.marks().value() == 0);
}

TEST_CASE("sqlite records: NULL in a field that is not optional is damage") {
    folder const folder;
    sql(folder.file(), "CREATE TABLE numbers(number INTEGER PRIMARY KEY, label TEXT); "
                       "INSERT INTO numbers VALUES(5, NULL), (6, 'six')");
    database db{folder.file()};
    auto session = db.bind<numbers_type>("log");
    CHECK(session.read<numbers_type>(6).value() == numbered{6, "six"});
    CHECK(contains(session.read<numbers_type>(5).problem().text,
                   "the row '5' of the table 'numbers' is damaged: its column 'label' is NULL"));
    CHECK_FALSE(session.read<numbers_type>(7).value().has_value());
}

/// A call that applies transactions, each of which takes 1 of one record.
struct takes {
    using direction = settle::forward<take_type>;
    std::vector<std::string> ids;
    std::vector<settle::part_result> results{};

    template <typename Session>
    std::string send(Session& session, settle::step action = settle::step::apply) {
        settle::testing::part_wave wave{action};
        for (auto const& id : ids) {
            wave.add<direction>("of " + id, {id, 1, "", {}}, 7, 7);
        }
        wave.send(session);
        results = wave.results();
        std::string reply;
        for (auto const& one : results) {
            reply += (reply.empty() ? "" : ", ") + std::string{name_of(one.what)};
        }
        return reply;
    }
};

TEST_CASE("sqlite records: a damaged row does not delay the other parts of its wave") {
    bank bank;
    bank.set("amount = 'abc'", "B");
    auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
    takes wave{{"A", "B", "C", "none"}};
    CHECK(wave.send(session) == "applied, record unusable, applied, record missing");
    CHECK(wave.results[0].problem.empty());
    CHECK(wave.results[1].problem.code == errc::damaged);
    CHECK(bank.amounts() == "99,abc,99");
    CHECK(session.marks(std::nullopt, 10).value().size() == 2);
}

TEST_CASE("sqlite records: the end of a part without a mark needs no sound row") {
    bank bank;
    auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
    takes wave{{"A", "B"}};
    REQUIRE(wave.send(session) == "applied, applied");
    takes earlier{{"B"}};
    REQUIRE(earlier.send(session, settle::step::confirm) == "applied");
    bank.set("amount = 'abc'", "B");
    CHECK(wave.send(session, settle::step::confirm) == "applied, nothing");
    CHECK(wave.send(session, settle::step::compensate) == "nothing, nothing");
    CHECK(bank.amounts() == "99,abc,100");
}

TEST_CASE("sqlite records: a fenced part does not delay the other parts of its wave") {
    bank bank;
    auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
    takes earlier{{"B", "C"}};
    REQUIRE(earlier.send(session) == "applied, applied");
    sql(bank.path(), "UPDATE settle_mark SET epoch = iif(key = 'B', 99, 3)");
    takes wave{{"A", "B", "C"}};
    CHECK(wave.send(session) == "applied, fenced, applied");
    CHECK(bank.amounts() == "99,99,99");
    CHECK(sql(bank.path(), "SELECT key, epoch FROM settle_mark ORDER BY key") ==
          std::vector<std::string>{"A|7", "B|99", "C|7"});
}

TEST_CASE("sqlite records: a wave pulls its own marks beside few or many other marks") {
    for (int const others : {0, 2, 500}) {
        CAPTURE(others);
        bank bank;
        auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
        takes wave{{"C", "A", "B"}};
        REQUIRE(wave.send(session) == "applied, applied, applied");
        sql(bank.path(),
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                std::to_string(others) +
                ") INSERT INTO settle_mark SELECT 'of ' || i, i % 2, 0, 'items', "
                "substr('ABC', 1 + i % 3, 1), 9, 'add', NULL, NULL, NULL FROM n WHERE i <= " +
                std::to_string(others));
        CHECK(wave.send(session, settle::step::confirm) == "applied, applied, applied");
        CHECK(sql_value(bank.path(), "SELECT count(*) FROM settle_mark") == std::to_string(others));
        CHECK(sql_value(bank.path(), "SELECT count(*) FROM settle_mark WHERE id IN "
                                     "('of A', 'of B', 'of C')") == "0");
        CHECK(bank.amounts() == "99,99,99");
    }
}

TEST_CASE("sqlite records: in a batch in one phase, an existing id has its own outcome") {
    bank bank;
    REQUIRE(bank.engine.run<take_type>("two", change{"A", 10, "", {}}).done());
    std::vector<std::pair<std::string, change>> const requests{{"one", {"A", 1, "", {}}},
                                                               {"two", {"A", 10, "", {}}},
                                                               {"three", {"B", 101, "", {}}},
                                                               {"four", {"A", 2, "", {}}}};
    settle::engine taking{bank.db, settle::type<take_type>};
    auto const outcomes = taking.run_all(requests);
    REQUIRE(outcomes.size() == 4);
    CHECK(outcomes[0].done());
    CHECK(outcomes[1].done());
    CHECK(outcomes[2].why == settle::reason::guard_failed);
    CHECK(outcomes[3].done());
    CHECK(bank.amounts() == "87,100,100");
}

TEST_CASE("sqlite records: in a batch in one phase, a refused row cancels only its transaction") {
    folder const folder;
    sql(folder.file(), "CREATE TABLE items(id TEXT PRIMARY KEY, amount INTEGER, small INTEGER, "
                       "open INTEGER, shade INTEGER, made INTEGER, \"limit\" INTEGER, note TEXT, "
                       "owner TEXT DEFAULT 'me')");
    database db{folder.file()};
    settle::engine engine{db, settle::type<create_type>};
    sql(folder.file(), "CREATE UNIQUE INDEX once ON items(owner) WHERE id > 'B'");
    std::vector<change> const requests{{"A", 0, "", item{"A", 1}},
                                       {"C", 0, "", item{"C", 1}},
                                       {"D", 0, "", item{"D", 1}},
                                       {"B", 0, "", item{"B", 1}}};
    auto const outcomes = engine.run_all(requests);
    REQUIRE(outcomes.size() == 4);
    CHECK(outcomes[0].done());
    CHECK(outcomes[1].done());
    CHECK(outcomes[2].why == settle::reason::record_unusable);
    CHECK(outcomes[3].done());
    CHECK(sql_value(folder.file(), "SELECT group_concat(id) FROM items") == "A,B,C");
}

TEST_CASE("sqlite records: a wave on a locked file has no effect and is unavailable") {
    bank bank;
    auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
    sqlite3* other = nullptr;
    REQUIRE(sqlite3_open(bank.path().c_str(), &other) == SQLITE_OK);
    REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
    takes wave{{"A", "B"}};
    CHECK(wave.send(session) == "unavailable, unavailable");
    CHECK(wave.results[0].problem.code == condition::retryable);
    CHECK(wave.results[0].problem.code.value() == SQLITE_BUSY);
    CHECK(contains(wave.results[0].problem.text,
                   "could not begin a transaction: database is locked"));
    // A read succeeds, and a write reports the lock.
    CHECK(bank.engine.read(items, "A").value()->amount == 100);
    CHECK(bank.engine.create(items, item{"D", 1}, brief).problem().code == condition::retryable);
    auto const held = bank.engine.run<take_type>("one", change{"A", 1, "", {}}, brief);
    CHECK(held.verdict == verdict::undecided);
    CHECK(held.problem.code == condition::retryable);
    CHECK_FALSE(bank.engine.find("one").value().has_value());
    sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
    sqlite3_close(other);
    CHECK(wave.send(session) == "applied, applied");
    CHECK(bank.amounts() == "99,99,100");
}

/// While the object exists, no file of this process can grow beyond the write-ahead log's size.
class full_disk {
public:
    explicit full_disk(std::string const& path) {
        std::signal(SIGXFSZ, SIG_IGN);
        REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
        rlimit now = before_;
        now.rlim_cur = std::filesystem::file_size(path + "-wal");
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &now) == 0);
    }
    full_disk(full_disk const&) = delete;
    full_disk& operator=(full_disk const&) = delete;
    ~full_disk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, SIG_DFL);
    }

private:
    rlimit before_{};
};

TEST_CASE("sqlite records: a commit whose write fails is unknown, and the file stays usable") {
    bank bank;
    auto log = bank.db.bind_log();
    auto session = bank.db.bind<items_type>(log.name());
    takes wave{{"A", "B"}};
    settle::testing::entry_writer inserted{
        log, settle::testing::test_transaction::of<takes::direction>("of C", {"C", 1, "", {}})};
    auto const insert = [&] {
        return inserted.insert(settle::state::pending, 9, settle::timestamp{}, "me",
                               settle::timestamp{});
    };
    std::string reply;
    {
        full_disk const disk{bank.path()};
        reply = wave.send(session);
        CHECK(insert() == settle::log_answer::unknown);
    }
    CHECK(reply == "unknown, unknown");
    // Whether it took effect is unknown, but until there is room no other attempt can succeed.
    CHECK(wave.results[0].problem.code == condition::permanent);
    CHECK(contains(wave.results[0].problem.text,
                   "could not commit a transaction: database or disk is full"));
    CHECK(inserted.problem().code == condition::permanent);
    CHECK(bank.amounts() == "100,100,100");
    CHECK_FALSE(log.read("of C").value().has_value());

    takes again{{"A", "B"}};
    CHECK(again.send(session) == "applied, applied");
    CHECK(bank.amounts() == "99,99,100");
    // The number that the entry's type got in the transaction that failed is not used again.
    CHECK(insert() == settle::log_answer::taken);
    CHECK(log.read("of C").value()->type == "take");
    CHECK(log.read("of C").value()->owner == "me");
}

TEST_CASE("sqlite records: a damaged mark is named, also when it is resolved") {
    bank bank;
    auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
    takes wave{{"A"}};
    REQUIRE(wave.send(session) == "applied");
    auto const places = session.marks(std::nullopt, 10).value();
    REQUIRE(places.size() == 1);
    CHECK(places[0] == settle::mark_locator{"items", std::string{"A"}, "of A", {0, 0}, 7});

    sql(bank.path(), "UPDATE settle_mark SET undo = '{\"amount\":'");
    auto const no = session.resolve(places[0], false);
    REQUIRE_FALSE(no.has_value());
    CHECK(no.problem().code == errc::damaged);
    CHECK(contains(no.problem().text, "settle: a mark of the transaction 'of A' on 'items' is "
                                      "damaged in the table settle_mark: the stored JSON"));
    // The damaged mark is an unreadable bound of its record, so every other part fails.
    auto const held = bank.engine.run<take_type>("one", change{"A", 1, "", {}}, brief);
    CHECK(held.problem.code == errc::damaged);

    sql(bank.path(), "UPDATE settle_mark SET undo = '{\"amount\":1}'");
    auto stale = places[0];
    stale.epoch_number = 6;
    CHECK(session.resolve(stale, false).value() == settle::answer::nothing);
    CHECK(session.resolve(places[0], false).value() == settle::answer::applied);
    CHECK(session.resolve(places[0], false).value() == settle::answer::nothing);
    CHECK(bank.amounts() == "100,100,100");
}

TEST_CASE("sqlite records: a mark with a damaged key does not keep a sweep from other marks") {
    bank bank;
    auto const put = [&](std::string const& values) {
        sql(bank.path(), "INSERT INTO settle_mark VALUES(" + values +
                             ", 'add', NULL, "
                             "'{\"amount\":5}', NULL)");
    };
    put("'a', 0, 0, 'items', 'A', -1");
    put("'b', 'first', 0, 'items', 'A', 7");
    put("x'63', 0, 0, 'items', 'B', 7");
    put("CAST(x'64FF' AS TEXT), 0, 0, 'items', 'B', 7");
    put("'e', 0, 0, 'items', x'43', 7");
    put("'f', 0, 0, 'items', 'C', 7");
    auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
    std::vector<std::string> sound;
    std::vector<std::string> damaged;
    std::optional<settle::mark_locator> after;
    for (int page_number = 0; page_number < 10; ++page_number) {
        auto const page = session.marks(after, 4).value();
        for (auto const& one : page) {
            (one.fault.empty() ? sound : damaged).push_back(one.id);
            if (!one.fault.empty()) CHECK(one.fault.code == errc::damaged);
        }
        if (page.size() < 4) break;
        after = page.back();
    }
    CHECK(sound == std::vector<std::string>{"f"});
    std::sort(damaged.begin(), damaged.end());
    CHECK(damaged == std::vector<std::string>{"a", "b", "c", "d\xFF", "e"});

    CHECK(bank.engine.marks().value() == 6);
    auto const swept = bank.engine.sweep();
    CHECK(swept.problem.empty());
    CHECK(swept.looked_at == 6);
    CHECK(swept.undone == 1);
    REQUIRE(swept.skipped.size() == 5);
    CHECK(swept.skipped[3].problem.text ==
          "settle: a mark of the transaction 'a' is damaged in the table settle_mark: a column has "
          "a negative epoch. Repair that row. See errors#damaged");
    CHECK(bank.amounts() == "100,100,105");
    CHECK(bank.engine.marks().value() == 5);
}

TEST_CASE("sqlite records: marks of unbound collections are not listed, and pages continue") {
    bank bank;
    sql(bank.path(), "INSERT INTO settle_mark VALUES('z', 1, 0, 'others', 5, 9, 'add', NULL, NULL, "
                     "NULL), ('b', 1, 0, 'items', 'B', 9, 'add', NULL, NULL, NULL), "
                     "('b', 1, 0, 'items', 'A', 9, 'add', NULL, NULL, NULL), "
                     "('a', 0, 3, 'items', 'A', 9, 'add', NULL, NULL, NULL)");
    auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
    std::string seen;
    std::optional<settle::mark_locator> after;
    for (;;) {
        auto const page = session.marks(after, 1).value();
        if (page.empty()) break;
        after = page.back();
        seen += after->id + " on " + std::get<std::string>(after->key) + "; ";
    }
    CHECK(seen == "a on A; b on A; b on B; ");
    // A mark without a record prevents the creation of a record with its key.
    sql(bank.path(), "UPDATE settle_mark SET key = 'D' WHERE id = 'a'");
    CHECK(bank.engine.create(items, item{"D", 1}).problem().code == errc::record_exists);
}

TEST_CASE("sqlite records: reversing an erase restores all columns of the row") {
    folder const folder;
    sql(folder.file(),
        "CREATE TABLE items(id TEXT PRIMARY KEY, amount INTEGER, small INTEGER, open INTEGER, "
        "shade INTEGER, made INTEGER, \"limit\" INTEGER, note TEXT, ratio REAL, picture BLOB, "
        "odd TEXT, twice AS (amount * 2)); INSERT INTO items VALUES('A', 7, 0, 1, 700, -5, NULL, "
        "'n', 0.1, x'00FF', CAST(x'61FF' AS TEXT))");
    database db{folder.file()};
    auto engine = engine_on(db);
    std::string const query = "SELECT *, typeof(ratio), typeof(picture), hex(odd) FROM items";
    auto const before = sql(folder.file(), query);
    REQUIRE(engine.run<erase_type>("one", change{"A", 0, "", {}}).done());
    CHECK(sql(folder.file(), query).empty());
    auto const image = engine.find("one").value()->images.at(0);
    CHECK(image.before == R"({"id":"A","amount":7,"small":0,"open":1,"shade":700,"made":-5,)"
                          R"("limit":null,"note":"n","ratio":0.1,"picture":{"$blob":"00ff"},)"
                          R"("odd":{"$text":"61ff"},"twice":14})");
    CHECK(image.after.empty());
    REQUIRE(engine.reverse("one").done());
    CHECK(sql(folder.file(), query) == before);

    REQUIRE(engine.run<erase_type>("two", change{"A", 0, "", {}}).done());
    sql(folder.file(), "ALTER TABLE items DROP COLUMN ratio");
    auto const outcome = engine.reverse("two", brief);
    CHECK(outcome.why == settle::reason::record_unusable);
    CHECK(contains(outcome.problem.text, "old image has a column 'ratio', and the table 'items'"));
    sql(folder.file(), "ALTER TABLE items ADD COLUMN ratio REAL");
    CHECK(engine.reverse("two").id == "two/reverse/2");
    CHECK(sql_value(folder.file(), "SELECT ratio FROM items") == "0.1");
}

TEST_CASE("sqlite records: a row that the table refuses cancels its transaction") {
    folder const folder;
    sql(folder.file(), "CREATE TABLE items(id TEXT PRIMARY KEY, amount INTEGER, small INTEGER, "
                       "open INTEGER, shade INTEGER, made INTEGER, \"limit\" INTEGER, note TEXT, "
                       "owner TEXT NOT NULL); INSERT INTO items(id, amount, small, open, shade, "
                       "made, owner) VALUES('A', 5, 0, 0, 0, 0, 'me')");
    database db{folder.file()};
    auto engine = engine_on(db);
    CHECK(engine.run<take_type>(change{"A", 1, "", {}}).done());
    auto const outcome = engine.run<create_type>("one", change{"B", 0, "", item{"B", 1}}, brief);
    CHECK(outcome.why == settle::reason::record_unusable);
    CHECK(contains(outcome.problem.text, "NOT NULL constraint failed: items.owner"));
    CHECK(outcome.problem.code == condition::permanent);
    CHECK(sql(folder.file(), "SELECT id FROM items") == std::vector<std::string>{"A"});
    CHECK(engine.marks().value() == 0);
    CHECK(contains(engine.create(items, item{"B", 1}).problem().text, "NOT NULL constraint"));
}

TEST_CASE("sqlite records: the mark stays if another program erases its record") {
    bank bank;
    auto session = bank.db.bind<items_type>(bank.db.bind_log().name());
    takes wave{{"A"}};
    REQUIRE(wave.send(session) == "applied");
    sql(bank.path(), "DELETE FROM items WHERE id = 'A'");
    auto const place = session.marks(std::nullopt, 1).value().at(0);
    CHECK(session.resolve(place, false).value() == settle::answer::applied);
    CHECK(session.marks(std::nullopt, 1).value().empty());
    CHECK_FALSE(bank.engine.read(items, "A").value().has_value());
}

} // namespace
} // namespace sqlite_test
