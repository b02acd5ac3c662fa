// SPDX-License-Identifier: BSL-1.0
// A sweep of prepared names beside an id that is purged and submitted again.
#include "prepared_banks.hpp"

namespace prepared_test {

TEST_CASE("prepared: a sweep lists names before it reads entries, since an id may be used again") {
    banks banks;
    auto engine = banks.make();
    banks.books.now = banks.world.time;
    // A transaction without records, so the worker dies after its prepare.
    salaries const booking_alone{"A", {{"X", 30}}};
    settle::cancel_options ahead;
    ahead.even_if_unknown = true;
    CHECK(engine.cancel("t", ahead).canceled());
    bool anew = false;
    banks.books.disturb = [&](std::string_view operation, std::string const&) {
        if (operation != "list" || std::exchange(anew, true)) return fault::none;
        banks.world.time += std::chrono::hours{24 * 40};
        CHECK(engine.purge().erased == 1);
        banks.watch = kill_after(settle::step::apply);
        CHECK_THROWS_AS(std::ignore = engine.run("t", booking_alone), killed);
        banks.watch = nullptr;
        return fault::none;
    };
    CHECK(engine.sweep().undone == 0);
    CHECK(anew);
    CHECK(banks.books.names().size() == 1);
    CHECK(engine.recover(of_any_age()).done == 1);
    CHECK(banks.books.accounts.at("X") == 30);
}

} // namespace prepared_test
