// SPDX-License-Identifier: BSL-1.0
// The store suite: exclusive effects.
#pragma once

#include <settle/testing/store_suite/bench.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

[[nodiscard]] inline whole_second at_second(std::int64_t count) {
    return whole_second{std::chrono::seconds{count}};
}

[[nodiscard]] inline card plain_card() {
    return {"c", "Anna", true, colour::red, at_second(1000), 250, std::nullopt, 10, 3};
}
[[nodiscard]] inline card other_card() {
    return {"c", "Žofie \"Ö\"", false, colour::blue, at_second(-5), std::nullopt, "a\nnote", 4, 2};
}

TEST_CASE_TEMPLATE_DEFINE("store: an assignment needs a record without marks", Fixture,
                          suite_assignment) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    on.create(cards, plain_card());
    rewrite const given{plain_card(), other_card()};
    auto const here = [&] { return encode_json(*on.read(cards, "c")); };
    std::string const before = encode_json(plain_card());
    // Apply changes holder, open, credit and visits; confirm changes the other fields.
    card pending = plain_card();
    pending.holder = other_card().holder;
    pending.open = false;
    pending.credit = std::nullopt;
    pending.visits = 5;
    card settled = other_card();
    settled.points = 14;
    settled.visits = 5;

    CHECK(on.template apply<rewrite_type>("t", given, 5) == "applied");
    CHECK(here() == encode_json(pending));
    REQUIRE(on.images().size() == 1);
    image const first = on.images().front();
    CHECK(first.after == encode_json(settled));
    CHECK(encode_json(decode_json<card>(first.before, json_form::row).value()) == before);

    SUBCASE("sent again, and adopted: no effect, the same image") {
        CHECK(on.template apply<rewrite_type>("t", given, 5) == "applied");
        CHECK(on.images() == std::vector<image>{first});
        CHECK(on.template apply<rewrite_type>("t", given, 8) == "applied");
        CHECK(on.images() == std::vector<image>{first});
        CHECK(here() == encode_json(pending));
        CHECK(on.epochs() == "8");
        CHECK(on.template apply<rewrite_type>("t", given, 5) == "fenced");
        CHECK(on.images().empty());
    }
    SUBCASE("other parts are busy until it ends") {
        rewrite const other{pending, plain_card()};
        CHECK(on.template apply<rewrite_type>("u", other, 5) == "busy");
        CHECK(on.template apply<withdraw_type>("u", {"c", false}, 5) == "busy");
        CHECK(on.template apply<exchange_type>("u", {plain_card()}, 5) == "busy");
        CHECK(on.template apply<issue_type>("u", {plain_card()}, 5) == "busy");
        CHECK(on.template compensate<rewrite_type>("t", given) == "applied");
        CHECK(on.template apply<withdraw_type>("u", {"c", true}, 5) == "applied");
    }
    SUBCASE("confirmed") {
        CHECK(on.template confirm<rewrite_type>("t", given, 5) == "applied");
        CHECK(here() == encode_json(settled));
        CHECK(on.marks().empty());
        CHECK(on.template confirm<rewrite_type>("t", given, 5) == "nothing");
    }
    SUBCASE("stray: undone exactly") {
        CHECK(on.template confirm<rewrite_type>("t", given, 6) == "applied");
        CHECK(here() == before);
        CHECK(on.marks().empty());
    }
    SUBCASE("compensated exactly") {
        CHECK(on.template compensate<rewrite_type>("t", given) == "applied");
        CHECK(here() == before);
        CHECK(on.marks().empty());
    }
    SUBCASE("backed off exactly") {
        CHECK(on.template back_off<rewrite_type>("t", given, 4) == "nothing");
        CHECK(here() == encode_json(pending));
        CHECK(on.template back_off<rewrite_type>("t", given, 5) == "applied");
        CHECK(here() == before);
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: every guard of an assignment is checked", Fixture,
                          suite_assignment_guards) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    card const full{"c", "Anna", true, colour::red, at_second(1000), 250, "note", 10, 3};
    card const empty{"c", "", false, colour::green, at_second(0), std::nullopt, std::nullopt, 0, 0};
    auto const refused = [&](card const& here, auto change) {
        rewrite given{here, other_card()};
        change(given.old);
        CHECK(on.template apply<rewrite_type>("t", given, 5) == "guard failed");
        CHECK(on.images().empty());
    };
    for (card const& here : {full, empty}) {
        CAPTURE(here.holder);
        on.create(cards, here);
        refused(here, [](card& old) { old.holder += ' '; });
        refused(here, [](card& old) { old.open = !old.open; });
        refused(here, [](card& old) { old.shade = colour::blue; });
        refused(here, [](card& old) { old.opened -= std::chrono::seconds{1}; });
        refused(here, [](card& old) { old.credit = old.credit.value_or(0) + 1; });
        refused(here, [](card& old) {
            old.credit = old.credit ? std::nullopt : std::optional<std::int64_t>{0};
        });
        refused(here, [](card& old) { old.note = old.note.value_or("") + "!"; });
        refused(here, [](card& old) {
            old.note = old.note ? std::nullopt : std::optional<std::string>{""};
        });
        refused(here, [](card& old) { ++old.points; });
        // Bounds need not be met exactly.
        rewrite given{here, other_card()};
        given.old.points -= 5;
        given.old.opened += std::chrono::seconds{5};
        CHECK(on.template apply<rewrite_type>("t", given, 5) == "applied");
        CHECK(on.template compensate<rewrite_type>("t", given) == "applied");
        CHECK(on.template apply<withdraw_type>("gone", {"c", here.open}, 5) == "applied");
        CHECK(on.template confirm<withdraw_type>("gone", {"c", here.open}, 5) == "applied");
    }
    rewrite const none{full, full};
    CHECK(on.template apply<rewrite_type>("t", none, 5) == "record missing");
}

TEST_CASE_TEMPLATE_DEFINE("store: sums beside assignments are checked", Fixture,
                          suite_exclusive_sums) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    card here = plain_card();
    here.visits = std::numeric_limits<std::int32_t>::max() - 1;
    here.points = std::numeric_limits<std::int64_t>::max() - 1;
    on.create(cards, here);
    auto const probe = [&](std::int32_t visits, std::int64_t points) {
        rewrite given{here, other_card()};
        given.fresh.visits = visits;
        given.fresh.points = points;
        std::string const answers = on.template apply<rewrite_type>("t", given, 5);
        on.template compensate<rewrite_type>("t", given);
        return answers;
    };
    CHECK(probe(1, 1) == "applied");
    CHECK(probe(2, 0) == "overflow");
    CHECK(probe(0, 2) == "overflow");
    CHECK(probe(0, std::numeric_limits<std::int64_t>::max()) == "overflow");
    CHECK(probe(-1, 0) == "guard failed");
    CHECK(probe(0, -1) == "guard failed");
    CHECK(encode_json(*on.read(cards, "c")) == encode_json(here));
}

TEST_CASE_TEMPLATE_DEFINE("store: commuting and exclusive parts make each other busy", Fixture,
                          suite_exclusive_and_commuting) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    on.create(ledgers, {"A", 100, 0, "old"});
    adjust const sum{"A", -1, 0, 0, 0, no_least, no_most};
    SUBCASE("an assignment at confirm beside a sum") {
        CHECK(on.template apply<adjust_type>("sum", sum, 2) == "applied");
        CHECK(on.template apply<relabel_type>("t", {"A", "new"}, 2) == "busy");
        CHECK(on.template confirm<adjust_type>("sum", sum, 2) == "applied");
        CHECK(on.template apply<relabel_type>("t", {"A", "new"}, 2) == "applied");
    }
    SUBCASE("a sum beside an assignment at confirm") {
        CHECK(on.template apply<relabel_type>("t", {"A", "new"}, 2) == "applied");
        // Readers see the old value until the transaction is confirmed.
        CHECK(on.read(ledgers, "A")->label == "old");
        CHECK(on.template apply<adjust_type>("sum", sum, 2) == "busy");
        CHECK(on.template apply<relabel_type>("u", {"A", "third"}, 2) == "busy");
        CHECK(on.template confirm<relabel_type>("t", {"A", "new"}, 2) == "applied");
        CHECK(on.read(ledgers, "A")->label == "new");
        CHECK(on.template apply<adjust_type>("sum", sum, 2) == "applied");
    }
    SUBCASE("an assignment at confirm that is undone was never seen") {
        CHECK(on.template apply<relabel_type>("t", {"A", "new"}, 2) == "applied");
        CHECK(on.template compensate<relabel_type>("t", {"A", "new"}) == "applied");
        CHECK(on.read(ledgers, "A")->label == "old");
    }
    SUBCASE("busy precedes a failed guard, and follows fenced and adopted") {
        CHECK(on.template apply<relabel_type>("t", {"A", "new"}, 4) == "applied");
        CHECK(on.template apply<move_type>("u", {"A", "A", 1000}, 4) == "busy, busy");
        CHECK(on.template apply<relabel_type>("t", {"A", "new"}, 3) == "fenced");
        CHECK(on.template apply<relabel_type>("t", {"A", "new"}, 5) == "applied");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: two parts of one transaction on one record", Fixture,
                          suite_two_parts) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    on.create(ledgers, {"A", 100, 0, "old"});
    on.create(ledgers, {"B", 100, 0, "old"});
    tally const twice{"A", "A", 2};
    CHECK(on.template apply<tally_type>("t", twice, 5) == "applied, two parts name one record");
    // Also when another transaction keeps the record busy, because a retry cannot succeed.
    CHECK(on.template apply<adjust_type>("other", {"A", 1, 0, 0, 0, no_least, no_most}, 5) ==
          "applied");
    CHECK(on.template apply<tally_type>("t", twice, 6) == "applied, two parts name one record");
    CHECK(on.template compensate<tally_type>("t", twice) == "applied, nothing");
    CHECK(on.template apply<tally_type>("u", {"A", "B", 2}, 5) == "applied, applied");
    CHECK(on.read(ledgers, "B")->label == "tally");
    CHECK(on.template confirm<tally_type>("u", {"A", "B", 2}, 5) == "applied, applied");
    // Two commuting parts may share a record.
    CHECK(on.template apply<move_type>("v", {"B", "B", 100}, 5) == "applied, applied");
    CHECK(on.template confirm<move_type>("v", {"B", "B", 100}, 5) == "applied, applied");
    CHECK(on.read(ledgers, "B")->balance == 100);
}

TEST_CASE_TEMPLATE_DEFINE("store: a record is created", Fixture, suite_create) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    issue const given{other_card()};
    CHECK(on.template apply<issue_type>("t", given, 5) == "applied");
    CHECK(encode_json(*on.read(cards, "c")) == encode_json(other_card()));
    REQUIRE(on.images().size() == 1);
    CHECK(on.images().front().before.empty());
    CHECK(on.images().front().after == encode_json(other_card()));
    SUBCASE("sent again, adopted, fenced") {
        CHECK(on.template apply<issue_type>("t", given, 5) == "applied");
        CHECK(on.template apply<issue_type>("t", given, 6) == "applied");
        CHECK(on.images().size() == 1);
        CHECK(on.template apply<issue_type>("t", given, 5) == "fenced");
        CHECK(on.epochs() == "6");
    }
    SUBCASE("confirmed: the record stays, and the next part can use it") {
        CHECK(on.template confirm<issue_type>("t", given, 5) == "applied");
        CHECK(on.read(cards, "c").has_value());
        CHECK(on.template apply<issue_type>("u", {plain_card()}, 5) == "record exists");
        CHECK(encode_json(*on.read(cards, "c")) == encode_json(other_card()));
    }
    SUBCASE("undone in any way: the record is erased") {
        std::string answers;
        SUBCASE("compensated") { answers = on.template compensate<issue_type>("t", given); }
        SUBCASE("stray") { answers = on.template confirm<issue_type>("t", given, 6); }
        SUBCASE("backed off") { answers = on.template back_off<issue_type>("t", given, 5); }
        CHECK(answers == "applied");
        CHECK_FALSE(on.read(cards, "c").has_value());
        CHECK(on.marks().empty());
        CHECK(on.template apply<withdraw_type>("u", {"c", false}, 5) == "record missing");
        CHECK(on.template apply<issue_type>("u", {plain_card()}, 5) == "applied");
    }
    SUBCASE("other parts are busy while it is pending") {
        CHECK(on.template apply<issue_type>("u", {plain_card()}, 5) == "busy");
        CHECK(on.template apply<withdraw_type>("u", {"c", false}, 5) == "busy");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a record is erased", Fixture, suite_erase) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    on.create(cards, plain_card());
    withdraw const given{"c", true};
    CHECK(on.template apply<withdraw_type>("t", {"c", false}, 5) == "guard failed");
    CHECK(on.template apply<withdraw_type>("t", {"d", true}, 5) == "record missing");
    CHECK(on.template apply<withdraw_type>("t", given, 5) == "applied");
    REQUIRE(on.images().size() == 1);
    CHECK(on.images().front().after.empty());
    // The record stays until confirm, because it carries the mark.
    CHECK(encode_json(*on.read(cards, "c")) == encode_json(plain_card()));
    SUBCASE("confirmed: the record and its mark are erased") {
        CHECK(on.template confirm<withdraw_type>("t", given, 5) == "applied");
        CHECK_FALSE(on.read(cards, "c").has_value());
        CHECK(on.marks().empty());
        CHECK(on.template confirm<withdraw_type>("t", given, 5) == "nothing");
        CHECK(on.template apply<withdraw_type>("t", given, 4) == "record missing");
        CHECK(on.template apply<issue_type>("u", {other_card()}, 5) == "applied");
    }
    SUBCASE("undone: the record is unchanged") {
        std::string answers;
        SUBCASE("compensated") { answers = on.template compensate<withdraw_type>("t", given); }
        SUBCASE("stray") { answers = on.template confirm<withdraw_type>("t", given, 6); }
        SUBCASE("backed off") { answers = on.template back_off<withdraw_type>("t", given, 5); }
        CHECK(answers == "applied");
        CHECK(encode_json(*on.read(cards, "c")) == encode_json(plain_card()));
        CHECK(on.marks().empty());
    }
    SUBCASE("other parts are busy while it is pending") {
        CHECK(on.template apply<withdraw_type>("u", given, 5) == "busy");
        CHECK(on.template apply<issue_type>("u", {other_card()}, 5) == "busy");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a record is replaced", Fixture, suite_replace) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    exchange const given{other_card()};
    CHECK(on.template apply<exchange_type>("t", given, 5) == "record missing");
    on.create(cards, plain_card());
    CHECK(on.template apply<exchange_type>("t", given, 5) == "applied");
    CHECK(encode_json(*on.read(cards, "c")) == encode_json(other_card()));
    SUBCASE("confirmed") {
        CHECK(on.template confirm<exchange_type>("t", given, 5) == "applied");
        CHECK(encode_json(*on.read(cards, "c")) == encode_json(other_card()));
    }
    SUBCASE("compensated: every member is restored") {
        CHECK(on.template compensate<exchange_type>("t", given) == "applied");
        CHECK(encode_json(*on.read(cards, "c")) == encode_json(plain_card()));
    }
    SUBCASE("a late write after the end is undone and leaves no trace") {
        CHECK(on.template confirm<exchange_type>("t", given, 5) == "applied");
        CHECK(on.template apply<exchange_type>("t", {plain_card()}, 4) == "applied");
        CHECK(encode_json(*on.read(cards, "c")) == encode_json(plain_card()));
        CHECK(on.template confirm<exchange_type>("t", given, 5) == "applied");
        CHECK(encode_json(*on.read(cards, "c")) == encode_json(other_card()));
        CHECK(on.marks().empty());
    }
    CHECK(on.marks().size() <= 1);
}

} // namespace testing
SETTLE_END
#endif
