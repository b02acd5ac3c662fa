// SPDX-License-Identifier: BSL-1.0
// Two workers share one entry. Whatever the second worker does between two calls of the first, no
// transaction ends wrong.
#include "scene.hpp"

#include <tuple>

namespace settle_test {
namespace {

/// Runs `first`; just before its n-th call, `second` acts with another engine. Repeats this for
/// every n.
template <typename First, typename Second>
void at_every_call(First const& first, Second const& second) {
    std::size_t moments = 0;
    for (std::size_t number = 1;; ++number, ++moments) {
        INFO("the second worker comes before call ", number, " of the first");
        memory_database db;
        manual_environment const time{number};
        auto plain = engine_on(db, time);
        open_records(plain);
        onlooker watch{db};
        std::vector<outcome> outcomes;
        faulty fragile{db};
        fragile.plan([&](call const& call) {
            watch.look();
            if (call.number == number) second(plain, time, outcomes);
            return fault{};
        });
        auto engine = engine_on(fragile, time);
        outcomes.push_back(first(engine));
        CHECK(outcomes.back().verdict != verdict::undecided);
        if (fragile.calls() < number) break;
        fragile.plan({});
        // Both workers have finished: no mark is left, even without a sweep.
        CHECK(plain.recover(of_any_age()).skipped.empty());
        check_settled(plain, outcomes);
        std::int64_t sum = 0;
        for (ledger const& one : plain.scan_page<ledgers_type>(std::nullopt, 100).value()) {
            sum += one.balance;
        }
        auto const found = plain.find("t").value().value();
        bool const bought = found.type == "suite_order" && found.state == settle::state::done;
        CHECK(sum == opening_sum - (bought ? 30 : 0));
    }
    CHECK(moments >= 3);
}

template <typename Second>
void for_every_type(Second const& second) {
    SUBCASE("transfer") { at_every_call(transfer, second); }
    SUBCASE("uncovered transfer") { at_every_call(uncovered, second); }
    SUBCASE("order") { at_every_call(purchase, second); }
    SUBCASE("rewritten record") { at_every_call(change, second); }
    SUBCASE("creation") { at_every_call(creation, second); }
    SUBCASE("erase") { at_every_call(erasure, second); }
}

} // namespace

TEST_CASE("takeover: another worker recovers the entry before every call of its owner") {
    for_every_type([](auto& other, manual_environment const& time, std::vector<outcome>&) {
        time.advance(1s);
        CHECK(other.recover(of_any_age()).skipped.empty());
    });
}

TEST_CASE("takeover: another worker cancels before every call of the owner") {
    for_every_type([](auto& other, manual_environment const&, std::vector<outcome>& outcomes) {
        outcome const reply = other.cancel("t");
        if (reply.problem.code != settle::errc::unknown_id) outcomes.push_back(reply);
    });
}

TEST_CASE("takeover: another worker cancels an id that may not be in the log yet") {
    for_every_type([](auto& other, manual_environment const&, std::vector<outcome>& outcomes) {
        settle::cancel_options options;
        options.even_if_unknown = true;
        outcomes.push_back(other.cancel("t", options));
        CHECK(outcomes.back().verdict != verdict::refused);
    });
}

TEST_CASE("takeover: another worker runs the same id before every call of the owner") {
    at_every_call(transfer,
                  [](auto& other, manual_environment const& time, std::vector<outcome>& outcomes) {
                      settle::call_options patient;
                      patient.deadline = 10s;
                      time.advance(1s);
                      outcomes.push_back(other.run("t", move{"A", "B", 30}, patient));
                      CHECK(outcomes.back().done());
                  });
    at_every_call(change,
                  [](auto& other, manual_environment const&, std::vector<outcome>& outcomes) {
                      // The entry's owner is stalled while this worker waits, and the wait ends.
                      outcomes.push_back(other.run("t", rewrite{first_card(), second_card()}));
                      CHECK(outcomes.back().done());
                  });
}

TEST_CASE("takeover: another worker sweeps before every call of the owner") {
    for_every_type([](auto& other, manual_environment const&, std::vector<outcome>&) {
        auto const stored = other.find("t").value();
        auto const swept = other.sweep();
        CHECK(swept.problem.empty());
        // A sweeper ignores the marks of an entry that is under way. Without an entry, it undoes
        // them, and the owner applies them again.
        if (stored && !is_final(stored->state)) CHECK(swept.undone == 0);
    });
}

TEST_CASE("takeover: other parameters under the id are refused before every call of the owner") {
    at_every_call(transfer, [](auto& other, manual_environment const& time, std::vector<outcome>&) {
        time.advance(1s);
        if (!other.find("t").value()) return;
        outcome const reply = other.run("t", move{"A", "B", 31});
        CHECK(reply.verdict == verdict::refused);
        CHECK(reply.problem.code == settle::errc::id_in_use);
        CHECK(other.run("t", withdraw{"c", true}).problem.code == settle::errc::id_in_use);
    });
}

TEST_CASE("takeover: a worker takes over before every call, and ends before every own call") {
    for (std::size_t ends = 2; ends <= 8; ++ends) {
        for (std::size_t number = 2; number <= 8; ++number) {
            INFO("taken over before call ", number, ", and ended before its call ", ends);
            memory_database db;
            manual_environment const time{ends};
            auto plain = engine_on(db, time);
            open_records(plain);
            faulty first{db};
            first.plan([&](call const& call) {
                if (call.number == number) {
                    time.advance(1s);
                    faulty second{db};
                    second.plan(fault_at(ends, fault_kind::crash_before));
                    auto engine = engine_on(second, time);
                    try {
                        engine.recover(of_any_age());
                    } catch (crash const&) {
                    }
                }
                return fault{};
            });
            auto engine = engine_on(first, time);
            // The first worker is fenced, waits, and claims the entry when it has not moved.
            outcome const outcome = engine.run("t", move{"A", "B", 30});
            CHECK(outcome.done());
            check_settled(plain, {outcome});
            CHECK(plain.read(ledgers, "A").value()->balance == 70);
            CHECK(plain.read(ledgers, "B").value()->balance == 130);
        }
    }
}

TEST_CASE("takeover: an expired entry is only canceled, wherever its owner stopped") {
    for (std::size_t number = 1;; ++number) {
        INFO("the owner ends before call ", number);
        memory_database db;
        manual_environment const time{number};
        auto plain = engine_on(db, time);
        open_records(plain);
        std::string const before = snapshot(plain);
        faulty fragile{db};
        fragile.plan(fault_at(number, fault_kind::crash_before));
        std::vector<outcome> outcomes;
        try {
            auto engine = engine_on(fragile, time, fault_limits(), settle::early_entries);
            outcomes.push_back(transfer(engine));
        } catch (crash const&) {
        }
        if (fragile.calls() < number) break;
        auto const left = plain.find("t").value();
        time.advance(24h * 8);
        plain.recover(of_any_age());
        check_settled(plain, outcomes);
        auto const recovered = plain.find("t").value();
        CHECK(left.has_value() == recovered.has_value());
        if (!left) continue;
        if (left->state == settle::state::pending) {
            CHECK(recovered->state == settle::state::canceled);
            CHECK(recovered->why == settle::reason::expired);
            CHECK(snapshot(plain) == before);
        } else {
            // A committed transaction stays committed.
            CHECK(recovered->state == settle::state::done);
        }
    }
    SUBCASE("the transaction was submitted and never run") {
        memory_database db;
        manual_environment const time;
        auto engine = engine_on(db, time);
        open_records(engine);
        CHECK(engine.submit("t", move{"A", "B", 30}).problem.empty());
        time.advance(24h * 8);
        CHECK(engine.work().canceled == 1);
        CHECK(engine.find("t").value()->why == settle::reason::expired);
        CHECK(engine.run("t", move{"A", "B", 30}).why == settle::reason::expired);
        check_settled(engine, {});
    }
    SUBCASE("the insert was acknowledged too late") {
        memory_database db;
        manual_environment const time;
        auto plain = engine_on(db, time);
        open_records(plain);
        faulty fragile{db};
        fragile.plan([&](call const& call) {
            if (call.what == "insert") time.advance(24h * 8);
            return fault{};
        });
        auto engine = engine_on(fragile, time, fault_limits(), settle::early_entries);
        outcome const outcome = engine.run("t", move{"A", "B", 30});
        CHECK(outcome.canceled());
        CHECK(outcome.why == settle::reason::expired);
        check_settled(plain, {outcome});
        CHECK(plain.read(ledgers, "A").value()->balance == 100);
    }
}

TEST_CASE("takeover: a worker backs off from a mark, and cancels after its attempts") {
    memory_database db;
    manual_environment const time;
    auto plain = engine_on(db, time);
    open_records(plain);
    // A worker that ends with its mark on the card and is not recovered for a while.
    {
        faulty fragile{db};
        fragile.plan([](call const& call) {
            return call.what == "commit" ? fault{fault_kind::crash_before} : fault{};
        });
        auto engine = engine_on(fragile, time, fault_limits(), settle::early_entries);
        CHECK_THROWS_AS(std::ignore = engine.run("holder", rewrite{first_card(), second_card()}),
                        crash);
    }
    SUBCASE("the mark stays") {
        outcome const outcome = plain.run("t", withdraw{"c", false});
        CHECK(outcome.canceled());
        CHECK(outcome.why == settle::reason::busy);
        CHECK(outcome.participant == "card");
        CHECK(plain.find("t").value()->attempts == fault_limits().attempts);
        CHECK(plain.recover(of_any_age()).done == 1);
    }
    SUBCASE("the mark is pulled during a pause") {
        faulty fragile{db};
        int applies = 0;
        fragile.plan([&](call const& call) {
            if (call.what == "apply" && ++applies == 3) plain.recover(of_any_age());
            return fault{};
        });
        auto engine = engine_on(fragile, time, fault_limits(), settle::early_entries);
        outcome const outcome = engine.run("t", withdraw{"c", false});
        CHECK(outcome.done());
        CHECK(applies == 3);
    }
    SUBCASE("the worker keeps no mark while it pauses") {
        // The exclusive mark is on the second account of the transfer.
        REQUIRE(plain.recover(of_any_age()).done == 1);
        auto session = db.bind<ledgers_type>(db.bind_log().name());
        faulty fragile{db};
        settle::engine labels{db, settle::with_environment(time), settle::type<relabel_type>};
        faulty holding{db};
        holding.plan([](call const& call) {
            return call.what == "commit" ? fault{fault_kind::crash_before} : fault{};
        });
        settle::engine holder{holding, settle::with_environment(time), settle::type<relabel_type>,
                              settle::early_entries};
        CHECK_THROWS_AS(std::ignore = holder.run("label", relabel{"B", "x"}), crash);
        fragile.plan([&](call const& call) {
            if (call.what == "claim") {
                auto const marks = session.marks(std::nullopt, 10).value();
                CHECK(marks.size() == 1);
                CHECK(marks.front().id == "label");
            }
            return fault{};
        });
        auto engine = engine_on(fragile, time, fault_limits(), settle::early_entries);
        outcome const outcome = engine.run("t", move{"A", "B", 30});
        CHECK(outcome.why == settle::reason::busy);
        CHECK(outcome.participant == "destination");
        CHECK(labels.recover(of_any_age()).done == 1);
        CHECK(plain.read(ledgers, "A").value()->balance == 100);
    }
    check_settled(plain, {});
}

} // namespace settle_test
