// SPDX-License-Identifier: BSL-1.0
// A sweep of prepared names beside an id that is purged and submitted again.
#include "engine_types.hpp"

#include <preparing_database.hpp>

namespace prepared_sweep_test {

using namespace engine_test;
using preparing_test::database;
using preparing_test::fault;
using settle::param;

struct booking {
    std::string account;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(booking, account, amount);

inline constexpr settle::prepared<booking, "ledger"> ledger;
inline constexpr auto booking_type =
    settle::transaction<booking, "booking">(settle::participant<"account">(ledger).apply(
        settle::call(param<&booking::account>, param<&booking::amount>)));

TEST_CASE("prepared: a sweep reads the entry of a name after its list, as the id may be new") {
    settle::memory::database log;
    database books;
    books.accounts = {{"X", 0}};
    world_state world;
    books.now = world.time;
    std::function<void(settle::event const&)> watch;
    auto const book = [](database::connection& on, booking const& request) {
        auto const added = on.add(request.account, request.amount);
        return added.has_value() ? settle::work_result::ok()
                                 : settle::work_result::failed(added.problem());
    };
    settle::engine engine{settle::log_in(log), settle::bind(ledger, books, book),
                          settle::type<booking_type>,
                          settle::with_environment(manual_environment{world}),
                          settle::observed_by([&](settle::event const& one) {
                              if (watch) watch(one);
                          })};
    booking const usual{"X", 30};
    settle::cancel_options ahead;
    ahead.even_if_unknown = true;
    CHECK(engine.cancel("t", ahead).canceled());
    bool anew = false;
    books.disturb = [&](std::string_view operation, std::string const&) {
        if (operation != "list" || std::exchange(anew, true)) return fault::none;
        world.time += std::chrono::hours{24 * 40};
        CHECK(engine.purge().erased == 1);
        watch = kill_after(settle::step::apply);
        CHECK_THROWS_AS(std::ignore = engine.run("t", usual), killed);
        watch = nullptr;
        return fault::none;
    };
    CHECK(engine.sweep().undone == 0);
    CHECK(books.names().size() == 1);
    CHECK(engine.recover(of_any_age()).done == 1);
    CHECK(books.accounts.at("X") == 30);
}

} // namespace prepared_sweep_test
