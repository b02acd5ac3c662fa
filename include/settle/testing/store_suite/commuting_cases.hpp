// SPDX-License-Identifier: BSL-1.0
// The store suite: commuting effects.
#pragma once

#include <settle/testing/store_suite/bench.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

[[nodiscard]] inline adjust change_balance(std::int64_t now, std::int64_t later,
                                           std::int64_t least = no_least,
                                           std::int64_t most = no_most) {
    return {"A", now, later, 0, 0, least, most};
}
[[nodiscard]] inline adjust change_units(std::int64_t now, std::int64_t later) {
    return {"A", 0, 0, now, later, no_least, no_most};
}

TEST_CASE_TEMPLATE_DEFINE("store: one mark is set, adopted, fenced and pulled", Fixture,
                          suite_one_mark) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 7, "a"});
    adjust const parameters{"A", -30, 4, 2, -1, 30, no_most};
    auto const balance = [&] { return bench.read(ledgers, "A")->balance; };

    CHECK(bench.template apply<adjust_type>("t", parameters, 5) == "applied");
    CHECK(balance() == 70);
    CHECK(bench.read(ledgers, "A")->units == 9);
    CHECK(bench.epochs() == "5");

    SUBCASE("again under the same epoch: no second effect") {
        CHECK(bench.template apply<adjust_type>("t", parameters, 5) == "applied");
        CHECK(balance() == 70);
        CHECK(bench.epochs() == "5");
    }
    SUBCASE("adopted under a higher epoch, and then fenced under the lower") {
        CHECK(bench.template apply<adjust_type>("t", parameters, 9) == "applied");
        CHECK(balance() == 70);
        CHECK(bench.epochs() == "9");
        CHECK(bench.template apply<adjust_type>("t", parameters, 5) == "fenced");
        CHECK(bench.template apply<adjust_type>("t", parameters, 8) == "fenced");
        CHECK(balance() == 70);
        CHECK(bench.epochs() == "9");
    }
    SUBCASE("adopted even if the guard would no longer hold") {
        adjust const other{"A", 0, 0, 0, 0, 1000, no_most};
        CHECK(bench.template apply<adjust_type>("t", other, 6) == "applied");
        CHECK(balance() == 70);
    }
    SUBCASE("confirmed under the committed epoch") {
        CHECK(bench.template confirm<adjust_type>("t", parameters, 5) == "applied");
        CHECK(balance() == 74);
        CHECK(bench.read(ledgers, "A")->units == 8);
        CHECK(bench.marks().empty());
        CHECK(bench.template confirm<adjust_type>("t", parameters, 5) == "nothing");
        CHECK(balance() == 74);
    }
    SUBCASE("stray: a mark of a lower epoch than the committed one is undone") {
        CHECK(bench.template confirm<adjust_type>("t", parameters, 6) == "applied");
        CHECK(balance() == 100);
        CHECK(bench.read(ledgers, "A")->units == 7);
        CHECK(bench.marks().empty());
    }
    SUBCASE("a mark above the committed epoch is left, since it belongs to a later use") {
        CHECK(bench.template confirm<adjust_type>("t", parameters, 4) == "nothing");
        CHECK(balance() == 70);
        CHECK(bench.epochs() == "5");
    }
    SUBCASE("compensated under any epoch") {
        CHECK(bench.template compensate<adjust_type>("t", parameters) == "applied");
        CHECK(balance() == 100);
        CHECK(bench.read(ledgers, "A")->units == 7);
        CHECK(bench.marks().empty());
        CHECK(bench.template compensate<adjust_type>("t", parameters) == "nothing");
        CHECK(balance() == 100);
    }
    SUBCASE("backed off only under exactly its epoch") {
        CHECK(bench.template back_off<adjust_type>("t", parameters, 4) == "nothing");
        CHECK(bench.template back_off<adjust_type>("t", parameters, 6) == "nothing");
        CHECK(balance() == 70);
        CHECK(bench.epochs() == "5");
        CHECK(bench.template back_off<adjust_type>("t", parameters, 5) == "applied");
        CHECK(balance() == 100);
        CHECK(bench.marks().empty());
    }
    SUBCASE("a mark of another transaction is another mark") {
        CHECK(bench.template compensate<adjust_type>("u", parameters) == "nothing");
        CHECK(bench.template apply<adjust_type>("u", parameters, 3) == "applied");
        CHECK(balance() == 40);
        CHECK(bench.epochs() == "3 5");
        CHECK(bench.template confirm<adjust_type>("t", parameters, 5) == "applied");
        CHECK(balance() == 44);
        CHECK(bench.epochs() == "3");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a missing record has nothing to undo", Fixture, suite_no_record) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    adjust const adjust = change_balance(1, 0);
    CHECK(bench.template apply<adjust_type>("t", adjust, 5) == "record missing");
    CHECK(bench.template confirm<adjust_type>("t", adjust, 5) == "nothing");
    CHECK(bench.template compensate<adjust_type>("t", adjust) == "nothing");
    CHECK(bench.template back_off<adjust_type>("t", adjust, 5) == "nothing");
    CHECK_FALSE(bench.read(ledgers, "A").has_value());
    bench.create(ledgers, {"A", 0, 0, ""});
    CHECK(bench.template apply<adjust_type>("t", adjust, 5) == "applied");
}

TEST_CASE_TEMPLATE_DEFINE("store: a lower bound holds for every outcome of other marks", Fixture,
                          suite_lower_bound) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, ""});
    auto const at_least = [&](std::int64_t least) {
        std::string const answers =
            bench.template apply<adjust_type>("probe", change_balance(0, 0, least), 1);
        bench.template compensate<adjust_type>("probe", change_balance(0, 0));
        return answers;
    };
    CHECK(at_least(100) == "applied");
    CHECK(at_least(101) == "guard failed");
    // the changes at apply and at confirm, and the lowest balance that is still possible
    struct shape {
        std::int64_t now, later, least;
    };
    for (shape const& effect_shape :
         {shape{-60, 0, 40}, shape{60, 0, 100}, shape{0, -60, 40}, shape{0, 60, 100},
          shape{-60, 60, 40}, shape{60, -60, 100}, shape{60, -100, 60}, shape{-60, -10, 30}}) {
        INFO("another transaction has ", effect_shape.now, " now and ", effect_shape.later,
             " later");
        adjust const other = change_balance(effect_shape.now, effect_shape.later);
        REQUIRE(bench.template apply<adjust_type>("other", other, 7) == "applied");
        CHECK(at_least(effect_shape.least) == "applied");
        CHECK(at_least(effect_shape.least + 1) == "guard failed");
        REQUIRE(bench.template compensate<adjust_type>("other", other) == "applied");
        CHECK(bench.read(ledgers, "A")->balance == 100);
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: an upper bound holds for every outcome of other marks", Fixture,
                          suite_upper_bound) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, ""});
    auto const at_most = [&](std::int64_t most) {
        std::string const answers =
            bench.template apply<adjust_type>("probe", change_balance(0, 0, no_least, most), 1);
        bench.template compensate<adjust_type>("probe", change_balance(0, 0));
        return answers;
    };
    CHECK(at_most(100) == "applied");
    CHECK(at_most(99) == "guard failed");
    struct shape {
        std::int64_t now, later, most;
    };
    for (shape const& effect_shape :
         {shape{60, 0, 160}, shape{-60, 0, 100}, shape{0, 60, 160}, shape{0, -60, 100},
          shape{60, -60, 160}, shape{-60, 60, 100}, shape{-60, 100, 140}, shape{60, 10, 170}}) {
        INFO("another transaction has ", effect_shape.now, " now and ", effect_shape.later,
             " later");
        adjust const other = change_balance(effect_shape.now, effect_shape.later);
        REQUIRE(bench.template apply<adjust_type>("other", other, 7) == "applied");
        CHECK(at_most(effect_shape.most) == "applied");
        CHECK(at_most(effect_shape.most - 1) == "guard failed");
        REQUIRE(bench.template compensate<adjust_type>("other", other) == "applied");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a bound counts the sum of many marks", Fixture,
                          suite_many_marks) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 400, 0, ""});
    bench.create(ledgers, {"B", 0, 0, ""});
    move const ten{"A", "B", 10};
    // A store may keep the sum of so many marks instead of reading each.
    for (int i = 0; i < 40; ++i) {
        CHECK(bench.template apply<move_type>("t" + std::to_string(i), ten, 3) ==
              "applied, applied");
    }
    CHECK(bench.template apply<move_type>("one too many", ten, 3) == "guard failed, applied");
    CHECK(bench.template compensate<move_type>("one too many", ten) == "nothing, applied");
    // Uncommitted credits and possible refunds cannot be spent.
    CHECK(bench.template apply<move_type>("back", {"B", "A", 1}, 3) == "guard failed, applied");
    CHECK(bench.template compensate<move_type>("back", {"B", "A", 1}) == "nothing, applied");
    CHECK(bench.template compensate<move_type>("t0", ten) == "applied, applied");
    CHECK(bench.template confirm<move_type>("t1", ten, 3) == "applied, applied");
    CHECK(bench.read(ledgers, "A")->balance == 10);
    CHECK(bench.read(ledgers, "B")->balance == 10);
    CHECK(bench.template apply<move_type>("back", {"B", "A", 10}, 3) == "applied, applied");
    CHECK(bench.read(ledgers, "B")->balance == 0);
}

TEST_CASE_TEMPLATE_DEFINE("store: a bound counts the marks of the earlier parts of its wave",
                          Fixture, suite_bound_in_wave) {
    // Each wave is the first of its session, so that the store has no reason to read first.
    auto const answers_of = [](adjust const& first, adjust const& second) {
        Fixture fixture;
        bench<typename Fixture::database> bench{fixture.database_here()};
        bench.create(ledgers, {"A", 100, 0, ""});
        part_wave wave{step::apply};
        wave.add<forward<adjust_type>>("first", first, 5);
        wave.add<forward<adjust_type>>("second", second, 5);
        bench.send(wave);
        bench.check();
        return wave.answers(0) + ", " + wave.answers(1);
    };
    auto const changes = [](std::int64_t now, std::int64_t later) {
        return adjust{"A", now, later, 0, 0, no_least, no_most};
    };
    auto const needs = [](std::int64_t least, std::int64_t most) {
        return adjust{"A", 1, 0, 0, 0, least, most};
    };
    // A credit may be undone, and a debit may come with the commit.
    CHECK(answers_of(changes(50, 0), needs(101, no_most)) == "applied, guard failed");
    CHECK(answers_of(changes(0, -50), needs(51, no_most)) == "applied, guard failed");
    // A debit may be undone, and a credit may come with the commit.
    CHECK(answers_of(changes(-50, 0), needs(no_least, 99)) == "applied, guard failed");
    CHECK(answers_of(changes(0, 50), needs(no_least, 149)) == "applied, guard failed");
}

TEST_CASE_TEMPLATE_DEFINE("store: a guard other than a bound needs its field free of marks",
                          Fixture, suite_exact_guard) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, "ours"});
    checked const checked{"A", 100, "theirs", 5};
    SUBCASE("alone") {
        CHECK(bench.template apply<checked_type>("t", checked, 2) == "applied");
        CHECK(bench.template confirm<checked_type>("t", checked, 2) == "applied");
        CHECK(bench.read(ledgers, "A")->units == 5);
    }
    SUBCASE("an integer that does not hold") {
        CHECK(bench.template apply<checked_type>("t", {"A", 99, "theirs", 5}, 2) == "guard failed");
    }
    SUBCASE("a text that does not hold") {
        CHECK(bench.template apply<checked_type>("t", {"A", 100, "ours", 5}, 2) == "guard failed");
    }
    SUBCASE("busy while a pending mark may still change the field") {
        // The balance fulfils the guard now, but the other transaction may be compensated.
        adjust const away = change_balance(-10, 0);
        CHECK(bench.template apply<adjust_type>("other", away, 2) == "applied");
        CHECK(bench.template apply<checked_type>("t", {"A", 90, "theirs", 5}, 2) == "busy");
        CHECK(bench.template confirm<adjust_type>("other", away, 2) == "applied");
        CHECK(bench.template apply<checked_type>("t", {"A", 90, "theirs", 5}, 2) == "applied");
    }
    SUBCASE("busy precedes a failed guard") {
        CHECK(bench.template apply<adjust_type>("other", change_balance(0, 1), 2) == "applied");
        CHECK(bench.template apply<checked_type>("t", {"A", 99, "theirs", 5}, 2) == "busy");
    }
    SUBCASE("not busy if the marks change another field, or nothing") {
        CHECK(bench.template apply<adjust_type>("other", change_units(1, 1), 2) == "applied");
        CHECK(bench.template apply<adjust_type>("idle", change_balance(0, 0), 2) == "applied");
        CHECK(bench.template apply<checked_type>("t", checked, 2) == "applied");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a sum that might not fit is refused at apply", Fixture,
                          suite_overflow) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int32_t most_units = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t least_units = std::numeric_limits<std::int32_t>::min();
    auto const probe = [&](adjust const& adjust) {
        std::string const answers = bench.template apply<adjust_type>("t", adjust, 1);
        bench.template compensate<adjust_type>("t", adjust);
        return answers;
    };
    SUBCASE("64 bits from above") {
        bench.create(ledgers, {"A", most - 10, 0, ""});
        CHECK(probe(change_balance(10, 0)) == "applied");
        CHECK(probe(change_balance(11, 0)) == "overflow");
        CHECK(probe(change_balance(0, 10)) == "applied");
        CHECK(probe(change_balance(0, 11)) == "overflow");
        CHECK(probe(change_balance(5, 6)) == "overflow");
        CHECK(probe(change_balance(most, 0)) == "overflow");
        CHECK(probe(change_balance(0, most)) == "overflow");
        // The marks of other transactions count: their debits may be compensated.
        REQUIRE(bench.template apply<adjust_type>("other", change_balance(-20, 0), 1) == "applied");
        CHECK(probe(change_balance(10, 0)) == "applied");
        CHECK(probe(change_balance(11, 0)) == "overflow");
        REQUIRE(bench.template confirm<adjust_type>("other", change_balance(-20, 0), 1) ==
                "applied");
        CHECK(probe(change_balance(30, 0)) == "applied");
        CHECK(probe(change_balance(31, 0)) == "overflow");
    }
    SUBCASE("64 bits from below") {
        bench.create(ledgers, {"A", least + 10, 0, ""});
        CHECK(probe(change_balance(-10, 0)) == "applied");
        CHECK(probe(change_balance(-11, 0)) == "overflow");
        CHECK(probe(change_balance(0, -11)) == "overflow");
        REQUIRE(bench.template apply<adjust_type>("other", change_balance(0, -5), 1) == "applied");
        CHECK(probe(change_balance(-5, 0)) == "applied");
        CHECK(probe(change_balance(-6, 0)) == "overflow");
    }
    SUBCASE("32 bits from above") {
        bench.create(ledgers, {"A", 0, most_units - 1, ""});
        CHECK(probe(change_units(1, 0)) == "applied");
        CHECK(probe(change_units(2, 0)) == "overflow");
        CHECK(probe(change_units(0, 2)) == "overflow");
        CHECK(probe(change_units(std::int64_t{1} << 32, 0)) == "overflow");
        REQUIRE(bench.template apply<adjust_type>("other", change_units(0, 1), 1) == "applied");
        CHECK(probe(change_units(1, 0)) == "overflow");
        CHECK(probe(change_units(-1, 0)) == "applied");
    }
    SUBCASE("32 bits from below, and the way back") {
        bench.create(ledgers, {"A", 0, least_units, ""});
        CHECK(probe(change_units(-1, 0)) == "overflow");
        CHECK(probe(change_units(0, -1)) == "overflow");
        CHECK(probe(change_units(1, -1)) == "applied");
        CHECK(probe(change_units(1, -2)) == "overflow");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a range may name one record twice", Fixture, suite_range) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, ""});
    bench.create(shelves, {-1, 10});
    bench.create(shelves, {2, 10});
    order const parameters{"A", 40, {{-1, 4}, {2, 10}, {-1, 5}}};
    CHECK(bench.template apply<order_type>("t", parameters, 3) ==
          "applied, applied, applied, applied");
    CHECK(bench.read(shelves, -1)->amount == 1);
    CHECK(bench.marks().size() == 4);
    SUBCASE("every line is adopted separately") {
        CHECK(bench.template apply<order_type>("t", parameters, 4) ==
              "applied, applied, applied, applied");
        CHECK(bench.epochs() == "4 4 4 4");
        CHECK(bench.read(shelves, -1)->amount == 1);
    }
    SUBCASE("confirmed, every line once") {
        CHECK(bench.template confirm<order_type>("t", parameters, 3) ==
              "applied, applied, applied, applied");
        CHECK(bench.read(shelves, -1)->amount == 1);
        CHECK(bench.read(shelves, 2)->amount == 0);
    }
    SUBCASE("undone, every line once") {
        CHECK(bench.template compensate<order_type>("t", parameters) ==
              "applied, applied, applied, applied");
        CHECK(bench.read(shelves, -1)->amount == 10);
        CHECK(bench.read(shelves, 2)->amount == 10);
        CHECK(bench.read(ledgers, "A")->balance == 100);
    }
    SUBCASE("the second line sees the effect of the first line") {
        CHECK(bench.template apply<order_type>("u", {"A", 1, {{-1, 1}, {-1, 1}, {7, 1}}}, 3) ==
              "applied, applied, guard failed, record missing");
    }
    SUBCASE("no line at all") {
        CHECK(bench.template apply<order_type>("u", {"A", 1, {}}, 3) == "applied");
    }
    SUBCASE("more parts than are kept in place") {
        order many{"A", 1, {}};
        for (int i = 0; i < 40; ++i) many.lines.push_back({i % 2 == 0 ? -1 : 2, 0});
        bench.template apply<order_type>("many", many, 3);
        CHECK(bench.marks().size() == 45);
        bench.template confirm<order_type>("many", many, 3);
        CHECK(bench.marks().size() == 4);
    }
}

} // namespace testing
SETTLE_END
#endif
