// SPDX-License-Identifier: BSL-1.0
// The store suite: creating a range of records.
#pragma once

#include <settle/testing/store_suite/engine_cases.hpp>

#include <range/v3/view/transform.hpp>

#include <stdexcept>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

TEST_CASE_TEMPLATE_DEFINE("engine: a range of records is created, and each is reported", Fixture,
                          suite_create_all) {
    Fixture fixture;
    auto engine = suite_engine(fixture.database_here());
    engine.create(ledgers, {"there", 7, 0, "as it was"}).value();
    std::vector<ledger> written;
    for (int number = 0; number < 30; ++number) {
        written.push_back({"l" + std::to_string(number), number, 0, ""});
    }
    written[5].id = "there";
    written[11].id = "l2"; // a key that the range repeats
    written[17].label = "\xff";
    batch_options in_waves;
    in_waves.window = 8;
    std::vector<std::string> reports(written.size());
    auto const report = engine.create_all(
        ledgers, written,
        [&](std::size_t number, result<void> const& answer) {
            reports.at(number) = answer.has_value() ? "made" : answer.problem().code.message();
        },
        in_waves);
    CHECK(report.problem.empty());
    CHECK(report.created == 27);
    CHECK(report.existing == 2);
    REQUIRE(report.refused.size() == 1);
    CHECK(report.refused.front().number == 17);
    CHECK(report.refused.front().problem.code == errc::bad_text);
    for (std::size_t number = 0; number < reports.size(); ++number) {
        CAPTURE(number);
        bool const existing = number == 5 || number == 11;
        CHECK(reports[number] == (existing       ? make_error_code(errc::record_exists).message()
                                  : number == 17 ? make_error_code(errc::bad_text).message()
                                                 : "made"));
        if (reports[number] != "made") continue;
        CHECK(engine.read(ledgers, written[number].id).value()->balance == written[number].balance);
    }
    CHECK(engine.read(ledgers, "there").value()->label == "as it was");
    CHECK(engine.read(ledgers, "l2").value()->balance == 2);
    // A repeated call creates no record.
    auto const again = engine.create_all(ledgers, written);
    CHECK(again.created == 0);
    CHECK(again.existing == 29);
    auto const none = engine.create_all(ledgers, std::vector<ledger>{});
    CHECK(none.created == 0);
    CHECK(none.problem.empty());
}

TEST_CASE_TEMPLATE_DEFINE("engine: a range of records ends with a stop or an exception", Fixture,
                          suite_create_all_ends) {
    Fixture fixture;
    auto engine = suite_engine(fixture.database_here());
    std::vector<ledger> written;
    for (int number = 0; number < 10; ++number) {
        written.push_back({"l" + std::to_string(number), number, 0, ""});
    }
    batch_options in_waves;
    in_waves.window = 4;
    SUBCASE("by a stop: the wave under way is answered") {
        std::stop_source stop;
        in_waves.stop = stop.get_token();
        std::size_t reported = 0;
        auto const report = engine.create_all(
            ledgers, written,
            [&](std::size_t, result<void> const&) {
                if (++reported == 2) stop.request_stop();
            },
            in_waves);
        CHECK(reported == 4);
        CHECK(report.created == 4);
        CHECK(report.problem.code == errc::stopped);
    }
    SUBCASE("by the callback") {
        std::size_t reported = 0;
        CHECK_THROWS_AS(static_cast<void>(engine.create_all(
                            ledgers, written,
                            [&](std::size_t, result<void> const&) {
                                if (++reported == 2) throw std::runtime_error{"enough"};
                            },
                            in_waves)),
                        std::runtime_error);
        CHECK(reported == 4);
        CHECK(engine.read(ledgers, "l3").value().has_value());
        CHECK_FALSE(engine.read(ledgers, "l4").value().has_value());
    }
    SUBCASE("by the range") {
        auto const failing = ranges::views::transform(written, [](ledger const& ledger) {
            if (ledger.id == "l6") throw std::runtime_error{"no more"};
            return ledger;
        });
        CHECK_THROWS_AS(static_cast<void>(engine.create_all(ledgers, failing, in_waves)),
                        std::runtime_error);
        CHECK(engine.read(ledgers, "l5").value().has_value());
        CHECK_FALSE(engine.read(ledgers, "l6").value().has_value());
    }
    CHECK(engine.marks().value() == 0);
}

} // namespace testing
SETTLE_END
#endif
