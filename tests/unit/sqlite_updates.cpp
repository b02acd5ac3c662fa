// SPDX-License-Identifier: BSL-1.0
// Many changed records in one statement: each gets its own values, and only the refused record is
// refused.
#include "sqlite_file.hpp"

#include <settle/sqlite/records/record_table.hpp>

#include <algorithm>

namespace sqlite_test {

struct basket {
    std::string id;
    std::vector<std::int64_t> prices;
    std::vector<std::string> names;

    friend bool operator==(basket const&, basket const&) = default;
};

} // namespace sqlite_test
BOOST_HANA_ADAPT_STRUCT(sqlite_test::basket, id, prices, names);

namespace sqlite_test {
namespace {

inline constexpr settle::collection<basket, "baskets", &basket::id> baskets;
using baskets_type = std::remove_const_t<decltype(baskets)>;

using settle::sqlite::database;

/// A user's table with rows in their order of insertion.
constexpr char const* user_table =
    "CREATE TABLE items(id TEXT PRIMARY KEY NOT NULL, amount INTEGER, small INTEGER, "
    "open INTEGER, shade INTEGER, made INTEGER, \"limit\" INTEGER, note TEXT)";

/// Items with keys of many kinds: numbers, letters of either case, digits, and others.
std::vector<item> many_items(std::size_t count) {
    std::vector<std::string> const first{"a", "B", "9", "\xC3\xA4", "~", "_"};
    std::vector<item> items;
    for (std::size_t i = 0; i < count; ++i) {
        items.push_back({first[i % first.size()] + std::to_string(i), 100});
    }
    return items;
}

std::vector<change> take_from(std::vector<item> const& records) {
    std::vector<change> changes;
    for (std::size_t i = 0; i < records.size(); ++i) {
        changes.push_back({records[i].id, static_cast<std::int64_t>(i), "", {}});
    }
    return changes;
}

/// The items whose amount is not 100 minus their index, each as "id: amount".
std::vector<std::string> wrong_amounts(std::string const& path, std::vector<item> const& records) {
    std::vector<std::string> wrong;
    for (std::size_t i = 0; i < records.size(); ++i) {
        auto const& id = records[i].id;
        auto const left = sql_value(path, "SELECT amount FROM items WHERE id = '" + id + "'");
        if (left != std::to_string(100 - i)) wrong.push_back(id + ": " + left);
    }
    return wrong;
}

bool all_done(std::vector<settle::outcome> const& outcomes) {
    return std::all_of(outcomes.begin(), outcomes.end(),
                       [](auto const& outcome) { return outcome.done(); });
}

/// The records of a table, in the order of their keys.
template <typename Collection>
auto all_in(settle::sqlite::detail::connection const& connection) {
    std::vector<typename Collection::record_type> records;
    settle::sqlite::detail::record_reader const reader{
        settle::detail::descriptor_of_collection<Collection>, connection};
    reader.scan(nullptr, 1000, [&] { return &records.emplace_back(); });
    return records;
}

/// Writes all members of existing records, in the order of their keys, in few statements. Returns
/// the content of the table.
template <typename Collection>
auto written(settle::sqlite::detail::connection const& connection,
             std::vector<typename Collection::record_type> const& records) {
    using namespace settle::sqlite::detail;
    wave_rows rows{connection};
    auto const& of = settle::detail::descriptor_of_collection<Collection>;
    record_updates updates{of, connection, rows, record_sql{need_of(of)}};
    for (auto const& one : records) updates.add(&one, of.key_of(&one), ~std::uint64_t{0});
    updates.write_added();
    return all_in<Collection>(connection);
}

/// Makes the table of a collection, and gives a connection to its file.
template <typename Collection>
settle::sqlite::detail::connection table_of(folder const& folder) {
    {
        database db{folder.file()};
        static_cast<void>(db.bind<Collection>("log"));
    }
    return {folder.file(), std::chrono::milliseconds{100}};
}

TEST_CASE("sqlite updates: each of many records gets its own update in every table layout") {
    for (std::string const layout : {"", " WITHOUT ROWID"}) {
        for (std::size_t const count : {15U, 16U, 17U, 64U, 65U, 100U}) {
            CAPTURE(layout);
            CAPTURE(count);
            folder const folder;
            sql(folder.file(), user_table + layout);
            auto const records = many_items(count);
            database db{folder.file()};
            settle::engine engine{db, settle::type<take_type>};
            for (auto const& one : records) engine.create(items, one).value();
            CHECK(all_done(engine.run_all(take_from(records))));
            CHECK(wrong_amounts(folder.file(), records).empty());
        }
    }
}

TEST_CASE("sqlite updates: a full scan chosen by the statistics does no harm") {
    folder const folder;
    sql(folder.file(), user_table);
    auto const records = many_items(70);
    {
        database db{folder.file()};
        settle::engine engine{db, settle::type<take_type>};
        for (auto const& one : records) engine.create(items, one).value();
    }
    sql(folder.file(), "ANALYZE; UPDATE sqlite_stat1 SET stat = '2 1' WHERE tbl = 'items'");
    database db{folder.file()};
    settle::engine engine{db, settle::type<take_type>};
    CHECK(all_done(engine.run_all(take_from(records))));
    CHECK(wrong_amounts(folder.file(), records).empty());
}

TEST_CASE("sqlite updates: members of every kind are written, also empty ones") {
    folder const folder;
    auto const connection = table_of<items_type>(folder);
    auto records = many_items(40);
    std::sort(records.begin(), records.end(),
              [](item const& left, item const& right) { return left.id < right.id; });
    for (std::size_t i = 0; i < records.size(); ++i) {
        connection.execute("INSERT INTO items(id, amount, small, open, shade, made) VALUES('" +
                               records[i].id + "', 1, 1, 1, 0, 0)",
                           "make a row");
        auto const number = static_cast<int>(i);
        records[i] = {records[i].id,
                      -number,
                      static_cast<std::int8_t>(number),
                      i % 2 == 0,
                      i % 3 == 0 ? colour::red : colour::blue,
                      second{std::chrono::seconds{number}},
                      i % 4 == 0 ? std::nullopt : std::optional<std::int64_t>{number},
                      i % 5 == 0 ? std::nullopt : std::optional<std::string>{"n" + records[i].id}};
    }
    CHECK(written<items_type>(connection, records) == records);
}

TEST_CASE("sqlite updates: numeric keys are distinct, also below 0") {
    folder const folder;
    auto const connection = table_of<numbers_type>(folder);
    std::vector<numbered> records;
    for (std::int32_t i = -40; i < 40; ++i) {
        connection.execute("INSERT INTO numbers VALUES(" + std::to_string(i) + ", '')",
                           "make a row");
        records.push_back({i, "label " + std::to_string(i)});
    }
    CHECK(written<numbers_type>(connection, records) == records);
}

TEST_CASE("sqlite updates: each list is written as JSON") {
    folder const folder;
    auto const connection = table_of<baskets_type>(folder);
    std::vector<basket> records;
    for (std::int64_t i = 100; i < 140; ++i) {
        auto const id = std::to_string(i);
        connection.execute("INSERT INTO baskets VALUES(" + id + ", '[]', '[]')", "make a row");
        records.push_back({id, {i, -i}, {}});
        if (i % 2 == 0) records.back().names.push_back("of \"" + id + "\"");
    }
    CHECK(written<baskets_type>(connection, records) == records);
}

TEST_CASE("sqlite updates: a written or cleared row is not written again") {
    using namespace settle::sqlite::detail;
    folder const folder;
    auto const connection = table_of<numbers_type>(folder);
    connection.execute("INSERT INTO numbers VALUES(1, ''), (2, '')", "make rows");
    wave_rows rows{connection};
    auto const& of = settle::detail::descriptor_of_collection<numbers_type>;
    record_updates updates{of, connection, rows, record_sql{need_of(of)}};
    std::vector<numbered> records{{1, "first"}, {2, "second"}};
    updates.add(&records[0], std::int64_t{1}, 2);
    updates.write_added();
    updates.add(&records[1], std::int64_t{2}, 2);
    updates.clear();
    connection.execute("UPDATE numbers SET label = 'of another'", "change rows");
    updates.write_added();
    CHECK(all_in<numbers_type>(connection) ==
          std::vector<numbered>{{1, "of another"}, {2, "of another"}});
}

/// Runs 50 transactions, of which a trigger with this RAISE refuses the records of two.
template <typename... Phases>
void refuse_two(std::string const& raise, Phases const&... how) {
    folder const folder;
    auto const records = many_items(50);
    database db{folder.file()};
    settle::engine engine{db, settle::type<take_type>, how...};
    for (auto const& one : records) engine.create(items, one).value();
    sql(folder.file(), "CREATE TRIGGER no BEFORE UPDATE ON items WHEN new.id IN ('a6', 'a30') "
                       "BEGIN SELECT " +
                           raise + "; END");
    auto const outcomes = engine.run_all(take_from(records));
    REQUIRE(outcomes.size() == records.size());
    std::vector<std::string> canceled;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].done()) continue;
        CHECK(outcomes[i].why == settle::reason::record_unusable);
        canceled.push_back(records[i].id);
    }
    CHECK(canceled == std::vector<std::string>{"a6", "a30"});
    CHECK(wrong_amounts(folder.file(), records) == std::vector<std::string>{"a6: 100", "a30: 100"});
    CHECK(sql_value(folder.file(), "SELECT count(*) FROM settle_mark") == "0");
}

TEST_CASE("sqlite updates: only the refused records of many are refused") {
    // An ignored row is not an error of the database; the number of changed rows shows it. A
    // rollback aborts the work of all callers.
    for (std::string const raise :
         {"RAISE(ABORT, 'not this one')", "RAISE(IGNORE)", "RAISE(ROLLBACK, 'nothing at all')"}) {
        CAPTURE(raise);
        refuse_two(raise);
        refuse_two(raise, settle::two_phases);
    }
}

} // namespace
} // namespace sqlite_test
