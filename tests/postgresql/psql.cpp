// SPDX-License-Identifier: BSL-1.0
// A person with psql beside threads that transfer money: reads with locks, changes between two of
// the program's steps, locks in another order.
#include "bank_story.hpp"
#include "updates_between_steps.hpp"

#include <program.hpp>

namespace settle_test {
namespace {

/// psql, as a person starts it.
class psql {
public:
    explicit psql(std::string address) : address_{std::move(address)} {
        std::string reason;
        program_ = find_postgresql(reason) + "/psql";
        if (!std::filesystem::exists(program_)) skip("there is no " + program_);
    }

    /// Begins a script in one session, which stops at its first error.
    [[nodiscard]] std::unique_ptr<testing::program> begin(std::string const& script) {
        auto const file = folder_.write("script.sql", script);
        return std::make_unique<testing::program>(
            folder_, std::vector<std::string>{program_, "--no-psqlrc", "-qAt", "-v",
                                              "ON_ERROR_STOP=1", "-f", file, address_});
    }
    [[nodiscard]] testing::ended run(std::string const& script) { return begin(script)->wait(); }

private:
    testing::scratch_folder folder_{"psql"};
    std::string address_;
    std::string program_;
};

TEST_CASE("psql: a session that a person forgets has the oldest snapshot") {
    fresh_schema const own;
    pg::database db{own.address()};
    psql person{own.address()};
    auto forgotten = person.begin("SET application_name = payroll;\n"
                                  "BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
                                  "SELECT pg_current_xact_id();\nSELECT pg_sleep(3600);\n");
    // Other tests' sessions come and go.
    std::optional<pg::snapshot_holder> holder;
    for (int i = 0; i < 36000 && !(holder && holder->name.ends_with(" of payroll")); ++i) {
        std::this_thread::sleep_for(10ms);
        holder = db.oldest_snapshot().value();
    }
    REQUIRE(holder.has_value());
    auto const process = ask_one(own.address(), "SELECT pid FROM pg_stat_activity "
                                                "WHERE application_name = 'payroll'");
    CHECK(holder->name == "the session " + process + " of payroll");
    std::this_thread::sleep_for(1100ms);
    CHECK(db.oldest_snapshot().value().value().age >= 1s);
    ask(own.address(), "SELECT pg_terminate_backend(" + process + ")");
    CHECK(forgotten->wait().code != 0);
    auto const next = db.oldest_snapshot().value();
    CHECK((!next || next->name != holder->name));
}

TEST_CASE("psql: a person reads, locks and changes accounts while threads transfer") {
    fresh_schema const own;
    bank_story::open(own.address());
    psql person{own.address()};
    tellers load{own.address()};
    int deadlocks = 0;
    for (int i = 0; i < 8; ++i) {
        CHECK(load.progress(5));
        // Every other script locks the accounts in an order that is not settle's.
        std::string const first = i % 2 == 0 ? "0" : "5";
        std::string const second = i % 2 == 0 ? "5" : "0";
        auto const change = [](std::string const& id) {
            return "SELECT balance FROM accounts WHERE id = '" + id + "' FOR UPDATE;\n" +
                   "SELECT pg_sleep(0.05);\n"
                   "UPDATE accounts SET balance = balance + 7 WHERE id = '" +
                   id + "';\n";
        };
        auto const ended = person.run("BEGIN;\n" + change(first) + change(second) + "COMMIT;\n");
        INFO(ended.err);
        if (ended.code == 0) {
            load.story.note_added("0", 7);
            load.story.note_added("5", 7);
        } else {
            ++deadlocks;
            CHECK(ended.err.find("deadlock detected") != std::string::npos);
        }
    }
    CHECK(deadlocks < 8);
    CHECK(load.progress());
    load.stop();
    load.story.check(own.address());
}

TEST_CASE("psql: an update between the steps of a transaction stays, and its guard still holds") {
    fresh_schema const own;
    psql person{own.address()};
    check_updates_between_steps<postgresql_bank>(own.address(), [&](std::string const& script) {
        auto const ended = person.run(script);
        CHECK_MESSAGE(ended.code == 0, ended.err);
    });
}

} // namespace
} // namespace settle_test
