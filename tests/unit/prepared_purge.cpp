// SPDX-License-Identifier: BSL-1.0
// A purge of the receipts of prepared parts.
#include "prepared_banks.hpp"

namespace prepared_test {

using namespace std::chrono_literals;

TEST_CASE("prepared: a purge forgets receipts, but not beside an old unfinished entry") {
    banks banks;
    auto engine = banks.make();
    banks.books.now = banks.world.time;
    CHECK(engine.run("t", usual).done());
    CHECK(banks.books.receipts.size() == 1);
    SUBCASE("all are finished") {
        banks.world.time += std::chrono::hours{24 * 40};
        CHECK(engine.purge().erased == 1);
        CHECK(banks.books.receipts.empty());
    }
    SUBCASE("one is stuck") {
        banks.watch = kill_after(settle::step::commit);
        CHECK_THROWS_AS(std::ignore = engine.run("u", usual), killed);
        banks.watch = nullptr;
        banks.world.time += std::chrono::hours{24 * 40};
        CHECK(engine.purge().erased == 1);
        CHECK(banks.books.receipts.size() == 1);
        CHECK(engine.recover(of_any_age()).done == 1);
    }
    SUBCASE("one is stuck, and a worker has claimed it again") {
        banks.watch = kill_after(settle::step::confirm);
        CHECK_THROWS_AS(std::ignore = engine.run("u", usual), killed);
        CHECK(banks.books.receipts.size() == 2);
        banks.world.time += std::chrono::hours{24 * 40};
        banks.watch = kill_after(settle::step::claim);
        CHECK_THROWS_AS(std::ignore = engine.recover(of_any_age()), killed);
        banks.watch = nullptr;
        CHECK(engine.purge().erased == 1);
        CHECK(banks.books.receipts.size() == 2);
        CHECK(engine.recover(of_any_age()).done == 1);
    }
    SUBCASE("one is stuck, and a wrong clock dated it ahead") {
        banks.world.time += std::chrono::hours{24 * 1000};
        banks.watch = kill_after(settle::step::confirm);
        CHECK_THROWS_AS(std::ignore = engine.run("u", usual), killed);
        banks.watch = nullptr;
        banks.world.time -= std::chrono::hours{24 * 960};
        CHECK(engine.stuck().value().size() == 1);
        CHECK(engine.purge().erased == 1);
        CHECK(banks.books.receipts.size() == 2);
        CHECK(engine.recover(of_any_age()).done == 1);
    }
    SUBCASE("a purge of a limited number of entries erases no more receipts than it may") {
        banks.world.time += std::chrono::hours{24 * 40};
        settle::purge_options none;
        none.limit = 0;
        CHECK(engine.purge(none).erased == 0);
        CHECK(banks.books.receipts.size() == 1);
    }
    SUBCASE("a purge that is stopped, or whose store is away, says so") {
        CHECK(engine.run("u", usual).done());
        banks.world.time += std::chrono::hours{24 * 40};
        std::stop_source stopped;
        settle::purge_options slow;
        slow.step = 1;
        slow.stop = stopped.get_token();
        auto answer = fault::none;
        banks.books.disturb = [&](std::string_view operation, std::string const&) {
            if (operation != "forget") return fault::none;
            stopped.request_stop();
            return answer;
        };
        auto report = engine.purge(slow);
        CHECK(report.erased == 2);
        CHECK(report.problem.code == errc::stopped);
        CHECK(banks.books.receipts.size() == 1);
        answer = fault::unavailable;
        report = engine.purge();
        CHECK(report.erased == 0);
        CHECK(report.problem.code == settle::condition::retryable);
        CHECK(banks.books.receipts.size() == 1);
        answer = fault::none;
        CHECK(engine.purge().problem.empty());
        CHECK(banks.books.receipts.empty());
    }
}

TEST_CASE("prepared: a receipt stays while an entry is unfinished that a faster clock dated") {
    banks banks;
    auto engine = banks.make();
    // The database's clock is half an hour behind the worker's.
    banks.books.now = banks.world.time - 30min;
    banks.books.ahead = -30min;
    banks.watch = kill_after(settle::step::confirm);
    CHECK_THROWS_AS(std::ignore = engine.run("t", usual), killed);
    banks.watch = nullptr;
    CHECK(banks.books.receipts.size() == 1);
    // The entry is younger than 30 days, and its receipt older.
    banks.world.time += 30 * 24h - 15min;
    auto const purged = engine.purge();
    CHECK_MESSAGE(purged.problem.empty(), purged.problem);
    CHECK(banks.books.receipts.size() == 1);
    CHECK(engine.recover(of_any_age()).done == 1);
    banks.moved(30);
}

TEST_CASE("prepared: a purge erases no receipt of a database whose clock is wrong") {
    banks banks;
    auto engine = banks.make();
    banks.books.now = banks.world.time;
    CHECK(engine.run("t", usual).done());
    banks.world.time += 24h * 40;
    auto const after = [&](std::chrono::milliseconds ahead) {
        banks.books.ahead = ahead;
        return engine.purge();
    };
    auto const behind = after(-24h * 60);
    CHECK(behind.problem.code == errc::unfit_store);
    CHECK(behind.problem.text ==
          "settle: no receipt was erased, since the clock of a database that prepares is 5184000 s "
          "behind this program's, more than options::clocks. Set the clocks right, and purge "
          "again. See prepared#receipts");
    auto const ahead = after(62min);
    CHECK(ahead.problem.text.find("3720 s ahead of") != std::string::npos);
    CHECK(banks.books.receipts.size() == 1);
    CHECK(after(59min).problem.empty());
    CHECK(banks.books.receipts.empty());
}

} // namespace prepared_test
