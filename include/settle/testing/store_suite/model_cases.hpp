// SPDX-License-Identifier: BSL-1.0
// The store suite: random waves and waves of many transactions, compared with the record rule.
#pragma once

#include <settle/testing/store_suite/bench.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

[[nodiscard]] inline card random_card(std::mt19937_64& random) {
    auto const small = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    };
    card card;
    card.id = std::string(1, static_cast<char>('a' + small(3)));
    card.holder = small(2) == 0 ? "Anna" : "Bára";
    card.open = small(2) == 0;
    card.shade = small(2) == 0 ? colour::red : colour::blue;
    card.opened = whole_second{std::chrono::seconds{small(3)}};
    if (small(3) != 0) card.credit = small(2);
    if (small(3) != 0) card.note = std::string(static_cast<std::size_t>(small(2)), 'n');
    card.points = small(3);
    card.visits = static_cast<std::int32_t>(small(3));
    return card;
}

/// Few records and small values, so that the transactions conflict often.
template <typename Bench>
void send_random_waves(Bench& bench, std::uint64_t seed, int waves) {
    std::mt19937_64 random{seed};
    auto const number = [&](std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
    };
    auto const name = [&] { return std::string(1, static_cast<char>('A' + number(0, 3))); };
    for (char const* id : {"A", "B", "C"}) bench.create(ledgers, {id, 50, 0, "old"});
    bench.create(shelves, {1, 20});
    bench.create(shelves, {-7, 20});
    card first = random_card(random);
    first.id = "a";
    bench.create(cards, first);

    random_pool<forward<move_type>> moves{"m", 5,
                                          [&] { return move{name(), name(), number(0, 30)}; }};
    random_pool<forward<adjust_type>> sums{
        "s", 6, [&] {
            return adjust{name(),        number(-20, 20), number(-20, 20), number(-5, 5),
                          number(-5, 5), number(0, 60),   number(40, 120)};
        }};
    random_pool<forward<checked_type>> checks{
        "k", 3, [&] { return checked{name(), number(49, 51), "new", number(0, 3)}; }};
    random_pool<forward<order_type>> orders{
        "o", 4, [&] {
            return order{
                name(), number(0, 20), {{1, number(0, 9)}, {-7, number(0, 9)}, {1, number(0, 9)}}};
        }};
    random_pool<forward<relabel_type>> labels{"l", 2, [&] { return relabel{name(), "new"}; }};
    random_pool<forward<tally_type>> tallies{"y", 3,
                                             [&] { return tally{name(), name(), number(0, 3)}; }};
    random_pool<forward<rewrite_type>> rewrites{
        "r", 5, [&] { return rewrite{random_card(random), random_card(random)}; }};
    random_pool<forward<issue_type>> issues{"i", 4, [&] { return issue{random_card(random)}; }};
    random_pool<forward<withdraw_type>> erasures{
        "w", 4, [&] { return withdraw{random_card(random).id, number(0, 1) == 0}; }};
    random_pool<forward<exchange_type>> exchanges{"x", 3,
                                                  [&] { return exchange{random_card(random)}; }};
    for (int wave = 0; wave < waves; ++wave) {
        INFO("seed ", seed, ", wave ", wave);
        switch (number(0, 10)) {
        case 0: moves.send_wave(bench, random); break;
        case 1:
        case 2: sums.send_wave(bench, random); break;
        case 3: checks.send_wave(bench, random); break;
        case 4: orders.send_wave(bench, random); break;
        case 5: labels.send_wave(bench, random); break;
        case 6: tallies.send_wave(bench, random); break;
        case 7: rewrites.send_wave(bench, random); break;
        case 8: issues.send_wave(bench, random); break;
        case 9: erasures.send_wave(bench, random); break;
        default: exchanges.send_wave(bench, random); break;
        }
        bench.check();
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: random waves agree with the pure rule", Fixture, suite_random) {
    for (std::uint64_t const seed : {1U, 2U, 3U, 4U, 5U}) {
        Fixture fixture;
        bench<typename Fixture::database> on{fixture.database_here()};
        send_random_waves(on, seed, 120);
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: each of a thousand transactions of a wave has its own answer",
                          Fixture, suite_wave) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"hot", 300, 0, ""});
    bench.create(ledgers, {"cold", 0, 0, ""});
    constexpr std::size_t count = 1000;
    auto const id_of = [](std::size_t i) { return "t" + std::to_string(i); };
    // Every tenth transaction names a missing record.
    auto const names_missing = [](std::size_t i) { return i % 10 == 9; };
    part_wave applied{step::apply};
    for (std::size_t i = 0; i < count; ++i) {
        applied.add<forward<move_type>>(id_of(i), {names_missing(i) ? "nobody" : "hot", "cold", 1},
                                        5);
    }
    bench.send(applied);
    bench.check();
    std::size_t taken = 0;
    for (std::size_t i = 0; i < count; ++i) {
        INFO("transaction ", i);
        if (names_missing(i)) {
            CHECK(applied.answers(i) == "record missing, applied");
        } else if (taken < 300) {
            // The parts on a record keep their order; the first 300 use up the balance.
            CHECK(applied.answers(i) == "applied, applied");
            ++taken;
        } else {
            CHECK(applied.answers(i) == "guard failed, applied");
        }
    }
    CHECK(taken == 300);
    CHECK(bench.read(ledgers, "hot")->balance == 0);

    // One wave confirms half of the transactions, and another compensates the other half.
    part_wave confirmed{step::confirm};
    part_wave undone{step::compensate};
    for (std::size_t i = 0; i < count; ++i) {
        move const given{"hot", "cold", 1};
        if (i % 2 == 0) confirmed.add<forward<move_type>>(id_of(i), given, 9, 5);
        else undone.add<forward<move_type>>(id_of(i), given, 9);
    }
    bench.send(confirmed);
    bench.send(undone);
    bench.check();
}

TEST_CASE_TEMPLATE_DEFINE("store: a call executes exactly its requested parts", Fixture,
                          suite_due) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, ""});
    bench.create(ledgers, {"B", 100, 0, ""});
    part_wave second{step::apply};
    second.add<forward<move_type>>("t", {"A", "B", 10}, 5);
    second.requests().erase(second.requests().begin());
    bench.send(second);
    CHECK(second.answers(0) == "applied");
    CHECK(bench.marks().size() == 1);
    bench.check();
    part_wave both{step::apply};
    both.add<forward<move_type>>("t", {"A", "B", 10}, 5);
    bench.send(both);
    CHECK(both.answers(0) == "applied, applied");
    CHECK(bench.marks().size() == 2);
    bench.check();
    part_wave none{step::apply};
    bench.send(none);
    bench.check();
}

TEST_CASE_TEMPLATE_DEFINE("store: one call executes parts of several types and collections",
                          Fixture, suite_mixed_wave) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, ""});
    bench.create(ledgers, {"B", 0, 0, ""});
    bench.create(shelves, {1, 10});
    bench.create(shelves, {2, 10});
    card expected;
    expected.id = "c";
    expected.holder = "Anna";
    expected.open = true;
    bench.create(cards, expected);
    card fresh = expected;
    fresh.id = "d";
    auto const fill = [&](part_wave& wave, epoch number, epoch committed) {
        wave.add<forward<move_type>>("move", {"A", "B", 10}, number, committed);
        wave.add<forward<order_type>>("order", {"A", 20, {{1, 4}, {2, 4}, {1, 4}}}, number,
                                      committed);
        wave.add<forward<withdraw_type>>("withdraw", {"c", true}, number, committed);
        wave.add<forward<order_type>>("too much", {"B", 1, {{2, 7}}}, number, committed);
        wave.add<forward<issue_type>>("issue", {fresh}, number, committed);
        wave.add<forward<move_type>>("nobody", {"A", "nobody", 1}, number, committed);
        wave.add<forward<order_type>>("no line", {"A", 1, {}}, number, committed);
    };
    part_wave applied{step::apply};
    fill(applied, 5, 0);
    bench.send(applied);
    bench.check();
    CHECK(applied.answers(0) == "applied, applied");
    CHECK(applied.answers(1) == "applied, applied, applied, applied");
    CHECK(applied.answers(2) == "applied");
    CHECK(applied.answers(3) == "guard failed, guard failed");
    CHECK(applied.answers(4) == "applied");
    CHECK(applied.answers(5) == "applied, record missing");
    CHECK(applied.answers(6) == "applied");
    SUBCASE("confirmed") {
        part_wave confirmed{step::confirm};
        fill(confirmed, 105, 5);
        bench.send(confirmed);
        CHECK(confirmed.answers(3) == "nothing, nothing");
        CHECK(confirmed.answers(5) == "applied, nothing");
        CHECK_FALSE(bench.read(cards, "c").has_value());
        CHECK(bench.read(ledgers, "B")->balance == 10);
    }
    SUBCASE("compensated") {
        part_wave undone{step::compensate};
        fill(undone, 9, 0);
        bench.send(undone);
        CHECK(undone.answers(1) == "applied, applied, applied, applied");
        CHECK(bench.read(ledgers, "A")->balance == 100);
    }
    SUBCASE("backed off, each under its own epoch") {
        part_wave undone{step::back_off};
        fill(undone, 5, 0);
        for (part_request& one : undone.requests()) {
            if (*one.id == "move") one.epoch_number = 6;
        }
        bench.send(undone);
        CHECK(undone.answers(0) == "nothing, nothing");
        CHECK(undone.answers(1) == "applied, applied, applied, applied");
        CHECK(bench.marks().size() == 2);
    }
    bench.check();
}

} // namespace testing
SETTLE_END
#endif
