// SPDX-License-Identifier: BSL-1.0
// Another program beside threads that transfer money: reads with locks, changes between two of the
// program's steps, locks in another order, and reads of the view of entries.
#include "bank_story.hpp"
#include "updates_between_steps.hpp"

namespace settle_test {
namespace {

TEST_CASE("other programs: one reads, locks and changes accounts while threads transfer") {
    fresh_mariadb const own;
    bank_story::open(own.address());
    tellers load{own.address()};
    mariadb_session person{own.address()};
    int deadlocks = 0;
    for (int i = 0; i < 8; ++i) {
        CHECK(load.progress(5));
        // Every other script locks the accounts in an order that is not settle's.
        std::string const first = i % 2 == 0 ? "0" : "5";
        std::string const second = i % 2 == 0 ? "5" : "0";
        auto const change = [](std::string const& id) {
            return "SELECT balance FROM accounts WHERE id = '" + id + "' FOR UPDATE; " +
                   "SELECT SLEEP(0.05); UPDATE accounts SET balance = balance + 7 WHERE id = '" +
                   id + "'; ";
        };
        try {
            person.ask("BEGIN; " + change(first) + change(second) + "COMMIT");
            load.story.note_added("0", 7);
            load.story.note_added("5", 7);
        } catch (std::runtime_error const& problem) {
            ++deadlocks;
            CHECK(std::string_view{problem.what()}.starts_with("Deadlock found"));
            person.ask("ROLLBACK");
        }
    }
    CHECK(deadlocks < 8);
    CHECK(load.progress());
    load.stop();
    load.story.check(own.address());
}

TEST_CASE("other programs: an update between the steps stays, and the guard still holds") {
    fresh_mariadb const own;
    check_updates_between_steps<mariadb_bank>(own.address(),
                                              [&](std::string const& sql) { own.ask(sql); });
}

TEST_CASE("other programs: people read entries in the view") {
    fresh_mariadb const own;
    bank_story::open(own.address());
    settle::mariadb::database db{own.address()};
    auto teller = bank_engine(db, settle::phases::two);
    CHECK(teller.run("moved", bank::transfer{"0", "1", 30}).done());
    CHECK(teller.run("too much", bank::transfer{"0", "1", 30'000}).canceled());
    auto const rows = own.ask(
        "SELECT id, type, state, reason, participant, JSON_VALUE(parameters, '$.amount'), "
        "created > UTC_TIMESTAMP() - INTERVAL 1 HOUR, committed = epoch FROM settle_entries "
        "ORDER BY id");
    REQUIRE(rows.size() == 2);
    using row = std::vector<std::string>;
    CHECK(rows[0] == row{"moved", "transfer", "done", "NULL", "NULL", "30", "1", "1"});
    CHECK(rows[1] ==
          row{"too much", "transfer", "canceled", "guard failed", "source", "30000", "1", "NULL"});
}

} // namespace
} // namespace settle_test
