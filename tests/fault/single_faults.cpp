// SPDX-License-Identifier: BSL-1.0
// One fault of every kind at every call of a transaction; then another engine recovers and sweeps.
#include "scene.hpp"

#include <tuple>

namespace settle_test {
namespace {

/// When a late write arrives.
enum class arrival { never, before_recovery, after_recovery, after_sweep };

/// A story without faults: its outcome, and the records before and after it.
struct usual_end {
    std::size_t calls = 0;
    outcome end;
    std::string before;
    std::string after;
};

template <typename Prepare, typename Run>
usual_end without_fault(Prepare const& prepare, Run const& run) {
    memory_database db;
    manual_environment const time;
    auto plain = engine_on(db, time);
    open_records(plain);
    prepare(plain);
    usual_end usual;
    usual.before = snapshot(plain);
    faulty fragile{db};
    auto engine = engine_on(fragile, time);
    usual.end = run(engine);
    usual.calls = fragile.calls();
    usual.after = snapshot(plain);
    check_settled(plain, {usual.end});
    return usual;
}

/// Runs the story with one fault. False if the run ended before the call that was to fail.
template <typename Prepare, typename Run>
bool with_fault(Prepare const& prepare, Run const& run, usual_end const& usual, std::size_t number,
                fault_kind kind, std::uint64_t operations, arrival when) {
    INFO("fault: ", std::string{name_of(kind)}, " at call ", number, ", operations ", operations,
         ", a late write arrives at moment ", static_cast<int>(when));
    memory_database db;
    manual_environment const time{number};
    auto plain = engine_on(db, time);
    open_records(plain);
    prepare(plain);
    faulty fragile{db};
    std::vector<outcome> outcomes;
    {
        onlooker watch{db};
        auto const fault_plan = fault_at(number, kind, operations);
        fragile.plan([&](call const& call) {
            watch.look();
            return fault_plan(call);
        });
        auto engine = engine_on(fragile, time);
        try {
            outcomes.push_back(run(engine));
        } catch (crash const&) {
        }
        fragile.plan({});
    }
    if (fragile.calls() < number) return false;
    // A single fault other than a crash never changes the outcome of a transaction.
    if (!is_crash(kind)) {
        REQUIRE(outcomes.size() == 1);
        CHECK(outcomes.front() == usual.end);
    }
    if (when == arrival::before_recovery) fragile.deliver_late();
    time.advance(1s);
    auto const recovered = plain.recover(of_any_age());
    CHECK(recovered.skipped.empty());
    CHECK(recovered.problem.empty());
    CHECK(recovered.elsewhere == 0);
    CHECK(plain.work().skipped.empty());
    if (when == arrival::after_recovery) fragile.deliver_late();
    CHECK(plain.sweep().problem.empty());
    if (when == arrival::after_sweep && fragile.deliver_late() != 0) {
        time.advance(1s);
        plain.recover(of_any_age());
        plain.sweep();
    }
    check_settled(plain, outcomes);
    auto const entry = plain.find(usual.end.id).value();
    bool const ran = entry && entry->state == settle::state::done;
    CHECK(snapshot(plain) == (ran ? usual.after : usual.before));
    if (usual.end.canceled()) CHECK_FALSE(ran);
    bool const is_bar = entry && entry->state == settle::state::barred;
    if (entry && !is_bar && usual.end.done()) CHECK(ran);
    return true;
}

/// Shape:   prepare - the entries before the run; run - the calls that may fail, and their outcome
template <typename Prepare, typename Run>
void each_fault(Prepare const& prepare, Run const& run) {
    usual_end const usual = without_fault(prepare, run);
    REQUIRE(usual.calls >= 3);
    std::size_t hits = 0;
    for (fault_kind const kind : every_kind) {
        for (std::uint64_t const operations :
             {~std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{1}}) {
            for (arrival const when : {arrival::never, arrival::before_recovery,
                                       arrival::after_recovery, arrival::after_sweep}) {
                if (kind != fault_kind::late && when != arrival::never) continue;
                for (std::size_t number = 1; number <= usual.calls; ++number) {
                    hits += with_fault(prepare, run, usual, number, kind, operations, when);
                }
            }
        }
    }
    CHECK(hits >= usual.calls * 6);
}

auto const nothing_before = [](auto&) {};

} // namespace

TEST_CASE("fault: a transfer fails once at every call") {
    each_fault(nothing_before, [](auto& engine) { return engine.run("t", move{"A", "B", 30}); });
}

TEST_CASE("fault: an uncovered transfer fails once at every call") {
    each_fault(nothing_before, [](auto& engine) { return engine.run("t", move{"A", "B", 101}); });
}

TEST_CASE("fault: an order with two lines of one record fails once at every call") {
    each_fault(nothing_before, [](auto& engine) {
        return engine.run("t", order{"A", 30, {{1, 5}, {2, 20}, {1, 15}}});
    });
}

TEST_CASE("fault: an order whose third line is refused fails once at every call") {
    each_fault(nothing_before, [](auto& engine) {
        outcome const outcome = engine.run("t", order{"A", 30, {{1, 5}, {2, 20}, {1, 16}}});
        CHECK(outcome.participant == "stock");
        CHECK(outcome.line == 2U);
        return outcome;
    });
}

TEST_CASE("fault: rewriting a record fails once at every call") {
    each_fault(nothing_before,
               [](auto& engine) { return engine.run("t", rewrite{first_card(), second_card()}); });
}

TEST_CASE("fault: creating a record fails once at every call") {
    each_fault(nothing_before, [](auto& engine) { return engine.run("t", issue{new_card()}); });
}

TEST_CASE("fault: creating an existing record fails once at every call") {
    each_fault(nothing_before, [](auto& engine) { return engine.run("t", issue{first_card()}); });
}

TEST_CASE("fault: erasing a record fails once at every call") {
    each_fault(nothing_before, [](auto& engine) { return engine.run("t", withdraw{"c", true}); });
}

TEST_CASE("fault: working off submitted transactions fails once at every call") {
    each_fault([](auto& engine) { std::ignore = engine.submit("t", move{"A", "B", 30}); },
               [](auto& engine) {
                   engine.work();
                   // A round that failed leaves the rest to the next round.
                   engine.work();
                   return engine.run("t", move{"A", "B", 30});
               });
}

TEST_CASE("fault: reversing a transfer fails once at every call") {
    each_fault([](auto& engine) { REQUIRE(engine.run("t", move{"A", "B", 30}).done()); },
               [](auto& engine) {
                   outcome actual = engine.reverse("t");
                   // The entry of the original is read once and not again when that fails.
                   if (actual.verdict == verdict::undecided) actual = engine.reverse("t");
                   return actual;
               });
}

TEST_CASE("fault: reversing a rewritten record fails once at every call") {
    each_fault(
        [](auto& engine) { REQUIRE(engine.run("t", rewrite{first_card(), second_card()}).done()); },
        [](auto& engine) {
            outcome actual = engine.reverse("t");
            if (actual.verdict == verdict::undecided) actual = engine.reverse("t");
            return actual;
        });
}

TEST_CASE("fault: reversing an erase fails once at every call") {
    each_fault([](auto& engine) { REQUIRE(engine.run("t", withdraw{"c", true}).done()); },
               [](auto& engine) {
                   outcome actual = engine.reverse("t");
                   if (actual.verdict == verdict::undecided) actual = engine.reverse("t");
                   return actual;
               });
}

} // namespace settle_test
