// SPDX-License-Identifier: BSL-1.0
// A log is at home in its database: an election is no other place, and a database that was filled
// with the documents of another is a copy, or was restored.
#include "fixtures.hpp"
#include "taken_over.hpp"

#include <patiently.hpp>

#include <settle/testing/faults.hpp>

#include <thread>

namespace settle_test {
namespace {

using settle::errc;
using settle::mongodb::database;

/// Fills a database with the documents of another, as a restored dump does.
void copy_documents(fresh_database const& from, fresh_database const& to) {
    connection source{from.address()};
    auto const listed = source.run(R"({"listCollections": 1, "nameOnly": true})");
    REQUIRE(listed.ok);
    for (int index = 0;; ++index) {
        auto const name = listed.text("cursor.firstBatch." + std::to_string(index) + ".name");
        if (name.empty()) return;
        auto const done = source.run(R"({"aggregate": ")" + name +
                                     R"(", "cursor": {}, "pipeline": [{"$out": {"db": ")" +
                                     to.name() + R"(", "coll": ")" + name + R"("}}]})");
        REQUIRE_MESSAGE(done.ok, done.error);
    }
}

std::string stored(std::string const& address, std::string const& id,
                   std::string const& member = "value") {
    auto const found =
        run_command(address, R"({"find": "settle_words", "filter": {"_id": ")" + id + "\"}}");
    REQUIRE(found.ok);
    return found.text("cursor.firstBatch.0." + member);
}

template <typename Database>
settle::error refusal_of(Database& db) {
    try {
        static_cast<void>(bank_on(db, settle::two_phases, short_limits()));
    } catch (settle::failure const& refused) {
        return refused.problem();
    }
    return {};
}

/// Two accounts, a transfer that is done, and one whose worker ended before its commit.
void fill(database& db) {
    settle::testing::faulty<database> with_faults{db};
    auto engine =
        settle::engine{with_faults, settle::type<settle::testing::move_type>, settle::two_phases};
    for (char const* const id : {"A", "B"}) engine.create(ledgers, {id, opening, 0, ""}).value();
    CHECK(engine.run("done", transfer{"A", "B", 1}).done());
    with_faults.plan([](settle::testing::call const& call) {
        using settle::testing::fault_kind;
        return settle::testing::fault{call.what == "commit" ? fault_kind::crash_before
                                                            : fault_kind::none};
    });
    CHECK_THROWS_AS(std::ignore = engine.run("open", transfer{"A", "B", 10}),
                    settle::testing::crash);
}

TEST_CASE("copies: a database that was filled from another is closed, and the original goes on") {
    for (auto& address : {replica_set_address, standalone_address}) {
        fresh_database const own{*address};
        fresh_database const other{*address};
        auto& original = opened(own.address());
        fill(original);
        copy_documents(own, other);
        auto& copy = opened(other.address());
        auto const name = original.bind_log().name();
        auto const refused = refusal_of(copy);
        CHECK(refused.code == errc::other_home);
        CHECK_MESSAGE(refused.text.find(" name=" + own.name() + "', and now it is at 'uuid=") !=
                          std::string::npos,
                      refused.text);
        // Two programs close it at the same time.
        auto const close = [](database& db) {
            return settle::close_copied_log(db, settle::type<settle::testing::move_type>);
        };
        auto& again = opened(other.address());
        settle::recovery_report second;
        std::jthread also{[&] { second = close(again); }};
        auto const report = close(copy);
        also.join();
        CHECK_MESSAGE(report.problem.empty(), report.problem);
        CHECK_MESSAGE(second.problem.empty(), second.problem);
        CHECK(report.canceled + second.canceled == 1);
        CHECK(copy.bind_log().name() != name);
        CHECK(stored(other.address(), "belongs_to") == copy.bind_log().name());
        {
            auto engine = bank_on(copy, settle::two_phases, short_limits());
            CHECK(balance(engine, "A") == opening - 1);
            CHECK(engine.marks().value() == 0);
        }
        auto engine = bank_on(original, settle::two_phases, short_limits());
        CHECK(engine.retry("open").done());
        CHECK(balance(engine, "A") == opening - 11);
        CHECK(original.bind_log().name() == name);
        CHECK(stored(own.address(), "belongs_to") == name);

        // A program ended after it had renamed the log, and before it renamed the records' log.
        std::ignore = run_command(other.address(), R"({"update": "settle_words", "updates": [
            {"q": {"_id": "belongs_to"}, "u": {"$set": {"value": ")" +
                                                       name + R"("}}}]})");
        CHECK(refusal_of(copy).empty());
        CHECK(stored(other.address(), "belongs_to") == copy.bind_log().name());
    }
}

TEST_CASE("copies: a database that was restored in its place is accepted, and keeps its name") {
    fresh_database const own{replica_set_address};
    fresh_database const dump{replica_set_address};
    auto& db = opened(own.address());
    fill(db);
    auto const name = db.bind_log().name();
    copy_documents(own, dump);
    connection{own.address()}.run(R"({"dropDatabase": 1})");
    copy_documents(dump, own);
    CHECK(refusal_of(db).code == errc::other_home);
    CHECK(settle::accept_moved_log(db).has_value());
    auto engine = bank_on(db, settle::two_phases, short_limits());
    CHECK(db.bind_log().name() == name);
    CHECK(engine.retry("open").done());
}

TEST_CASE("copies: a log of an older version is at home where it is") {
    fresh_database const own{standalone_address};
    auto& db = opened(own.address());
    fill(db);
    auto const home = stored(own.address(), "log", "home");
    CHECK(home.starts_with("uuid="));
    std::ignore = run_command(own.address(), R"({"update": "settle_words", "updates": [
        {"q": {"_id": "log"}, "u": {"$unset": {"home": 1}}}]})");
    CHECK(stored(own.address(), "log", "home").empty());
    CHECK(refusal_of(db).empty());
    CHECK(stored(own.address(), "log", "home") == home);
}

TEST_CASE("copies: collections of another version are refused") {
    fresh_database const own{standalone_address};
    fill(opened(own.address()));
    CHECK(stored(own.address(), "schema") == "1");
    std::ignore = run_command(own.address(), R"({"update": "settle_words", "updates": [
        {"q": {"_id": "schema"}, "u": {"$set": {"value": "99"}}}]})");
    auto const refused = settle::mongodb::database::open(own.address());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.problem().code == settle::errc::other_version);
}

TEST_CASE("copies: leftovers of an old program are closed in a copy, at every step") {
    using tutorial = settle::mongodb::tutorial_database<bank::tutorial::transfer_type>;
    constexpr int first = 10;
    auto const all = dialects();
    for (auto const& dialect : {all.front(), all.back()}) {
        INFO(dialect.name);
        fresh_database const own{replica_set_address};
        fresh_database const other{replica_set_address};
        old_program program{own.address(), dialect};
        for (int step = 0; step <= old_program::steps; ++step) {
            program.open(first + step);
            program.transfer(first + step, step);
        }
        {
            taken_over const original{own.address(), dialect};
        }
        copy_documents(own, other);
        {
            tutorial copy{other.address(), layout_of(dialect)};
            auto const report =
                settle::close_copied_log(copy, settle::type<bank::tutorial::transfer_type>);
            CHECK_MESSAGE(report.problem.empty(), report.problem);
            CHECK(report.skipped.empty());
        }
        taken_over bank{other.address(), dialect};
        for (int step = 0; step <= old_program::steps; ++step) {
            INFO("after ", step, " writes");
            auto const after = bank.engine().find(program.id_text(first + step)).value();
            // The program commits with its fifth write.
            if (after) {
                CHECK(after->state == (step < 5 ? settle::state::canceled : settle::state::done));
            }
            check_sums(bank, first + step, step >= 5);
        }
        check_records(other.address(), 2 * (old_program::steps + 1));
    }
}

TEST_CASE("long: copies: an election is no other place") {
    replica_set set;
    auto const address = set.address("bank");
    std::string home;
    {
        auto const db = patiently([&] { return std::make_unique<database>(address); });
        patiently([&] { return bank_on(*db).limits().attempts; });
        home = stored(address, "log", "home");
        CHECK(home.starts_with("uuid="));
    }
    set.step_down();
    // On a busy machine one election may follow another.
    auto const refused = patiently([&] {
        database db{address};
        auto const problem = refusal_of(db);
        if (!problem.empty() && problem.code != errc::other_home) throw settle::failure(problem);
        return problem;
    });
    CHECK_MESSAGE(refused.empty(), refused);
    CHECK(stored(address, "log", "home") == home);
}

} // namespace
} // namespace settle_test
