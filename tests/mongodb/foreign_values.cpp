// SPDX-License-Identifier: BSL-1.0
// Values of other programs that are more than a number or a text: documents and arrays inside of
// a document, and decimals.
#include "documents.hpp"

#include <settle/testing/store_suite/nested_cases.hpp>

namespace {

struct purse {
    std::string id;
    std::int64_t cents;
};
struct payment {
    std::string from;
    std::string to;
    std::int64_t cents;
};

struct box {
    std::int64_t number;
    std::int64_t count;
};
struct boxing {
    box made;
};
struct filling {
    std::int64_t number;
    std::int64_t count;
};

} // namespace
BOOST_HANA_ADAPT_STRUCT(box, number, count);
BOOST_HANA_ADAPT_STRUCT(boxing, made);
BOOST_HANA_ADAPT_STRUCT(filling, number, count);
BOOST_HANA_ADAPT_STRUCT(purse, id, cents);
BOOST_HANA_ADAPT_STRUCT(payment, from, to, cents);
template <>
inline constexpr int settle::decimal_places<&purse::cents> = 2;

namespace {

using settle::field;
using settle::param;
using settle::testing::parcels;
using settle_test::documents;
using settle_test::fresh_database;
using settle_test::on_every_server;

constexpr settle::collection<purse, "purses", &purse::id> purses;
constexpr auto payment_type = settle::transaction<payment, "payment">(
    settle::participant<"from">(purses, param<&payment::from>)
        .require(field<&purse::cents> >= param<&payment::cents>)
        .apply(field<&purse::cents> -= param<&payment::cents>)
        .compensate(settle::inverse),
    settle::participant<"to">(purses, param<&payment::to>)
        .confirm(field<&purse::cents> += param<&payment::cents>));

constexpr settle::collection<box, "boxes", &box::number> boxes;
constexpr auto boxing_type = settle::transaction<boxing, "boxing">(
    settle::participant<"box">(boxes, param<&boxing::made, &box::number>)
        .apply(settle::create(param<&boxing::made>))
        .compensate(settle::inverse));

constexpr auto filling_type = settle::transaction<filling, "filling">(
    settle::participant<"box">(boxes, param<&filling::number>)
        .apply(field<&box::count> += param<&filling::count>)
        .compensate(settle::inverse));

auto purse_engine(settle::mongodb::database& db, settle::phases how) {
    return settle::engine{db, settle::type<payment_type>, settle::type<boxing_type>,
                          settle::type<filling_type>, how};
}

struct till : documents {
    till(fresh_database::address_of& server, settle::phases how)
        : documents(server), db(own.address()), engine(purse_engine(db, how)) {}

    void put_purse(std::string const& id, std::string const& value) {
        put("purses", R"({"_id": ")" + id + R"(", "cents": )" + value + "}");
    }
    std::string cents(std::string const& id) {
        return look("purses", id, R"({"_id": 0, "cents": 1})");
    }

    settle::mongodb::database db;
    decltype(purse_engine(std::declval<settle::mongodb::database&>(), {})) engine;
};

struct office : documents {
    office(fresh_database::address_of& server, settle::phases how)
        : documents(server), db(own.address()), engine(settle::testing::parcel_engine(db, how)) {}

    settle::mongodb::database db;
    decltype(settle::testing::parcel_engine(std::declval<settle::mongodb::database&>(), {})) engine;
};

std::string decimal(std::string const& digits) {
    return R"({ "cents" : { "$numberDecimal" : ")" + digits + R"(" } })";
}

} // namespace

TEST_CASE("foreign values: decimals are read in their smallest unit") {
    on_every_server<till>([](till& till) {
        till.put_purse("decimal", R"({"$numberDecimal": "12.34"})");
        till.put_purse("short", R"({"$numberDecimal": "5"})");
        till.put_purse("long", R"({"$numberDecimal": "1.5000E+3"})");
        till.put_purse("int", "7");
        till.put_purse("double", R"({"$numberDouble": "8.0"})");
        CHECK(till.engine.read(purses, "decimal").value()->cents == 1234);
        CHECK(till.engine.read(purses, "short").value()->cents == 500);
        CHECK(till.engine.read(purses, "long").value()->cents == 150'000);
        CHECK(till.engine.read(purses, "int").value()->cents == 700);
        CHECK(till.engine.read(purses, "double").value()->cents == 800);
        CHECK(till.engine.run("1", payment{"decimal", "int", 1230}).done());
        CHECK(till.engine.run("2", payment{"decimal", "int", 5}).canceled());
        CHECK(till.engine.run("3", payment{"double", "short", 799}).done());
        CHECK(till.cents("decimal") == decimal("0.04"));
        CHECK(till.cents("int") == decimal("19.30"));
        CHECK(till.cents("double") == decimal("0.01"));
        CHECK(till.engine.reverse("1").done());
        CHECK(till.cents("decimal") == decimal("12.34"));
        CHECK(till.cents("int") == decimal("7.00"));
        // Fields that no part changed are unchanged.
        CHECK(till.cents("long") == decimal("1500.0"));
        till.engine.create(purses, {"debt", -7}).value();
        CHECK(till.cents("debt") == decimal("-0.07"));
        CHECK(till.engine.read(purses, "debt").value()->cents == -7);
        till.engine.create(purses, {"most", std::numeric_limits<std::int64_t>::min()}).value();
        CHECK(till.cents("most") == decimal("-92233720368547758.08"));
        CHECK(till.engine.read(purses, "most").value()->cents ==
              std::numeric_limits<std::int64_t>::min());
    });
}

TEST_CASE("foreign values: a decimal with a fraction of a unit cancels its transactions") {
    on_every_server<till>([](till& till) {
        till.put_purse("good", R"({"$numberDecimal": "10.00"})");
        int number = 0;
        for (auto const* const bad :
             {R"({"$numberDecimal": "0.005"})", R"({"$numberDecimal": "NaN"})",
              R"({"$numberDecimal": "-Infinity"})", R"({"$numberDecimal": "1E+30"})",
              R"({"$numberDecimal": "92233720368547758.08"})", R"({"$numberDouble": "0.5"})",
              R"("10.00")", "null"}) {
            INFO(bad);
            std::string const id = "bad" + std::to_string(++number);
            till.put_purse(id, bad);
            auto const before = till.cents(id);
            auto const outcome = till.engine.run(id, payment{"good", id, 1});
            CHECK_MESSAGE(outcome.canceled(), outcome);
            CHECK(outcome.why == settle::reason::record_unusable);
            CHECK(till.cents(id) == before);
        }
        CHECK(till.cents("good") == decimal("10.00"));
        CHECK(till.engine.marks().value() == 0);
    });
}

TEST_CASE("foreign values: a decimal key makes its record unusable at once") {
    on_every_server<till>([](till& till) {
        till.put("boxes", R"({"_id": {"$numberDecimal": "5"}, "count": 1})");
        auto const found = till.engine.read(boxes, 5);
        REQUIRE_FALSE(found.has_value());
        CHECK(found.problem().code == settle::errc::damaged);
        auto const outcome = till.engine.run("1", boxing{{5, 1}});
        CHECK_MESSAGE(outcome.canceled(), outcome);
        CHECK(outcome.why == settle::reason::record_unusable);
        CHECK(outcome.problem.text.find("'_id'") != std::string::npos);
        CHECK(till.engine.run("2", boxing{{6, 1}}).done());
        CHECK(till.engine.marks().value() == 0);
    });
}

TEST_CASE("foreign values: a key of another number type is usable if exact, else refused") {
    struct example {
        std::int64_t number;
        char const* stored;
        bool usable;
    };
    on_every_server<till>([](till& till) {
        // The first record is changed without a read.
        for (example const& one :
             {example{9007199254740994, R"({"$numberDouble": "9007199254740994"})", false},
              {7, R"({"$numberDecimal": "7"})", false},
              {9007199254740995, R"({"$numberLong": "9007199254740995"})", true},
              {8, R"({"$numberDouble": "8"})", true},
              {9, R"({"$numberInt": "9"})", true}}) {
            INFO(one.stored);
            till.put("boxes", R"({"_id": )" + std::string{one.stored} +
                                  R"(, "count": {"$numberLong": "1"}})");
            auto const outcome =
                till.engine.run(std::to_string(one.number), filling{one.number, 2});
            INFO(outcome.text());
            CHECK(outcome.done() == one.usable);
            auto const record = till.engine.read(boxes, one.number);
            CHECK(record.has_value() == one.usable);
            if (one.usable) {
                CHECK(record.value()->count == 3);
                continue;
            }
            CHECK(outcome.why == settle::reason::record_unusable);
            CHECK(outcome.problem.text.find("'_id'") != std::string::npos);
            CHECK(record.problem().code == settle::errc::damaged);
            auto const left = till.shell.run(R"({"find": "boxes", "filter": {"_id": )" +
                                             std::string{one.stored} + "}}");
            CHECK(left.number("cursor.firstBatch.0.count") == 1);
        }
        CHECK(till.engine.marks().value() == 0);
    });
}

TEST_CASE("foreign values: nested documents keep fields that their struct does not name") {
    on_every_server<office>([](office& office) {
        office.put("suite_parcels", R"({"_id": "p", "weight": 5, "of_others": [1, {"a": 2}],
            "home": {"note": "ring twice", "street": "Mill Lane", "house": {"$numberDouble": "3.0"},
                     "floor": {"$numberInt": "2"}},
            "route": [{"street": "A", "house": 1, "until": {"$date": {"$numberLong": "5000"}},
                       "by": "van"}]})");
        auto const before = office.look("suite_parcels", "p", R"({"pendingTransactions": 0})");
        auto const parcel = office.engine.read(parcels, "p").value().value();
        CHECK(parcel.home.street == "Mill Lane");
        CHECK(parcel.home.house == 3);
        REQUIRE(parcel.route.size() == 1);
        CHECK(parcel.route.front().until == settle::testing::at_second(5));

        REQUIRE(office.engine.run("gone", settle::testing::deliver{"p"}).done());
        CHECK(office.look("suite_parcels", "p") == "");
        REQUIRE(office.engine.reverse("gone").done());
        // The server orders fields as they are sent; their values are the same.
        auto const back = office.engine.read(parcels, "p").value().value();
        CHECK(settle::encode_json(back) == settle::encode_json(parcel));
        for (auto const* const kept :
             {R"("note" : "ring twice")", R"("floor" : { "$numberInt" : "2" })",
              R"("house" : { "$numberDouble" : "3.0" })", R"("by" : "van")", R"("of_others")"}) {
            INFO(kept);
            CHECK(before.find(kept) != std::string::npos);
            CHECK(office.look("suite_parcels", "p").find(kept) != std::string::npos);
        }
        // An assignment of a struct replaces all of it.
        settle::testing::stop const other{"Elm", 1, std::nullopt};
        REQUIRE(office.engine.run("move", settle::testing::redirect{"p", other, {}, 5}).done());
        CHECK(office.look("suite_parcels", "p", R"({"home": 1, "route": 1, "_id": 0})") ==
              R"({ "home" : { "street" : "Elm", "house" : { "$numberLong" : "1" }, )"
              R"("until" : null }, "route" : [  ] })");
    });
}

TEST_CASE("foreign values: a nested document that does not fit makes its record unusable") {
    on_every_server<office>([](office& office) {
        int number = 0;
        for (auto const* const home : {"5", "null", "[]", "{}", R"({"street": 1, "house": 1})",
                                       R"({"street": "A", "house": 1.5})", R"({"street": "A"})"}) {
            INFO(home);
            std::string const id = "p" + std::to_string(++number);
            office.put("suite_parcels", R"({"_id": ")" + id + R"(", "weight": 5, "route": [], )" +
                                            R"("home": )" + home + "}");
            auto const outcome = office.engine.run(id, settle::testing::deliver{id});
            CHECK_MESSAGE(outcome.canceled(), outcome);
            CHECK(outcome.why == settle::reason::record_unusable);
            CHECK(outcome.problem.text.find("its 'home'") != std::string::npos);
        }
    });
}
