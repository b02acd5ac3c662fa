// SPDX-License-Identifier: BSL-1.0
// The store suite: random waves and waves of many jobs, compared with the record rule.
#pragma once

#include <settle/testing/store_suite/bench.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

[[nodiscard]] inline card random_card(std::mt19937_64& chance) {
    auto const small = [&](std::int64_t most) {
        return static_cast<std::int64_t>(chance() % static_cast<std::uint64_t>(most));
    };
    card made;
    made.id = std::string(1, static_cast<char>('a' + small(3)));
    made.holder = small(2) == 0 ? "Anna" : "Bára";
    made.open = small(2) == 0;
    made.shade = small(2) == 0 ? colour::red : colour::blue;
    made.opened = whole_second{std::chrono::seconds{small(3)}};
    if (small(3) != 0) made.credit = small(2);
    if (small(3) != 0) made.note = std::string(static_cast<std::size_t>(small(2)), 'n');
    made.points = small(3);
    made.visits = static_cast<std::int32_t>(small(3));
    return made;
}

/// Few records and small values, so that the transactions conflict often.
template <typename Bench>
void stir_all(Bench& on, std::uint64_t seed, int waves) {
    std::mt19937_64 chance{seed};
    auto const number = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(
                           chance() % static_cast<std::uint64_t>(most - least + 1));
    };
    auto const name = [&] { return std::string(1, static_cast<char>('A' + number(0, 3))); };
    for (char const* id : {"A", "B", "C"}) on.create(ledgers, {id, 50, 0, "old"});
    on.create(shelves, {1, 20});
    on.create(shelves, {-7, 20});
    card first = random_card(chance);
    first.id = "a";
    on.create(cards, first);

    random_pool<forward<move_type>> moves{"m", 5, [&] {
        return move{name(), name(), number(0, 30)};
    }};
    random_pool<forward<adjust_type>> sums{"s", 6, [&] {
        return adjust{name(), number(-20, 20), number(-20, 20), number(-5, 5), number(-5, 5),
                      number(0, 60), number(40, 120)};
    }};
    random_pool<forward<checked_type>> checks{"k", 3, [&] {
        return checked{name(), number(49, 51), "new", number(0, 3)};
    }};
    random_pool<forward<order_type>> orders{"o", 4, [&] {
        return order{name(), number(0, 20),
                     {{1, number(0, 9)}, {-7, number(0, 9)}, {1, number(0, 9)}}};
    }};
    random_pool<forward<relabel_type>> labels{"l", 2, [&] { return relabel{name(), "new"}; }};
    random_pool<forward<tally_type>> tallies{"y", 3, [&] {
        return tally{name(), name(), number(0, 3)};
    }};
    random_pool<forward<rewrite_type>> rewrites{"r", 5, [&] {
        return rewrite{random_card(chance), random_card(chance)};
    }};
    random_pool<forward<issue_type>> issues{"i", 4, [&] { return issue{random_card(chance)}; }};
    random_pool<forward<withdraw_type>> erasures{"w", 4, [&] {
        return withdraw{random_card(chance).id, number(0, 1) == 0};
    }};
    random_pool<forward<exchange_type>> exchanges{"x", 3, [&] {
        return exchange{random_card(chance)};
    }};
    for (int wave = 0; wave < waves; ++wave) {
        INFO("seed ", seed, ", wave ", wave);
        switch (number(0, 10)) {
        case 0: moves.stir(on, chance); break;
        case 1:
        case 2: sums.stir(on, chance); break;
        case 3: checks.stir(on, chance); break;
        case 4: orders.stir(on, chance); break;
        case 5: labels.stir(on, chance); break;
        case 6: tallies.stir(on, chance); break;
        case 7: rewrites.stir(on, chance); break;
        case 8: issues.stir(on, chance); break;
        case 9: erasures.stir(on, chance); break;
        default: exchanges.stir(on, chance); break;
        }
        on.check();
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: random waves agree with the pure rule", Fixture, suite_random) {
    for (std::uint64_t const seed : {1U, 2U, 3U, 4U, 5U}) {
        Fixture fixture;
        bench<typename Fixture::database> on{fixture.database_here()};
        stir_all(on, seed, 120);
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a wave of a thousand jobs, each answered by itself", Fixture,
                          suite_wave) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    on.create(ledgers, {"hot", 300, 0, ""});
    on.create(ledgers, {"cold", 0, 0, ""});
    constexpr std::size_t count = 1000;
    auto const id_of = [](std::size_t i) { return "t" + std::to_string(i); };
    crowd<forward<move_type>> jobs;
    std::size_t due = 0;
    for (std::size_t i = 0; i < count; ++i) {
        // Every fourth job is at another step; every tenth job names a missing record.
        std::string const source = i % 10 == 9 ? "nobody" : "hot";
        if (i % 4 == 3) jobs.add_at<step::confirm>(id_of(i), {source, "cold", 1}, 9, 5);
        else jobs.add_at<step::apply>(id_of(i), {source, "cold", 1}, 5);
        due += i % 4 != 3 && i % 10 != 9;
    }
    REQUIRE(due > 300);
    on.template send<step::apply>(jobs);
    on.check();
    std::size_t applied = 0;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < count; ++i) {
        auto const& c = jobs.jobs()[i].coordinator;
        INFO("job ", i);
        if (i % 4 == 3) {
            CHECK(words(c, 2) == "none, none");
        } else if (i % 10 == 9) {
            CHECK(words(c, 2) == "record missing, applied");
        } else if (applied < 300) {
            // The jobs on a record keep their order; the first 300 jobs use up the balance.
            CHECK(words(c, 2) == "applied, applied");
            ++applied;
        } else {
            CHECK(words(c, 2) == "guard failed, applied");
            ++failed;
        }
    }
    CHECK(applied == 300);
    CHECK(failed == due - 300);
    CHECK(on.read(ledgers, "hot")->balance == 0);

    // One wave confirms half of the applied jobs, and another compensates the other half.
    crowd<forward<move_type>> confirmed;
    crowd<forward<move_type>> undone;
    for (std::size_t i = 0; i < count; ++i) {
        move const given{"hot", "cold", 1};
        if (i % 2 == 0) confirmed.add_at<step::confirm>(id_of(i), given, 9, 5);
        else undone.add_at<step::compensate>(id_of(i), given, 9);
    }
    on.template send<step::confirm>(confirmed);
    on.template send<step::compensate>(undone);
    on.check();
}

TEST_CASE_TEMPLATE_DEFINE("store: a part that has its answer is not asked again", Fixture,
                          suite_due) {
    Fixture fixture;
    bench<typename Fixture::database> on{fixture.database_here()};
    on.create(ledgers, {"A", 100, 0, ""});
    on.create(ledgers, {"B", 100, 0, ""});
    crowd<forward<move_type>> jobs;
    auto& work = jobs.add_at<step::apply>("t", {"A", "B", 10}, 5);
    work.coordinator.answered(0, answer::unknown);
    on.template send<step::apply>(jobs);
    CHECK(words(work.coordinator, 2) == "unknown, applied");
    CHECK(on.marks().size() == 1);
    on.check();
    work.coordinator.answered(0, answer::unavailable);
    on.template send<step::apply>(jobs);
    CHECK(words(work.coordinator, 2) == "applied, applied");
    CHECK(on.marks().size() == 2);
    on.check();
    crowd<forward<move_type>> none;
    on.template send<step::apply>(none);
    on.check();
}

} // namespace testing
SETTLE_END
#endif
