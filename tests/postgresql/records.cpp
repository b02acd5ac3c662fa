// SPDX-License-Identifier: BSL-1.0
// Records in the rows of a table that existed before, as another program sees them.
#include "shop.hpp"

using namespace postgresql_shop;

namespace {

template <typename... Options>
auto shop_at(settle::postgresql::database& db, Options const&... options) {
    return settle::engine{db, settle::type<sale_type>, settle::type<change_type>,
                          settle::type<removal_type>, options...};
}

std::vector<std::string> row_of(fresh_schema const& own, std::string const& columns) {
    auto const found = ask(own.address(), "SELECT " + columns + " FROM \"Articles\" ORDER BY id");
    REQUIRE(found.size() == 1);
    return found.front();
}

using row = std::vector<std::string>;

} // namespace

TEST_CASE("records: the columns of an existing table keep their types and values") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        fresh_schema const own;
        ask(own.address(), articles_sql);
        settle::postgresql::database db{own.address()};
        auto shop = shop_at(db, how);
        shop.create(articles, usual_article()).value();
        CHECK(row_of(own, "id, price, stock, sold, name, open, changed, mood, owner, "
                          "lines->0->>'text', lines->0->>'count', extra, tags") ==
              row{first_id, "12.34", "100", "0", "lamp", "t", "2023-11-14 22:13:20.123+00", "so so",
                  "NULL", "a \"b\"", "9007199254740993", "1.500", "NULL"});
        CHECK(settle::encode_json(*shop.read(articles, first_id).value()) ==
              settle::encode_json(usual_article()));
        CHECK(shop.create(articles, usual_article()).problem().code == settle::errc::record_exists);

        CHECK(shop.run("sale", sale{first_id, 30, 66}).done());
        CHECK(shop.run("too many", sale{first_id, 71, 1}).why == settle::reason::guard_failed);
        CHECK(shop.run("none", sale{other_id, 1, 1}).why == settle::reason::record_missing);
        CHECK(shop.run("no uuid", sale{"'; DROP", 1, 1}).why == settle::reason::record_missing);
        CHECK(row_of(own, "price, stock, sold") == row{"13.00", "70", "30"});
        CHECK(shop.run("changed", change{first_id, "ÄÖÜßé", "o'dd", at(-1)}).done());
        CHECK(row_of(own, "name, mood, changed, extra") ==
              row{"ÄÖÜßé", "o'dd", "1969-12-31 23:59:59.999+00", "1.500"});
        CHECK(shop.marks().value() == 0);
    }
}

TEST_CASE("records: a value that the column cannot hold cancels, and nothing is written") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        fresh_schema const own;
        ask(own.address(), articles_sql);
        settle::postgresql::database db{own.address()};
        auto shop = shop_at(db, how);
        auto full = usual_article();
        full.price = 999'999'990;
        shop.create(articles, full).value();
        using settle::reason;
        // numeric(9, 2) has nine digits.
        CHECK(shop.run("price", sale{first_id, 1, 10}).why == reason::overflow);
        CHECK(shop.run("long", change{first_id, "123456", "good", at(0)}).why ==
              reason::record_unusable);
        CHECK(shop.run("mood", change{first_id, "x", "bad", at(0)}).why == reason::record_unusable);
        CHECK(shop.run("time", change{first_id, "x", "good", millisecond::max()}).why ==
              reason::record_unusable);
        CHECK(row_of(own, "price, stock, name, mood") == row{"9999999.90", "100", "lamp", "so so"});
        CHECK(shop.run("fits", sale{first_id, 1, 9}).done());
        CHECK(row_of(own, "price, stock") == row{"9999999.99", "99"});
        auto wide = usual_article();
        wide.id = other_id;
        wide.stock = 40'000;
        CHECK(shop.create(articles, wide).problem().code == settle::errc::unfit_store);
        CHECK(shop.marks().value() == 0);
    }
}

TEST_CASE("records: a reversal restores the columns that no member names") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        fresh_schema const own;
        ask(own.address(), articles_sql);
        settle::postgresql::database db{own.address()};
        auto shop = shop_at(db, how);
        shop.create(articles, usual_article()).value();
        ask(own.address(),
            "UPDATE \"Articles\" SET extra = 0.125, tags = '{\"a,b\",NULL,\"\\\"\"}'");
        auto const before = row_of(own, "*");
        CHECK(shop.run("gone", removal{first_id}).done());
        CHECK(ask(own.address(), "SELECT 1 FROM \"Articles\"").empty());
        auto const back = shop.reverse("gone");
        CHECK_MESSAGE(back.done(), back.text());
        CHECK(row_of(own, "*") == before);
    }
}

TEST_CASE("records: a row of another program that no field can hold is left alone") {
    fresh_schema const own;
    ask(own.address(), articles_sql);
    settle::postgresql::database db{own.address()};
    auto shop = shop_at(db, settle::phases::two);
    shop.create(articles, usual_article()).value();
    for (char const* damage : {"changed = 'infinity'",
                               "changed = now() + interval '1 microsecond' "
                               "- (extract(microsecond from now())::int % "
                               "1000) * interval '1 microsecond'",
                               "price = 'NaN'", "lines = '{\"a\": 1}'"}) {
        INFO(damage);
        ask(own.address(), std::string{"UPDATE \"Articles\" SET "} + damage);
        auto const before = row_of(own, "*");
        CHECK(shop.read(articles, first_id).problem().code == settle::errc::damaged);
        auto const ended = shop.run(sale{first_id, 1, 1});
        CHECK(ended.why == settle::reason::record_unusable);
        CHECK(row_of(own, "*") == before);
        ask(own.address(), "UPDATE \"Articles\" SET changed = now()::timestamptz(0), price = 1, "
                           "lines = '[]'");
    }
    CHECK(shop.run(sale{first_id, 1, 1}).done());
}

TEST_CASE("records: people read entries and marks with psql") {
    fresh_schema const own;
    settle::postgresql::database db{own.address()};
    ask(own.address(), articles_sql);
    auto shop = shop_at(db, settle::phases::two);
    shop.create(articles, usual_article()).value();
    CHECK(shop.run("sale", sale{first_id, 30, 66}).done());
    CHECK(shop.run("none", sale{other_id, 1, 1}).canceled());
    auto const rows = ask(
        own.address(), "SELECT id, type, state, reason, participant, parameters::json->>'count', "
                       "created > now() - interval '1 hour', committed = epoch "
                       "FROM settle_entries ORDER BY id");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0] ==
          row{"none", "sale", "canceled", "record missing", "article", "1", "t", "NULL"});
    CHECK(rows[1] == row{"sale", "sale", "done", "NULL", "NULL", "30", "t", "t"});
}

TEST_CASE("records: a wave costs two round trips, and one where nothing has to be read back") {
    fresh_schema const own;
    settle::postgresql::database db{own.address()};
    ask(own.address(), articles_sql);
    auto shop = shop_at(db, settle::phases::one);
    auto two = shop_at(db, settle::phases::two);
    auto plain = usual_article();
    plain.lines.clear();
    shop.create(articles, plain).value();
    CHECK(shop.run("first", sale{first_id, 1, 1}).done());
    auto const trips = [&](auto&& function) {
        auto const before = db.round_trips();
        function();
        return db.round_trips() - before;
    };
    // Its table has JSON, which only a read can check.
    CHECK(trips([&] { CHECK(shop.run("read", sale{first_id, 1, 1}).done()); }) == 2);
    // Insert, apply, commit, confirm and close.
    CHECK(two.run("second", sale{first_id, 1, 1}).done());
    CHECK(trips([&] { CHECK(two.run("apart", sale{first_id, 1, 1}).done()); }) == 7);
}
