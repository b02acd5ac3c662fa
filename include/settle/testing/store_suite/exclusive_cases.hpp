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
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(cards, plain_card());
    rewrite const parameters{plain_card(), other_card()};
    auto const stored = [&] { return encode_json(*bench.read(cards, "c")); };
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

    CHECK(bench.template apply<rewrite_type>("t", parameters, 5) == "applied");
    CHECK(stored() == encode_json(pending));
    REQUIRE(bench.images().size() == 1);
    image const first = bench.images().front();
    CHECK(first.after == encode_json(settled));
    CHECK(encode_json(decode_json<card>(first.before, json_form::row).value()) == before);

    SUBCASE("sent again, and adopted: no effect, the same image") {
        CHECK(bench.template apply<rewrite_type>("t", parameters, 5) == "applied");
        CHECK(bench.images() == std::vector<image>{first});
        CHECK(bench.template apply<rewrite_type>("t", parameters, 8) == "applied");
        CHECK(bench.images() == std::vector<image>{first});
        CHECK(stored() == encode_json(pending));
        CHECK(bench.epochs() == "8");
        CHECK(bench.template apply<rewrite_type>("t", parameters, 5) == "fenced");
        CHECK(bench.images().empty());
    }
    SUBCASE("other parts are busy until it ends") {
        rewrite const other{pending, plain_card()};
        CHECK(bench.template apply<rewrite_type>("u", other, 5) == "busy");
        CHECK(bench.template apply<withdraw_type>("u", {"c", false}, 5) == "busy");
        CHECK(bench.template apply<exchange_type>("u", {plain_card()}, 5) == "busy");
        CHECK(bench.template apply<issue_type>("u", {plain_card()}, 5) == "busy");
        CHECK(bench.template compensate<rewrite_type>("t", parameters) == "applied");
        CHECK(bench.template apply<withdraw_type>("u", {"c", true}, 5) == "applied");
    }
    SUBCASE("confirmed") {
        CHECK(bench.template confirm<rewrite_type>("t", parameters, 5) == "applied");
        CHECK(stored() == encode_json(settled));
        CHECK(bench.marks().empty());
        CHECK(bench.template confirm<rewrite_type>("t", parameters, 5) == "nothing");
    }
    SUBCASE("stray: undone exactly") {
        CHECK(bench.template confirm<rewrite_type>("t", parameters, 6) == "applied");
        CHECK(stored() == before);
        CHECK(bench.marks().empty());
    }
    SUBCASE("compensated exactly") {
        CHECK(bench.template compensate<rewrite_type>("t", parameters) == "applied");
        CHECK(stored() == before);
        CHECK(bench.marks().empty());
    }
    SUBCASE("backed off exactly") {
        CHECK(bench.template back_off<rewrite_type>("t", parameters, 4) == "nothing");
        CHECK(stored() == encode_json(pending));
        CHECK(bench.template back_off<rewrite_type>("t", parameters, 5) == "applied");
        CHECK(stored() == before);
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: every guard of an assignment is checked", Fixture,
                          suite_assignment_guards) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    card const full{"c", "Anna", true, colour::red, at_second(1000), 250, "note", 10, 3};
    card const empty{"c", "", false, colour::green, at_second(0), std::nullopt, std::nullopt, 0, 0};
    auto const refused = [&](card const& card, auto change) {
        rewrite rewrite{card, other_card()};
        change(rewrite.old);
        CHECK(bench.template apply<rewrite_type>("t", rewrite, 5) == "guard failed");
        CHECK(bench.images().empty());
    };
    for (card const& original : {full, empty}) {
        CAPTURE(original.holder);
        bench.create(cards, original);
        refused(original, [](card& old) { old.holder += ' '; });
        refused(original, [](card& old) { old.open = !old.open; });
        refused(original, [](card& old) { old.shade = colour::blue; });
        refused(original, [](card& old) { old.opened -= std::chrono::seconds{1}; });
        refused(original, [](card& old) { old.credit = old.credit.value_or(0) + 1; });
        refused(original, [](card& old) {
            old.credit = old.credit ? std::nullopt : std::optional<std::int64_t>{0};
        });
        refused(original, [](card& old) { old.note = old.note.value_or("") + "!"; });
        refused(original, [](card& old) {
            old.note = old.note ? std::nullopt : std::optional<std::string>{""};
        });
        refused(original, [](card& old) { ++old.points; });
        // Bounds need not be met exactly.
        rewrite parameters{original, other_card()};
        parameters.old.points -= 5;
        parameters.old.opened += std::chrono::seconds{5};
        CHECK(bench.template apply<rewrite_type>("t", parameters, 5) == "applied");
        CHECK(bench.template compensate<rewrite_type>("t", parameters) == "applied");
        CHECK(bench.template apply<withdraw_type>("gone", {"c", original.open}, 5) == "applied");
        CHECK(bench.template confirm<withdraw_type>("gone", {"c", original.open}, 5) == "applied");
    }
    rewrite const none{full, full};
    CHECK(bench.template apply<rewrite_type>("t", none, 5) == "record missing");
}

TEST_CASE_TEMPLATE_DEFINE("store: sums beside assignments are checked", Fixture,
                          suite_exclusive_sums) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    card card = plain_card();
    card.visits = std::numeric_limits<std::int32_t>::max() - 1;
    card.points = std::numeric_limits<std::int64_t>::max() - 1;
    bench.create(cards, card);
    auto const probe = [&](std::int32_t visits, std::int64_t points) {
        rewrite rewrite{card, other_card()};
        rewrite.fresh.visits = visits;
        rewrite.fresh.points = points;
        std::string const answers = bench.template apply<rewrite_type>("t", rewrite, 5);
        bench.template compensate<rewrite_type>("t", rewrite);
        return answers;
    };
    CHECK(probe(1, 1) == "applied");
    CHECK(probe(2, 0) == "overflow");
    CHECK(probe(0, 2) == "overflow");
    CHECK(probe(0, std::numeric_limits<std::int64_t>::max()) == "overflow");
    CHECK(probe(-1, 0) == "guard failed");
    CHECK(probe(0, -1) == "guard failed");
    CHECK(encode_json(*bench.read(cards, "c")) == encode_json(card));
}

TEST_CASE_TEMPLATE_DEFINE("store: commuting and exclusive parts make each other busy", Fixture,
                          suite_exclusive_and_commuting) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, "old"});
    adjust const sum{"A", -1, 0, 0, 0, no_least, no_most};
    SUBCASE("an assignment at confirm beside a sum") {
        CHECK(bench.template apply<adjust_type>("sum", sum, 2) == "applied");
        CHECK(bench.template apply<relabel_type>("t", {"A", "new"}, 2) == "busy");
        CHECK(bench.template confirm<adjust_type>("sum", sum, 2) == "applied");
        CHECK(bench.template apply<relabel_type>("t", {"A", "new"}, 2) == "applied");
    }
    SUBCASE("a sum beside an assignment at confirm") {
        CHECK(bench.template apply<relabel_type>("t", {"A", "new"}, 2) == "applied");
        // Readers see the old value until the transaction is confirmed.
        CHECK(bench.read(ledgers, "A")->label == "old");
        CHECK(bench.template apply<adjust_type>("sum", sum, 2) == "busy");
        CHECK(bench.template apply<relabel_type>("u", {"A", "third"}, 2) == "busy");
        CHECK(bench.template confirm<relabel_type>("t", {"A", "new"}, 2) == "applied");
        CHECK(bench.read(ledgers, "A")->label == "new");
        CHECK(bench.template apply<adjust_type>("sum", sum, 2) == "applied");
    }
    SUBCASE("an assignment at confirm that is undone was never seen") {
        CHECK(bench.template apply<relabel_type>("t", {"A", "new"}, 2) == "applied");
        CHECK(bench.template compensate<relabel_type>("t", {"A", "new"}) == "applied");
        CHECK(bench.read(ledgers, "A")->label == "old");
    }
    SUBCASE("busy precedes a failed guard, and follows fenced and adopted") {
        CHECK(bench.template apply<relabel_type>("t", {"A", "new"}, 4) == "applied");
        CHECK(bench.template apply<move_type>("u", {"A", "A", 1000}, 4) == "busy, busy");
        CHECK(bench.template apply<relabel_type>("t", {"A", "new"}, 3) == "fenced");
        CHECK(bench.template apply<relabel_type>("t", {"A", "new"}, 5) == "applied");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: two parts of one transaction on one record", Fixture,
                          suite_two_parts) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, "old"});
    bench.create(ledgers, {"B", 100, 0, "old"});
    tally const twice{"A", "A", 2};
    CHECK(bench.template apply<tally_type>("t", twice, 5) == "applied, two parts name one record");
    // Also when another transaction keeps the record busy, because a retry cannot succeed.
    CHECK(bench.template apply<adjust_type>("other", {"A", 1, 0, 0, 0, no_least, no_most}, 5) ==
          "applied");
    CHECK(bench.template apply<tally_type>("t", twice, 6) == "applied, two parts name one record");
    CHECK(bench.template compensate<tally_type>("t", twice) == "applied, nothing");
    CHECK(bench.template apply<tally_type>("u", {"A", "B", 2}, 5) == "applied, applied");
    CHECK(bench.read(ledgers, "B")->label == "tally");
    CHECK(bench.template confirm<tally_type>("u", {"A", "B", 2}, 5) == "applied, applied");
    // Two commuting parts may share a record.
    CHECK(bench.template apply<move_type>("v", {"B", "B", 100}, 5) == "applied, applied");
    CHECK(bench.template confirm<move_type>("v", {"B", "B", 100}, 5) == "applied, applied");
    CHECK(bench.read(ledgers, "B")->balance == 100);
}

TEST_CASE_TEMPLATE_DEFINE("store: a record is created", Fixture, suite_create) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    issue const issue{other_card()};
    CHECK(bench.template apply<issue_type>("t", issue, 5) == "applied");
    CHECK(encode_json(*bench.read(cards, "c")) == encode_json(other_card()));
    REQUIRE(bench.images().size() == 1);
    CHECK(bench.images().front().before.empty());
    CHECK(bench.images().front().after == encode_json(other_card()));
    SUBCASE("sent again, adopted, fenced") {
        CHECK(bench.template apply<issue_type>("t", issue, 5) == "applied");
        CHECK(bench.template apply<issue_type>("t", issue, 6) == "applied");
        CHECK(bench.images().size() == 1);
        CHECK(bench.template apply<issue_type>("t", issue, 5) == "fenced");
        CHECK(bench.epochs() == "6");
    }
    SUBCASE("confirmed: the record stays, and the next part can use it") {
        CHECK(bench.template confirm<issue_type>("t", issue, 5) == "applied");
        CHECK(bench.read(cards, "c").has_value());
        CHECK(bench.template apply<issue_type>("u", {plain_card()}, 5) == "record exists");
        CHECK(encode_json(*bench.read(cards, "c")) == encode_json(other_card()));
    }
    SUBCASE("undone in any way: the record is erased") {
        std::string answers;
        SUBCASE("compensated") { answers = bench.template compensate<issue_type>("t", issue); }
        SUBCASE("stray") { answers = bench.template confirm<issue_type>("t", issue, 6); }
        SUBCASE("backed off") { answers = bench.template back_off<issue_type>("t", issue, 5); }
        CHECK(answers == "applied");
        CHECK_FALSE(bench.read(cards, "c").has_value());
        CHECK(bench.marks().empty());
        CHECK(bench.template apply<withdraw_type>("u", {"c", false}, 5) == "record missing");
        CHECK(bench.template apply<issue_type>("u", {plain_card()}, 5) == "applied");
    }
    SUBCASE("other parts are busy while it is pending") {
        CHECK(bench.template apply<issue_type>("u", {plain_card()}, 5) == "busy");
        CHECK(bench.template apply<withdraw_type>("u", {"c", false}, 5) == "busy");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a record is erased", Fixture, suite_erase) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(cards, plain_card());
    withdraw const withdraw{"c", true};
    CHECK(bench.template apply<withdraw_type>("t", {"c", false}, 5) == "guard failed");
    CHECK(bench.template apply<withdraw_type>("t", {"d", true}, 5) == "record missing");
    CHECK(bench.template apply<withdraw_type>("t", withdraw, 5) == "applied");
    REQUIRE(bench.images().size() == 1);
    CHECK(bench.images().front().after.empty());
    // The record stays until confirm, because it carries the mark.
    CHECK(encode_json(*bench.read(cards, "c")) == encode_json(plain_card()));
    SUBCASE("confirmed: the record and its mark are erased") {
        CHECK(bench.template confirm<withdraw_type>("t", withdraw, 5) == "applied");
        CHECK_FALSE(bench.read(cards, "c").has_value());
        CHECK(bench.marks().empty());
        CHECK(bench.template confirm<withdraw_type>("t", withdraw, 5) == "nothing");
        CHECK(bench.template apply<withdraw_type>("t", withdraw, 4) == "record missing");
        CHECK(bench.template apply<issue_type>("u", {other_card()}, 5) == "applied");
    }
    SUBCASE("undone: the record is unchanged") {
        std::string answers;
        SUBCASE("compensated") {
            answers = bench.template compensate<withdraw_type>("t", withdraw);
        }
        SUBCASE("stray") { answers = bench.template confirm<withdraw_type>("t", withdraw, 6); }
        SUBCASE("backed off") {
            answers = bench.template back_off<withdraw_type>("t", withdraw, 5);
        }
        CHECK(answers == "applied");
        CHECK(encode_json(*bench.read(cards, "c")) == encode_json(plain_card()));
        CHECK(bench.marks().empty());
    }
    SUBCASE("other parts are busy while it is pending") {
        CHECK(bench.template apply<withdraw_type>("u", withdraw, 5) == "busy");
        CHECK(bench.template apply<issue_type>("u", {other_card()}, 5) == "busy");
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a record is replaced", Fixture, suite_replace) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    exchange const exchange{other_card()};
    CHECK(bench.template apply<exchange_type>("t", exchange, 5) == "record missing");
    bench.create(cards, plain_card());
    CHECK(bench.template apply<exchange_type>("t", exchange, 5) == "applied");
    CHECK(encode_json(*bench.read(cards, "c")) == encode_json(other_card()));
    SUBCASE("confirmed") {
        CHECK(bench.template confirm<exchange_type>("t", exchange, 5) == "applied");
        CHECK(encode_json(*bench.read(cards, "c")) == encode_json(other_card()));
    }
    SUBCASE("compensated: every member is restored") {
        CHECK(bench.template compensate<exchange_type>("t", exchange) == "applied");
        CHECK(encode_json(*bench.read(cards, "c")) == encode_json(plain_card()));
    }
    SUBCASE("a late write after the end is undone and leaves no trace") {
        CHECK(bench.template confirm<exchange_type>("t", exchange, 5) == "applied");
        CHECK(bench.template apply<exchange_type>("t", {plain_card()}, 4) == "applied");
        CHECK(encode_json(*bench.read(cards, "c")) == encode_json(plain_card()));
        CHECK(bench.template confirm<exchange_type>("t", exchange, 5) == "applied");
        CHECK(encode_json(*bench.read(cards, "c")) == encode_json(other_card()));
        CHECK(bench.marks().empty());
    }
    CHECK(bench.marks().size() <= 1);
}

} // namespace testing
SETTLE_END
#endif
