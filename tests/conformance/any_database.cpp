// SPDX-License-Identifier: BSL-1.0
// Databases that are chosen when the program runs.
#include "fixtures.hpp"

#include <settle/adapter/held_database.hpp>
#include <settle/memory/kind.hpp>
#include <settle/settle.hpp>
#include <settle/sqlite/kind.hpp>

#include <doctest/doctest.h>

namespace any_tests {

struct purse {
    std::string id;
    std::int64_t coins = 0;
};
SETTLE_STRUCT(purse, id, coins);

struct stock {
    std::string id;
    std::int64_t count = 0;
};
SETTLE_STRUCT(stock, id, count);

struct sale {
    std::string buyer, item;
    std::int64_t price = 0;
};
SETTLE_STRUCT(sale, buyer, item, price);

namespace {

constexpr settle::collection<purse, "purses", &purse::id> purses;
constexpr settle::collection<stock, "stocks", &stock::id> stocks;

constexpr auto sale_type = settle::transaction<sale, "sale">(
    settle::participant<"buyer">(purses, settle::param<&sale::buyer>)
        .require(settle::field<&purse::coins> >= settle::param<&sale::price>)
        .apply(settle::field<&purse::coins> -= settle::param<&sale::price>)
        .compensate(settle::inverse),
    settle::participant<"item">(stocks, settle::param<&sale::item>)
        .require(settle::field<&stock::count> >= settle::lit<1>)
        .apply(settle::field<&stock::count> -= settle::lit<1>)
        .compensate(settle::inverse));

settle::any_database open(std::string const& address) {
    return {address, {settle::memory::kind(), settle::sqlite::kind()}};
}

std::string refusal_of(std::string const& address) {
    try {
        static_cast<void>(open(address));
    } catch (settle::failure const& caught) {
        CHECK(caught.problem().code == settle::errc::bad_option);
        return caught.problem().message();
    }
    return "opened";
}

} // namespace

TEST_CASE("any database: an address of no kind is refused with the kinds of the program") {
    CHECK(refusal_of("oracle://user:hush@host/db") ==
          "settle: no kind of database has addresses 'oracle:…'. This program opens memory:, "
          "sqlite:PATH. See running#a-database-chosen-at-run-time");
    std::string const unnamed =
        "settle: the address of the database does not begin with its kind and a ':'. This program "
        "opens memory:, sqlite:PATH. See running#a-database-chosen-at-run-time";
    for (auto const* const address : {"", "bank.db", "sqlite", "host=h password=hush:1", ":x"}) {
        CAPTURE(address);
        CHECK(refusal_of(address) == unnamed);
    }
}

TEST_CASE("any database: one engine has its records in databases of two kinds") {
    settle_test::scratch_file const file;
    auto money = open("sqlite:" + file.path());
    auto goods = open("memory:");
    settle::engine engine{settle::log_in(money), settle::bind(purses, money),
                          settle::bind(stocks, goods), settle::type<sale_type>};
    engine.create(purses, {"ann", 10}).value();
    engine.create(stocks, {"tea", 1}).value();
    CHECK(engine.run(sale{"ann", "tea", 4}).done());
    auto const refused = engine.run(sale{"ann", "tea", 4});
    CHECK(refused.canceled());
    CHECK(refused.participant == "item");
    CHECK(engine.read(purses, "ann").value()->coins == 6);
    CHECK(engine.read(stocks, "tea").value()->count == 0);
    // The file is an ordinary database of SQLite.
    settle::sqlite::database plain{file.path()};
    settle::engine with_file{plain, settle::type<sale_type>};
    CHECK(with_file.read(purses, "ann").value()->coins == 6);
}

TEST_CASE("any database: a session can do what the session of its database can") {
    settle_test::scratch_file const file;
    auto on_disk = settle::open_any<settle::sqlite::database>(
        file.path(), settle::sqlite::database_options{std::chrono::seconds{1}});
    auto in_memory = open("memory:");
    auto log = on_disk.bind_log();
    CHECK(log.capabilities().keeps_at_insert);
    auto const records = on_disk.bind<std::remove_cv_t<decltype(purses)>>(log.name());
    CHECK(records.capabilities().settles_in_one_phase);
    CHECK_FALSE(records.capabilities().overlaps_others);
    CHECK(records.capabilities().recovery_wave_size == 16'000);
    auto memory_log = in_memory.bind_log();
    auto const in_maps = in_memory.bind<std::remove_cv_t<decltype(purses)>>(memory_log.name());
    CHECK_FALSE(in_maps.capabilities().settles_in_one_phase);
    CHECK_THROWS_AS(in_memory.bind<std::remove_cv_t<decltype(purses)>>("other"), settle::failure);
}

} // namespace any_tests
