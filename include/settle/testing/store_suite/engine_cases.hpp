// SPDX-License-Identifier: BSL-1.0
// The store suite: the engine on this store, as a user sees it.
#pragma once

#include <settle/testing/store_suite/access_cases.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

template <typename Database>
auto suite_engine(Database& database) {
    return engine{database,         type<move_type>,  type<order_type>,    type<rewrite_type>,
                  type<issue_type>, type<tally_type>, type<withdraw_type>, type<exchange_type>};
}

template <typename Engine>
void open_suite_records(Engine& engine) {
    engine.create(ledgers, {"A", 100, 0, ""}).value();
    engine.create(ledgers, {"B", 0, 0, ""}).value();
    engine.create(shelves, {1, 10}).value();
    engine.create(cards, plain_card()).value();
}

TEST_CASE_TEMPLATE_DEFINE("engine: every outcome has its reason", Fixture, suite_outcomes) {
    Fixture fixture;
    auto engine = suite_engine(fixture.database_here());
    open_suite_records(engine);
    auto const text = [](outcome const& result) {
        // Without the text of the error.
        outcome shown = result;
        shown.problem = {};
        return shown.text();
    };
    CHECK(text(engine.run("t1", move{"A", "B", 30})) == "t1: done");
    CHECK(text(engine.run("t2", move{"A", "B", 71})) == "t2: canceled (source: guard failed)");
    CHECK(text(engine.run("t3", move{"A", "C", 1})) ==
          "t3: canceled (destination: record missing)");
    CHECK(text(engine.run("t4", move{"C", "D", 1})) == "t4: canceled (source: record missing)");
    CHECK(text(engine.run("t5", issue{plain_card()})) == "t5: canceled (card: record exists)");
    CHECK(text(engine.run("t6", tally{"A", "A", 1})) ==
          "t6: canceled (labelled: two parts name one record)");
    CHECK(text(engine.run("t7", tally{"A", "B", std::int64_t{1} << 40})) ==
          "t7: canceled (counted: overflow)");
    CHECK(text(engine.run("t8", order{"A", 1, {{1, 6}, {1, 5}}})) ==
          "t8: canceled (stock line 2: guard failed)");
    CHECK(text(engine.run("t9", move{"A", "B", -1})) == "t9: refused (source: guard failed)");
    CHECK_FALSE(engine.find("t9").value().has_value());
    CHECK(engine.read(ledgers, "A").value()->balance == 70);
    CHECK(engine.read(ledgers, "B").value()->balance == 30);
    CHECK(engine.read(ledgers, "A").value()->units == 0);
    CHECK(engine.read(shelves, 1).value()->amount == 10);
    CHECK(engine.marks().value() == 0);
    // A repeated id returns the same outcome without a second effect; with other parameters it is
    // refused.
    CHECK(text(engine.run("t1", move{"A", "B", 30})) == "t1: done");
    CHECK(text(engine.run("t2", move{"A", "B", 71})) == "t2: canceled (source: guard failed)");
    CHECK(engine.run("t1", move{"A", "B", 31}).problem.code == errc::id_in_use);
    CHECK(engine.run("t1", withdraw{"c", true}).problem.code == errc::id_in_use);
    CHECK(engine.read(ledgers, "A").value()->balance == 70);
    auto const kept = engine.find("t8").value().value();
    CHECK(kept.state == state::canceled);
    CHECK(kept.why == reason::guard_failed);
    CHECK(kept.participant == "stock");
    CHECK(kept.line == 1U);
}

TEST_CASE_TEMPLATE_DEFINE("engine: a batch ends as its transactions would end one by one", Fixture,
                          suite_batch) {
    Fixture fixture;
    auto& database = fixture.database_here();
    auto engine = suite_engine(database);
    open_suite_records(engine);
    auto in_two_phases = settle::engine{database, type<move_type>, two_phases};
    auto const check = [&](auto& runs, std::string const& prefix) {
        using element = std::pair<transaction_id, move>;
        // All transactions are in flight together, and each needs the end of the one before it.
        std::vector<element> const elements{
            {prefix + "empty", {"B", "A", 1}},     {prefix + "all", {"A", "B", 100}},
            {prefix + "nothing", {"A", "B", 1}},   {prefix + "some back", {"B", "A", 60}},
            {prefix + "all", {"A", "B", 100}},     {prefix + "some", {"A", "B", 60}},
            {prefix + "all back", {"B", "A", 100}}};
        batch_options options;
        options.window = elements.size();
        auto const outcomes = runs.run_all(elements, options);
        REQUIRE(outcomes.size() == elements.size());
        for (std::size_t number = 0; number < elements.size(); ++number) {
            INFO(outcomes[number].text());
            CHECK(outcomes[number].id == elements[number].first);
            CHECK(outcomes[number].canceled() == (number == 0 || number == 2));
            CHECK(outcomes[number].done() == (number != 0 && number != 2));
        }
        CHECK(runs.read(ledgers, "A").value()->balance == 100);
        CHECK(runs.read(ledgers, "B").value()->balance == 0);
        CHECK(runs.marks().value() == 0);
    };
    check(engine, "");
    check(in_two_phases, "two phases, ");
}

TEST_CASE_TEMPLATE_DEFINE("engine: submitted transactions are run or canceled", Fixture,
                          suite_work) {
    Fixture fixture;
    auto engine = suite_engine(fixture.database_here());
    open_suite_records(engine);
    CHECK(engine.submit("a", move{"A", "B", 10}).verdict == verdict::undecided);
    CHECK(engine.submit("b", move{"A", "B", 1000}).verdict == verdict::undecided);
    CHECK(engine.submit("c", move{"A", "B", 20}).verdict == verdict::undecided);
    CHECK(engine.read(ledgers, "A").value()->balance == 100);
    CHECK(engine.cancel("c").canceled());
    auto const report = engine.work();
    CHECK(report.done == 1);
    CHECK(report.canceled == 1);
    CHECK(engine.read(ledgers, "B").value()->balance == 10);
    CHECK(engine.submit("a", move{"A", "B", 10}).done());
    CHECK(engine.cancel("a").done());
    CHECK(engine.cancel("nobody").problem.code == errc::unknown_id);
    cancel_options even;
    even.even_if_unknown = true;
    CHECK(engine.cancel("nobody", even).canceled());
    CHECK(engine.run("nobody", move{"A", "B", 10}).why == reason::cancel_asked);
    CHECK(engine.read(ledgers, "B").value()->balance == 10);
}

TEST_CASE_TEMPLATE_DEFINE("engine: every kind of effect can be reversed", Fixture, suite_reverse) {
    Fixture fixture;
    auto engine = suite_engine(fixture.database_here());
    open_suite_records(engine);
    auto const everything = [&] {
        return encode_json(engine.template scan_page<ledgers_type>(std::nullopt, 99).value()) +
               encode_json(engine.template scan_page<shelves_type>(std::nullopt, 99).value()) +
               encode_json(engine.template scan_page<cards_type>(std::nullopt, 99).value());
    };
    std::string const before = everything();
    card fresh = other_card();
    auto const forth_and_back = [&](auto const& parameters) {
        REQUIRE(engine.run("t", parameters).done());
        CHECK(everything() != before);
        CHECK(engine.reverse("t").done());
        CHECK(everything() == before);
        CHECK(engine.reverse("t").id == "t/reverse");
        CHECK(everything() == before);
    };
    SUBCASE("sums") { forth_and_back(move{"A", "B", 30}); }
    SUBCASE("a range") { forth_and_back(order{"A", 30, {{1, 3}, {1, 4}}}); }
    SUBCASE("assignments") { forth_and_back(rewrite{plain_card(), fresh}); }
    SUBCASE("a creation") {
        fresh.id = "fresh";
        forth_and_back(issue{fresh});
    }
    SUBCASE("an erase") { forth_and_back(withdraw{"c", true}); }
    SUBCASE("a replacement") { forth_and_back(exchange{fresh}); }
    SUBCASE("refused while the gain is spent, and possible again later") {
        REQUIRE(engine.run("t", move{"A", "B", 30}).done());
        REQUIRE(engine.run("spent", move{"B", "A", 30}).done());
        outcome const first = engine.reverse("t");
        CHECK(first.canceled());
        CHECK(first.id == "t/reverse");
        REQUIRE(engine.run("earned", move{"A", "B", 30}).done());
        outcome const next = engine.reverse("t");
        CHECK(next.done());
        CHECK(next.id == "t/reverse/2");
        CHECK(engine.read(ledgers, "A").value()->balance == 100);
    }
    SUBCASE("refused if the assigned value has changed") {
        REQUIRE(engine.run("t", rewrite{plain_card(), fresh}).done());
        card now = *engine.read(cards, "c").value();
        now.holder = "another";
        REQUIRE(engine.run("u", exchange{now}).done());
        CHECK(engine.reverse("t").why == reason::guard_failed);
        CHECK(engine.read(cards, "c").value()->holder == "another");
    }
    SUBCASE("refused for a transaction that is not done") {
        REQUIRE(engine.run("t", move{"A", "B", 101}).canceled());
        CHECK(engine.reverse("t").problem.code == errc::not_reversible);
        CHECK(engine.reverse("nobody").problem.code == errc::unknown_id);
    }
    CHECK(engine.marks().value() == 0);
}

TEST_CASE_TEMPLATE_DEFINE("engine: long listings of entries and records", Fixture,
                          suite_long_listings) {
    Fixture fixture;
    auto engine = suite_engine(fixture.database_here());
    // More entries and records than a page holds.
    for (std::int64_t i = 0; i < 300; ++i) {
        engine.create(shelves, {i, 1}).value();
        CHECK(engine.submit("t" + std::to_string(1000 + i), move{"A", "B", 1}).problem.empty());
    }
    std::int64_t next = 0;
    for (shelf const& record : engine.scan(shelves)) CHECK(record.number == next++);
    CHECK(next == 300);
    std::int64_t entries = 0;
    for (entry const& listed : engine.list())
        CHECK(listed.id == "t" + std::to_string(1000 + entries++));
    CHECK(entries == 300);
    entries = 0;
    for (entry const& listed : engine.list({}, 7)) entries += listed.id.empty() ? 0 : 1;
    CHECK(entries == 7);
    for (entry const& listed : engine.list(state::done, std::chrono::milliseconds{0})) {
        FAIL("nothing is done, but ", listed.id, " is listed");
    }
}

} // namespace testing
SETTLE_END
#endif
