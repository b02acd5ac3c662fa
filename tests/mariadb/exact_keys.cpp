// SPDX-License-Identifier: BSL-1.0
// Keys and numbers that a wave gives to the server: a key that no row can have never meets another
// row, and a number that the column cannot hold changes nothing.
#include "fixtures.hpp"

#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <array>

namespace mariadb_exact_keys {
namespace {

using namespace std::string_literals;
using settle::field;
using settle::param;
using settle::participant;
using settle_test::fresh_mariadb;

constexpr std::array both{settle::phases::one, settle::phases::two};

struct item {
    BOOST_HANA_DEFINE_STRUCT(item, (std::string, id), (std::int64_t, amount));
};
constexpr settle::collection<item, "items", &item::id> items;
struct change {
    BOOST_HANA_DEFINE_STRUCT(change, (std::string, id), (std::int64_t, amount));
};
constexpr auto credit_type = settle::transaction<change, "credit">(
    participant<"to">(items, param<&change::id>)
        .confirm(field<&item::amount> += param<&change::amount>));
constexpr auto debit_type = settle::transaction<change, "debit">(
    participant<"from">(items, param<&change::id>)
        .apply(field<&item::amount> -= param<&change::amount>)
        .compensate(settle::inverse)
        .require(field<&item::amount> >= param<&change::amount>));
constexpr auto set_type =
    settle::transaction<change, "set">(participant<"to">(items, param<&change::id>)
                                           .confirm(field<&item::amount> = param<&change::amount>));

template <typename... Options>
auto make(settle::mariadb::database& db, Options const&... options) {
    return settle::engine{db, settle::type<credit_type>, settle::type<debit_type>,
                          settle::type<set_type>, options...};
}

std::string table_with(std::string const& key, std::string const& amount = "BIGINT NOT NULL") {
    return "CREATE TABLE items (id " + key + " PRIMARY KEY, amount " + amount + ")";
}
std::string const nopad = " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";

/// The rows as "key=amount", in the order of the bytes of their keys.
std::string rows_of(fresh_mariadb const& own) {
    return own.ask_one("SELECT COALESCE(GROUP_CONCAT(CONCAT(id, '=', amount) "
                       "ORDER BY CAST(id AS BINARY)), '') FROM items");
}

/// Runs a type alone, and in a batch that is long enough to be sent as a set.
template <auto& Type, typename Engine>
void check_canceled(Engine& engine, change const& wrong, settle::reason why) {
    auto const alone = engine.template run<Type>(wrong);
    INFO(alone.text());
    CHECK(alone.why == why);
    std::vector<change> const several(6, wrong);
    for (auto const& outcome : engine.template run_all<Type>(several)) {
        CHECK_MESSAGE(outcome.why == why, outcome.text());
    }
}

} // namespace

TEST_CASE("exact keys: a key longer than the column never meets the row of its first characters") {
    for (auto const how : both) {
        fresh_mariadb const own;
        own.ask(table_with("VARCHAR(3)" + nopad) + "; INSERT INTO items VALUES ('abc', 7)");
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        for (auto const& id :
             {"abcdef"s, "abc "s, "abc\1"s, std::string(501, 'k'), std::string(100'000, 'k')}) {
            CAPTURE(id.size());
            check_canceled<credit_type>(engine, {id, 1}, settle::reason::record_missing);
            check_canceled<set_type>(engine, {id, 1}, settle::reason::record_missing);
            CHECK_FALSE(engine.create(items, item{id, 1}).has_value());
            std::vector<item> const several(5, item{id, 1});
            CHECK(engine.create_all(items, several).created == 0);
            CHECK(engine.read(items, id).value() == std::nullopt);
        }
        CHECK(rows_of(own) == "abc=7");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE(
    "exact keys: a key of over 500 characters is refused with a sentence where it has a mark") {
    for (auto const how : both) {
        fresh_mariadb const own;
        own.ask(table_with("VARCHAR(700)" + nopad));
        settle::mariadb::database db{own.address()};
        auto engine = make(db, how);
        auto const key = std::string(600, 'k');
        for (auto const& id : {key, key + "2", std::string(500, 'k')}) {
            engine.create(items, item{id, 7}).value();
        }
        auto const outcome = engine.run<credit_type>("long", change{key, 1});
        INFO(outcome.text());
        if (how == settle::phases::one) CHECK(outcome.done());
        else CHECK(outcome.why == settle::reason::record_unusable);
        auto const expected = how == settle::phases::one ? "8" : "7";
        CHECK(own.ask_one("SELECT amount FROM items WHERE id = '" + key + "'") == expected);
        CHECK(own.ask_one("SELECT amount FROM items WHERE id = '" + key + "2'") == "7");
        CHECK(own.ask_one("SELECT amount FROM items WHERE LENGTH(id) = 500") == "7");
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("exact keys: trailing blanks, case and accents make different keys") {
    for (auto const& key : {"VARCHAR(20)" + nopad, "VARBINARY(80)"s, ""s}) {
        for (auto const how : both) {
            CAPTURE(key);
            fresh_mariadb const own;
            if (!key.empty()) own.ask(table_with(key));
            settle::mariadb::database db{own.address()};
            auto engine = make(db, how);
            std::vector<std::string> const ids{
                "a",   "a ", "a  ", "A",          "\u00e4",     "ss",  "\u00df",
                "a\t", "",   " ",   "\U0001F600", "\U0001F601", "a\1", "\u0061\u0308"};
            std::vector<item> records;
            std::vector<change> changes;
            std::int64_t amount = 0;
            for (auto const& id : ids) {
                records.push_back({id, 100});
                changes.push_back({id, ++amount});
            }
            CHECK(engine.create_all(items, records).created == ids.size());
            for (auto const& outcome : engine.run_all<credit_type>(changes)) {
                CHECK_MESSAGE(outcome.done(), outcome.text());
            }
            for (auto const& each : changes) {
                CHECK(engine.run<debit_type>(change{each.id, 100}).done());
            }
            for (auto const& each : changes) {
                CHECK(engine.read(items, each.id).value()->amount == each.amount);
            }
            std::size_t seen = 0;
            for (item const& each : engine.scan(items)) seen += each.amount > 0 ? 1 : 0;
            CHECK(seen == ids.size());
            CHECK(engine.marks().value() == 0);
        }
    }
}

TEST_CASE("exact keys: a number out of the column's range changes nothing") {
    struct range {
        std::string type;
        std::int64_t most;
    };
    for (range const& each :
         {range{"TINYINT NOT NULL", 127}, range{"SMALLINT UNSIGNED NOT NULL", 65'535},
          range{"MEDIUMINT NOT NULL", 8'388'607}, range{"INT NOT NULL", 2'147'483'647},
          range{"DECIMAL(5,2) NOT NULL", 99'999}, range{"DECIMAL(4,0) UNSIGNED NOT NULL", 9'999},
          range{"BIGINT UNSIGNED NOT NULL", 9'223'372'036'854'775'807},
          range{"BIGINT NOT NULL", 9'223'372'036'854'775'807}}) {
        for (auto const how : both) {
            auto const& type = each.type;
            auto const most = each.most;
            CAPTURE(type);
            fresh_mariadb const own;
            own.ask(table_with("VARCHAR(20)" + nopad, type));
            settle::mariadb::database db{own.address()};
            auto engine = make(db, how);
            for (auto const* id : {"a", "b", "c", "d", "e", "f"}) {
                engine.create(items, item{id, most - 5}).value();
            }
            auto const before = rows_of(own);
            check_canceled<credit_type>(engine, {"a", 6}, settle::reason::overflow);
            bool const has_more = most < 9'223'372'036'854'775'807;
            if (has_more)
                check_canceled<set_type>(engine, {"a", most + 1}, settle::reason::overflow);
            CHECK(rows_of(own) == before);
            // Each of a set gets what fits.
            std::vector<change> several;
            for (auto const* id : {"a", "b", "c", "d", "e", "f"}) several.push_back({id, 5});
            for (auto const& outcome : engine.run_all<credit_type>(several)) {
                CHECK_MESSAGE(outcome.done(), outcome.text());
            }
            CHECK(engine.read(items, "f").value()->amount == most);
            CHECK(engine.run<debit_type>(change{"b", most}).done());
            CHECK(engine.read(items, "b").value()->amount == 0);
            if (has_more) CHECK_FALSE(engine.create(items, item{"g", most + 1}).has_value());
            CHECK(engine.read(items, "g").value() == std::nullopt);
        }
    }
}

TEST_CASE("exact keys: a number that no key of the column can be meets no row") {
    struct numbered {
        BOOST_HANA_DEFINE_STRUCT(numbered, (std::int64_t, id), (std::int64_t, amount));
    };
    static constexpr settle::collection<numbered, "numbers", &numbered::id> numbers;
    struct raise {
        BOOST_HANA_DEFINE_STRUCT(raise, (std::int64_t, id));
    };
    static constexpr auto raise_type = settle::transaction<raise, "raise">(
        participant<"to">(numbers, param<&raise::id>)
            .confirm(field<&numbered::amount> += settle::lit<1>));
    for (std::string const type : {"TINYINT", "TINYINT UNSIGNED", "INT AUTO_INCREMENT"}) {
        fresh_mariadb const own;
        own.ask("CREATE TABLE numbers (id " + type + " PRIMARY KEY, amount INT NOT NULL)");
        settle::mariadb::database db{own.address()};
        settle::engine engine{db, settle::type<raise_type>, settle::two_phases};
        std::int64_t const most = type == "TINYINT"            ? 127
                                  : type == "TINYINT UNSIGNED" ? 255
                                                               : 2147483647;
        for (auto const id : {std::int64_t{0}, most}) engine.create(numbers, {id, 7}).value();
        std::vector<raise> several;
        for (auto const id : {most + 1, most + 256, INT64_MIN, INT64_MAX}) {
            several.push_back({id});
            CHECK(engine.run(raise{id}).why == settle::reason::record_missing);
            CHECK_FALSE(engine.create(numbers, {id, 1}).has_value());
        }
        for (auto const& outcome : engine.run_all(several)) {
            CHECK(outcome.why == settle::reason::record_missing);
        }
        CHECK(own.ask_one("SELECT GROUP_CONCAT(CONCAT(id, '=', amount) ORDER BY id) FROM "
                          "numbers") == "0=7," + std::to_string(most) + "=7");
    }
}

TEST_CASE("exact keys: a UUID and an ENUM are their texts") {
    struct card {
        BOOST_HANA_DEFINE_STRUCT(card, (std::string, id), (std::string, mood));
    };
    static constexpr settle::collection<card, "cards", &card::id> cards;
    struct naming {
        BOOST_HANA_DEFINE_STRUCT(naming, (std::string, id), (std::string, mood));
    };
    static constexpr auto naming_type = settle::transaction<naming, "naming">(
        participant<"card">(cards, param<&naming::id>)
            .confirm(field<&card::mood> = param<&naming::mood>));
    auto const first = "00000000-0000-0000-0000-0000000000aa"s;
    for (auto const how : both) {
        fresh_mariadb const own;
        own.ask("CREATE TABLE cards (id UUID PRIMARY KEY, "
                "mood ENUM('good', 'it''s, ok', '1', '') NOT NULL)");
        settle::mariadb::database db{own.address()};
        settle::engine engine{db, settle::type<naming_type>, how};
        engine.create(cards, card{first, "good"}).value();
        for (auto const& mood : {"it's, ok"s, "1"s, ""s, "good"s}) {
            CAPTURE(mood);
            auto const named = engine.run(naming{first, mood});
            CHECK_MESSAGE(named.done(), named.text());
            CHECK(engine.read(cards, first).value()->mood == mood);
        }
        for (auto const& mood : {"GOOD"s, "good "s, "2"s, "bad"s}) {
            CHECK(engine.run(naming{first, mood}).why == settle::reason::record_unusable);
        }
        for (auto const& id : {"'; DROP"s, "00000000-0000-0000-0000-0000000000AA"s, ""s}) {
            CHECK(engine.run(naming{id, "good"}).why == settle::reason::record_missing);
            CHECK_FALSE(engine.create(cards, card{id, "good"}).has_value());
        }
        CHECK(own.ask_one("SELECT GROUP_CONCAT(id, '=', mood) FROM cards") == first + "=good");
        CHECK(engine.marks().value() == 0);
    }
}

} // namespace mariadb_exact_keys
