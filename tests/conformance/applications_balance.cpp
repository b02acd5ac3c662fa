// SPDX-License-Identifier: BSL-1.0
// What `balance` says while an unfinished transaction has changed accounts.
#include <contains.hpp>
#include <program.hpp>

#include <settle/sqlite.hpp>

#include <payment/payment.hpp>
#include <transfer/transfer.hpp>

#include <tuple>

namespace {

using testing::contains;

/// A worker that ends after the applies.
auto killed(bool const& is_killed) {
    return settle::observed_by([&is_killed](settle::event const& seen) {
        if (is_killed && seen.taken == settle::step::apply) throw settle::testing::crash{};
    });
}

TEST_CASE("transfer: a balance is what is committed, and then what is stored, if that differs") {
    testing::scratch_folder const folder{"balance"};
    auto const path = folder.at("bank.db");
    auto const balance = [&](std::vector<std::string> of) {
        of.insert(of.begin(), {"--store", "sqlite:" + path, "balance"});
        return testing::run_sample(folder, "transfer", of).out;
    };
    {
        settle::sqlite::database database{path};
        bool is_killed = true;
        settle::engine engine{database, settle::type<bank::transfer_type>, settle::phases::two,
                              killed(is_killed)};
        for (auto const* const id : {"ann", "bob"})
            REQUIRE(engine.create(bank::accounts, {id, 10000, 10000}).has_value());
        CHECK_THROWS_AS(std::ignore = engine.run("t-1", bank::transfer{"ann", "bob", 1050}),
                        settle::testing::crash);
        CHECK(balance({"ann"}) ==
              "100.00\n89.50 is stored; unfinished transactions hold the difference\n");
        auto const all = balance({});
        CHECK_MESSAGE(contains(all, "ann                            100.00\n"), all);
        CHECK_MESSAGE(contains(all, "sum                            200.00\n"), all);
        is_killed = false;
        REQUIRE(engine.retry("t-1").done());
    }
    CHECK(balance({"ann"}) == "89.50\n");
    CHECK(contains(balance({}), "sum                            200.00\n"));
}

TEST_CASE("payment: the sum of customers and till is of one moment of what is committed") {
    testing::scratch_folder const folder{"balance-shop"};
    auto const path = folder.at("shop.db");
    auto const balance = [&](std::vector<std::string> of) {
        of.insert(of.begin(), {"--store", "sqlite:" + path, "balance"});
        return testing::run_sample(folder, "payment", of).out;
    };
    settle::sqlite::database database{path};
    bool is_killed = true;
    settle::engine engine{database, settle::type<shop::payment_type>, settle::phases::two,
                          killed(is_killed)};
    engine.create(shop::tills, {"shop", 500}).value();
    engine.create(shop::customers, {"c1", 10000, 10000}).value();
    engine.create(shop::items, {"pen", 9}).value();
    engine.create(shop::orders, {"i1", "c1", 200, "unpaid"}).value();
    CHECK_THROWS_AS(std::ignore =
                        engine.run("p", shop::payment{"i1", "c1", 200, {{"pen", 2, 100}}}),
                    settle::testing::crash);
    CHECK(balance({"c1"}) ==
          "100.00\n98.00 is stored; unfinished transactions hold the difference\n");
    CHECK(contains(balance({}), "sum                            105.00\n"));
}

} // namespace
