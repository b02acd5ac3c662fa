// SPDX-License-Identifier: BSL-1.0
// Finished entries leave MongoDB's log when they cannot matter any more; unfinished entries stay.
#include "bank.hpp"
#include "shared_servers.hpp"

#include <settle/mongodb.hpp>
#include <settle/testing/manual_environment.hpp>

namespace settle_test {

TEST_CASE("purge: it erases old entries, a step at a time, and nothing else") {
    using namespace std::chrono_literals;
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        fresh_database const own{*server};
        settle::mongodb::database db{own.address()};
        settle::testing::manual_environment const time;
        settle::engine engine{db, settle::type<settle::testing::move_type>,
                              settle::with_environment(time)};
        engine.create(ledgers, {"A", opening, 0, ""}).value();
        engine.create(ledgers, {"B", opening, 0, ""}).value();
        for (int i = 0; i < 5; ++i) {
            // One of these transactions is canceled.
            auto const outcome =
                engine.run("old-" + std::to_string(i), transfer{"A", "B", i == 2 ? 1'000 : 1});
            CHECK(outcome.done() == (i != 2));
        }
        CHECK(engine.submit("submitted", transfer{"A", "B", 5}).problem.empty());
        CHECK(engine.purge().erased == 0);
        time.advance(31 * 24h);
        CHECK(engine.run("new", transfer{"A", "B", 1}).done());
        settle::purge_options none;
        none.limit = 0;
        CHECK(engine.purge(none).erased == 0);
        CHECK(db.bind_log().purge(time.now(), 0).value().erased == 0);
        auto const purged = engine.purge();
        CHECK_MESSAGE(purged.problem.empty(), purged.problem);
        CHECK(purged.erased == 5);
        CHECK(engine.purge().erased == 0);
        CHECK_FALSE(engine.find("old-0").value().has_value());
        CHECK(engine.find("new").value().has_value());
        CHECK(engine.find("submitted").value().has_value());
        CHECK(balance(engine, "A") == opening - 5);
        // It was dated by a clock that was behind, and has ended only now.
        auto const dated = run_command(
            own.address(), R"({"update": "settle_entries", "updates": [{"q": {"_id": "new"}, "u": )"
                           R"({"$set": {"created": {"$date": "1970-01-02T00:00:00Z"}}}}]})");
        CHECK(dated.number("nModified") == 1);
        CHECK(engine.purge().erased == 0);
        time.advance(31 * 24h);
        CHECK(engine.purge().erased == 1);
    }
}

} // namespace settle_test
