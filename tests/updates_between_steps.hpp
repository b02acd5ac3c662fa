// SPDX-License-Identifier: BSL-1.0
// Another program changes an account between two steps of a transfer. Place is as in
// bank_story_suite.hpp.
#pragma once

#include "bank_story_suite.hpp"

namespace settle_test {

/// Shape:   run(sql) - runs a statement of another program
template <typename Place, typename Run>
void check_updates_between_steps(std::string const& address, Run&& run) {
    basic_bank_story<Place> story;
    basic_bank_story<Place>::open(address);
    typename Place::database db{address};
    std::string sql;
    settle::step when{};
    settle::engine teller{db, settle::phases::two, settle::type<bank::transfer_type>,
                          settle::observed_by([&](settle::event const& seen) {
                              if (seen.taken == when && !sql.empty()) run(std::exchange(sql, {}));
                          })};
    auto const update = [](std::string const& id, std::string const& amount) {
        return "UPDATE accounts SET balance = balance + " + amount + " WHERE id = '" + id + "';";
    };
    int number = 0;
    for (auto const step :
         {settle::step::insert, settle::step::apply, settle::step::commit, settle::step::confirm}) {
        for (std::string const id : {"0", "1"}) {
            when = step;
            sql = update(id, "3");
            auto const outcome = teller.run(std::to_string(number++), bank::transfer{"0", "1", 10});
            CHECK(outcome.done());
            CHECK(sql.empty());
            story.note(outcome);
            story.note_added(id, 3);
        }
    }
    // The money is taken before it is applied.
    when = settle::step::insert;
    sql = update("0", "-balance");
    auto const before =
        std::stoll(Place::ask(address, "SELECT balance FROM accounts WHERE id = '0'").at(0).at(0));
    auto const outcome = teller.run("late", bank::transfer{"0", "1", 10});
    CHECK(outcome.why == settle::reason::guard_failed);
    story.note(outcome);
    story.note_added("0", -before);
    story.check(address);
}

} // namespace settle_test
