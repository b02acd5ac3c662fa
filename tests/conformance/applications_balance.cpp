// SPDX-License-Identifier: BSL-1.0
// What `balance` says of an account that an unfinished transfer has changed.
#include <program.hpp>

#include <settle/sqlite.hpp>

#include <transfer/transfer.hpp>

#include <tuple>

namespace {

TEST_CASE("transfer: a balance says what is committed, as long as that differs") {
    testing::scratch_folder const folder{"balance"};
    auto const path = folder.at("bank.db");
    auto const balance = [&] {
        return testing::run_sample(folder, "transfer",
                                   {"--store", "sqlite:" + path, "balance", "ann"})
            .out;
    };
    {
        settle::sqlite::database database{path};
        bool is_killed = true;
        auto const kill = [&](settle::event const& seen) {
            if (is_killed && seen.taken == settle::step::apply) throw settle::testing::crash{};
        };
        settle::engine engine{database, settle::type<bank::transfer_type>, settle::phases::two,
                              settle::observed_by(kill)};
        for (auto const* const id : {"ann", "bob"})
            REQUIRE(engine.create(bank::accounts, {id, 10000, 10000}).has_value());
        CHECK_THROWS_AS(std::ignore = engine.run("t-1", bank::transfer{"ann", "bob", 1050}),
                        settle::testing::crash);
        CHECK(balance() ==
              "89.50\n100.00 is committed; unfinished transactions hold the difference\n");
        is_killed = false;
        REQUIRE(engine.retry("t-1").done());
    }
    CHECK(balance() == "89.50\n");
}

} // namespace
