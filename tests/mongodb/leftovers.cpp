// SPDX-License-Identifier: BSL-1.0
// Leftovers of the tutorial's programs at every step are finished with the right sums, and new
// transfers use the fields of these programs.
#include "taken_over.hpp"

#include <settle/testing/requests.hpp>

namespace {

using bank::tutorial::transfer;
using settle::verdict;
using settle_test::check_records;
using settle_test::check_sums;
using settle_test::fresh_database;
using settle_test::old_program;
using settle_test::replica_set_address;
using settle_test::standalone_address;
using settle_test::taken_over;
using namespace std::chrono_literals;

constexpr int first_number = 10; // numbers of two digits, since an ObjectId has so many

} // namespace

TEST_CASE("leftovers: a transfer that an old program left at any step is finished") {
    for (auto& address : {replica_set_address, standalone_address}) {
        for (auto dialect : settle_test::dialects()) {
            for (bool const recent : {false, true}) {
                if (recent && !settle_test::make_recent(dialect)) continue;
                INFO(dialect.name, recent ? ", just now" : ", long ago");
                fresh_database const own{*address};
                old_program program{own.address(), dialect};
                for (int step = 0; step <= old_program::steps; ++step) {
                    program.open(first_number + step);
                    program.transfer(first_number + step, step);
                }
                taken_over bank{own.address(), dialect};
                settle_all(bank);
                // An entry older than the lifetime is not committed any more.
                int const least = recent ? 1 : 5;
                for (int step = 0; step <= old_program::steps; ++step) {
                    INFO("after ", step, " writes");
                    auto const after =
                        bank.engine().find(program.id_text(first_number + step)).value();
                    CHECK(after.has_value() == (step > 0));
                    bool const moved = step >= least;
                    if (after) {
                        CHECK(after->type == "transfer");
                        CHECK((after->state == settle::state::done) == moved);
                        CHECK((after->state == settle::state::canceled) == !moved);
                        // The old program's commit now has the epoch of a claim, so that a late
                        // effect is recognized.
                        bool const by_settle = moved && step < old_program::steps;
                        bool const in_two_phases = by_settle && step > 1;
                        if (in_two_phases) CHECK(after->committed == after->epoch_number);
                        if (!by_settle) CHECK(after->committed == 0);
                        if (!moved) CHECK(after->why == settle::reason::expired);
                    }
                    check_sums(bank, first_number + step, moved);
                }
                check_records(own.address(), 2 * (old_program::steps + 1));
            }
        }
    }
}

TEST_CASE("leftovers: a cancel that an old program left at any step is finished") {
    for (auto const& dialect : settle_test::dialects()) {
        INFO(dialect.name);
        fresh_database const own{replica_set_address};
        old_program program{own.address(), dialect};
        int number = first_number;
        for (int applied = 2; applied <= 4; ++applied) {
            for (int step = 1; step <= old_program::cancel_steps; ++step, ++number) {
                program.open(number);
                program.transfer(number, applied);
                program.cancel(number, step);
            }
        }
        taken_over bank{own.address(), dialect};
        settle_all(bank);
        for (int each = first_number; each < number; ++each) {
            INFO("transfer ", each);
            auto const after = bank.engine().find(program.id_text(each)).value().value();
            CHECK(after.state == settle::state::canceled);
            check_sums(bank, each, false);
        }
        check_records(own.address(), 2 * (number - first_number));
    }
}

TEST_CASE("leftovers: a late effect of an old program is undone") {
    auto const dialect = settle_test::dialects().front();
    fresh_database const own{replica_set_address};
    old_program program{own.address(), dialect};
    program.open(first_number);
    program.transfer(first_number, 3);
    taken_over bank{own.address(), dialect};
    settle_all(bank);
    check_sums(bank, first_number, false);
    // Canceled meanwhile, and then the old program's second effect lands.
    program.apply(first_number, "B", 100);
    CHECK(bank.balance("B10") == 1100);
    CHECK(bank.engine().sweep().undone == 1);
    check_sums(bank, first_number, false);
    // The same holds for an entry that the old program or settle has finished.
    for (int const steps : {old_program::steps, 6}) {
        int const number = first_number + steps;
        program.open(number);
        program.transfer(number, steps);
        settle_all(bank);
        check_sums(bank, number, true);
        program.apply(number, "B", 100);
        CHECK(bank.balance("B" + std::to_string(number)) == 1200);
        CHECK(bank.engine().sweep().undone == 1);
        check_sums(bank, number, true);
    }
    check_records(own.address(), 6);
}

TEST_CASE("leftovers: a sweep reports a mark whose entry has an amount that its type refuses") {
    auto const dialect = settle_test::dialects().front();
    for (std::string const amount : {"-5", "-9223372036854775808"}) {
        CAPTURE(amount);
        fresh_database const own{replica_set_address};
        old_program program{own.address(), dialect};
        program.open(first_number);
        taken_over bank{own.address(), dialect};
        auto const put = [&](std::string const& command) {
            auto const reply = settle_test::run_command(own.address(), command);
            REQUIRE_MESSAGE(reply.ok, reply.error);
            REQUIRE(reply.number("n") == 1);
        };
        put(R"({"insert": "transactions", "documents": [{"_id": 99, "source": "A10", )"
            R"("destination": "B10", "value": {"$numberLong": ")" +
            amount + R"("}, "state": "canceled")" + dialect.modified + "}]}");
        put(R"({"update": "accounts", "updates": [{"q": {"_id": "B10"}, )"
            R"("u": {"$push": {"pendingTransactions": 99}}}]})");
        auto const swept = bank.engine().sweep();
        CHECK(swept.undone == 0);
        REQUIRE(swept.skipped.size() == 1);
        auto const& text = swept.skipped.front().problem.text;
        CHECK_MESSAGE(text.find("has parameters that its type refuses") != std::string::npos, text);
        CHECK(bank.balance("B10") == 1000);
    }
}

TEST_CASE("leftovers: an old program's effect that lands beside settle's mark is undone") {
    auto dialect = settle_test::dialects().front();
    REQUIRE(settle_test::make_recent(dialect));
    fresh_database const own{replica_set_address};
    old_program program{own.address(), dialect};
    program.open(first_number);
    program.transfer(first_number, 3);
    // Another worker took it over under epoch 1, applied its second part, and stopped.
    auto const taken = settle_test::run_command(
        own.address(), R"({"update": "transactions", "updates": [{"q": {"_id": 10}, "u": )"
                       R"({"$set": {"epoch": 1, "attempts": 1}}}]})");
    REQUIRE(taken.number("nModified") == 1);
    auto const applied = settle_test::run_command(
        own.address(),
        R"({"update": "accounts", "updates": [{"q": {"_id": "B10"}, "u": {"$inc": {"balance": )"
        R"(100}, "$push": {"pendingTransactions": {"id": "10", "part": 1, "line": 0, "epoch": 1, )"
        R"("effect": "add", "confirm": {}, "undo": {"balance": -100}}}}}]})");
    REQUIRE(applied.number("nModified") == 1);
    program.apply(first_number, "B", 100);
    taken_over bank{own.address(), dialect};
    CHECK(bank.balance("B10") == 1200);
    settle_all(bank);
    CHECK(bank.engine().find("10").value()->state == settle::state::done);
    check_sums(bank, first_number, true);
    check_records(own.address(), 2);
}

TEST_CASE("leftovers: a worker that takes over an old commit may stop at any step") {
    for (bool const stored : {false, true}) {
        INFO("the epoch of the commit is ", stored ? "" : "not ", "stored");
        auto dialect = settle_test::dialects().front();
        REQUIRE(settle_test::make_recent(dialect));
        fresh_database const own{replica_set_address};
        old_program program{own.address(), dialect};
        program.open(first_number);
        program.transfer(first_number, 5);
        // Claimed under epoch 1; one mark is raised, the other is not.
        auto const update = [&](std::string const& collection, std::string const& query,
                                std::string const& change) {
            auto const reply = settle_test::run_command(
                own.address(), R"({"update": ")" + collection + R"(", "updates": [{"q": )" + query +
                                   R"(, "u": {"$set": )" + change + "}}]}");
            REQUIRE(reply.number("nModified") == 1);
        };
        update("transactions", R"({"_id": 10})",
               stored ? R"({"epoch": 1, "committed": 1})" : R"({"epoch": 1})");
        auto const raise = [&](std::string const& account, int part, int undo) {
            update("accounts", R"({"_id": ")" + account + R"("})",
                   R"({"pendingTransactions": [{"id": "10", "part": )" + std::to_string(part) +
                       R"(, "line": 0, "epoch": 1, "effect": "add", "confirm": {}, "undo": )" +
                       R"({"balance": )" + std::to_string(undo) + "}}]}");
        };
        raise("B10", 1, -100);
        // The epoch is stored once every mark has it: a bare mark then belongs to a late effect.
        if (stored) raise("A10", 0, 100);
        if (stored) program.apply(first_number, "B", 100);
        taken_over bank{own.address(), dialect};
        settle_all(bank);
        CHECK(bank.engine().find("10").value()->state == settle::state::done);
        check_sums(bank, first_number, true);
        check_records(own.address(), 2);
    }
}

TEST_CASE("leftovers: an effect that comes late between two waves of one claim is undone") {
    using direction = settle::forward<bank::tutorial::transfer_type>;
    using accounts = std::remove_const_t<decltype(bank::tutorial::accounts)>;
    for (auto& address : {replica_set_address, standalone_address}) {
        auto const dialect = settle_test::dialects().front();
        fresh_database const own{*address};
        old_program program{own.address(), dialect};
        program.open(first_number);
        program.transfer(first_number, 5);
        settle::mongodb::tutorial_database<bank::tutorial::transfer_type> database{
            own.address(), settle_test::layout_of(dialect)};
        auto log = database.bind_log();
        auto store = database.bind<accounts>(log.name());
        transfer const transfer{"A10", "B10", 100};
        settle::testing::entry_wave claim{settle::step::claim};
        claim.add_change<direction>("10", transfer,
                                    settle::testing::claim_of({settle::state::applied, 0, 0, 0}));
        claim.send(log, settle::timestamp{1s}, "worker");
        REQUIRE(claim.reply(0) == settle::log_answer::taken);
        settle::testing::part_wave confirm{settle::step::confirm};
        confirm.add<direction>("10", transfer, 1);
        confirm.send(store);
        CHECK(confirm.answers(0) == "applied, applied");
        CHECK(log.read("10").value()->committed == 1);
        program.apply(first_number, "B", 100);
        // The worker did not get the answers, so it sends the same wave again.
        confirm.send(store);
        CHECK(store.marks({}, 10).value().empty());
        CHECK(store.read<accounts>("A10").value()->balance == 900);
        CHECK(store.read<accounts>("B10").value()->balance == 1100);
    }
}

TEST_CASE("leftovers: a commit without an epoch is finished only by the worker that claimed it") {
    using direction = settle::forward<bank::tutorial::transfer_type>;
    using accounts = std::remove_const_t<decltype(bank::tutorial::accounts)>;
    auto const dialect = settle_test::dialects().front();
    fresh_database const own{replica_set_address};
    old_program program{own.address(), dialect};
    program.open(first_number);
    program.transfer(first_number, 5);
    settle::mongodb::tutorial_database<bank::tutorial::transfer_type> database{
        own.address(), settle_test::layout_of(dialect)};
    auto log = database.bind_log();
    auto store = database.bind<accounts>(log.name());
    settle::testing::part_wave confirm{settle::step::confirm};
    confirm.add<direction>("10", {"A10", "B10", 100}, 1);
    confirm.send(store);
    CHECK(confirm.answers(0) == "fenced, fenced");
    CHECK(log.read("10").value()->committed == 0);
    CHECK(store.marks({}, 10).value().size() == 2);
}

TEST_CASE("leftovers: new transfers use the old program's fields and spellings") {
    for (auto const& dialect : settle_test::dialects()) {
        INFO(dialect.name);
        fresh_database const own{replica_set_address};
        old_program program{own.address(), dialect};
        program.open(first_number);
        taken_over bank{own.address(), dialect};
        CHECK(bank.engine().run(program.id_text(77), transfer{"A10", "B10", 100}).verdict ==
              verdict::done);
        check_sums(bank, first_number, true);
        auto const found =
            settle_test::run_command(own.address(), R"({"find": "transactions", "filter": {}})");
        std::string const path = "cursor.firstBatch.0.";
        CHECK(found.text(path + "source") == "A10");
        CHECK(found.text(path + "destination") == "B10");
        CHECK(found.number(path + "value") == 100);
        std::string done = "done";
        if (dialect.states != settle::mongodb::spelling::lower) done[0] = 'D';
        if (dialect.states == settle::mongodb::spelling::upper) done = "DONE";
        CHECK(found.text(path + "state") == done);
        switch (dialect.ids) {
        case settle::mongodb::id_kind::number: CHECK(found.number(path + "_id") == 77); break;
        case settle::mongodb::id_kind::any:
        case settle::mongodb::id_kind::text: CHECK(found.text(path + "_id") == "t77"); break;
        case settle::mongodb::id_kind::object_id:
            CHECK(found.object_id(path + "_id") == program.id_text(77));
        }
        // A repetition under the same id is the same transfer.
        CHECK(bank.engine().run(program.id_text(77), transfer{"A10", "B10", 100}).verdict ==
              verdict::done);
        check_sums(bank, first_number, true);
        auto const poor = bank.engine().run(program.id_text(78), transfer{"A10", "B10", 5000});
        CHECK(poor.verdict == verdict::canceled);
        CHECK(poor.why == settle::reason::guard_failed);
    }
}

TEST_CASE("leftovers: ids of every kind are found if the layout names no kind") {
    for (auto dialect : settle_test::dialects()) {
        INFO(dialect.name);
        dialect.ids = settle::mongodb::id_kind::any;
        fresh_database const own{replica_set_address};
        old_program program{own.address(), dialect};
        for (int of = first_number; of < first_number + 3; ++of) {
            program.open(of);
            program.transfer(of, 6);
        }
        taken_over bank{own.address(), dialect};
        // A listing with pages of one entry ends.
        std::vector<std::string> ids;
        std::string after;
        for (int page = 0; page < 5; ++page) {
            auto const found = bank.engine().page({}, after, 1).value();
            if (found.empty()) break;
            ids.push_back(after = found.front().id);
        }
        CHECK(ids == std::vector<std::string>{program.id_text(first_number),
                                              program.id_text(first_number + 1),
                                              program.id_text(first_number + 2)});
        settle_all(bank);
        for (int of = first_number; of < first_number + 3; ++of) check_sums(bank, of, true);
        // The same id is the same transfer, whatever the kind of the id.
        CHECK(
            bank.engine().run(program.id_text(first_number), transfer{"A10", "B10", 100}).verdict ==
            verdict::done);
        check_sums(bank, first_number, true);
    }
}

TEST_CASE("leftovers: an old program keeps its claim until the entry stands still") {
    auto const dialect = settle_test::dialects()[1];
    fresh_database const own{replica_set_address};
    old_program program{own.address(), dialect};
    program.open(first_number);
    taken_over bank{own.address(), dialect};
    CHECK(bank.engine().submit("10", transfer{"A10", "B10", 100}).problem.empty());
    // The claim of the documents' applications: the first application sets the state and its
    // name.
    auto const claim = settle_test::run_command(
        own.address(),
        R"({"findAndModify": "transactions", "query": {"state": "initial", "application": )"
        R"({"$exists": false}}, "update": {"$set": {"state": "pending", "application": "App1"}, )"
        R"("$currentDate": {"lastModified": true}}, "new": true})");
    CHECK(claim.text("value.application") == "App1");
    CHECK(bank.engine().work().done == 0);
    settle::recover_options later;
    later.older_than = 30min;
    CHECK(bank.engine().recover(later).done == 0);
    check_sums(bank, first_number, false);
    later.older_than = 0s;
    CHECK(bank.engine().recover(later).done == 1);
    check_sums(bank, first_number, true);
}
