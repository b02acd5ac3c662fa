// SPDX-License-Identifier: BSL-1.0
// Stray marks, and entries that this program cannot handle.
#include "scene.hpp"

#include <settle/testing/entry_writer.hpp>
#include <settle/testing/store_suite/bench.hpp>

#include <tuple>

namespace settle_test {
namespace {

/// Writes entries as an older or newer program would have: same name, other parameters or
/// definition.
template <bool SameDefinition>
struct other_program {
    struct parameters {
        BOOST_HANA_DEFINE_STRUCT(parameters, (std::string, source), (bool, amount));
    };
    static std::string const& name() {
        static std::string const text{"suite_move"};
        return text;
    }
    static std::uint64_t definition() {
        return SameDefinition ? settle::forward<move_type>::definition() : 12345;
    }
    static parameters const& user(parameters const& parameters) { return parameters; }
    static constexpr std::size_t participant_count = 0;
    template <typename Function>
    static void for_each_participant(Function&&) {}
    template <std::size_t>
    static std::size_t lines(parameters const&) {
        return 0;
    }
    static settle::part_name name_part(parameters const&, std::size_t) { return {}; }
    static settle::refusal check(parameters const&) { return {}; }
    static std::string explain(parameters const&, settle::refusal const&) { return {}; }
};

template <typename Direction>
void write_entry(memory_database& db, std::string id, typename Direction::parameters parameters,
                 settle::timestamp when, settle::state as = settle::state::pending) {
    auto log = db.bind_log();
    settle::testing::entry_writer worker{log, settle::testing::test_transaction::of<Direction>(
                                                  std::move(id), std::move(parameters))};
    REQUIRE(worker.insert(as, 77, when, "elsewhere/1", when) == settle::log_answer::taken);
}

} // namespace

TEST_CASE("stray: a mark without an entry is undone, and its id can never run again") {
    memory_database db;
    manual_environment const time;
    auto engine = engine_on(db, time);
    open_records(engine);
    std::string const before = snapshot(engine);
    auto session = db.bind<ledgers_type, cards_type, shelves_type>(db.bind_log().name());
    auto const leave = [&] < auto const &
                       Type > (settle::type_tag<Type>, std::string id, auto const& given) {
                           part_wave wave{settle::step::apply};
                           wave.add<settle::forward<Type>>(std::move(id), given, 41);
                           wave.send(session);
                       };
    leave(settle::type<move_type>, "transfer", move{"A", "B", 30});
    leave(settle::type<rewrite_type>, "rewrite", rewrite{first_card(), second_card()});
    leave(settle::type<issue_type>, "issue", issue{new_card()});
    leave(settle::type<order_type>, "order", order{"C", 10, {{1, 3}, {1, 4}}});
    REQUIRE(engine.marks().value() == 7);
    auto const swept = engine.sweep();
    CHECK(swept.looked_at == 7);
    CHECK(swept.undone == 7);
    CHECK(swept.tombstones == 4);
    CHECK(snapshot(engine) == before);
    check_settled(engine, {});
    for (char const* id : {"transfer", "rewrite", "issue", "order"}) {
        auto const entry = engine.find(id).value().value();
        CHECK(entry.state == settle::state::canceled);
        CHECK(entry.why == settle::reason::mark_without_entry);
        CHECK(entry.type.empty());
    }
    // The entry matches any transaction: a later call with the id gets the outcome canceled.
    outcome const late = engine.run("transfer", move{"A", "B", 30});
    CHECK(late.canceled());
    CHECK(late.why == settle::reason::mark_without_entry);
    CHECK(engine.sweep().looked_at == 0);
}

TEST_CASE("stray: a stop request ends a sweep that waits for the log") {
    memory_database db;
    manual_environment const time;
    auto engine = engine_on(db, time);
    open_records(engine);
    bench<memory_database> late{db};
    part_wave wave{settle::step::apply};
    wave.add<settle::forward<move_type>>("t", {"A", "B", 30}, 41);
    wave.send(late.session());
    faulty fragile{db};
    std::stop_source stop;
    int tries = 0;
    fragile.plan([&](call const& call) {
        if (call.what != "insert") return fault{};
        if (++tries == 3) stop.request_stop();
        return fault{fault_kind::unavailable};
    });
    auto beside = engine_on(fragile, time);
    auto const begun = time.elapsed();
    auto const stopped = beside.sweep(stop.get_token());
    CHECK(stopped.problem.code == settle::errc::store_unreachable);
    CHECK(stopped.tombstones + stopped.undone == 0);
    CHECK(tries == 3);
    CHECK(time.elapsed() - begun < 1s);
    CHECK(engine.sweep().tombstones == 1);
    check_settled(engine, {});
}

TEST_CASE("stray: marks of ended entries are undone, whatever their epoch") {
    memory_database db;
    manual_environment const time;
    auto engine = engine_on(db, time);
    open_records(engine);
    REQUIRE(engine.run("done", move{"A", "B", 30}).done());
    REQUIRE(engine.run("canceled", move{"A", "B", 3000}).canceled());
    auto const committed = engine.find("done").value()->committed;
    std::string const before = snapshot(engine);
    bench<memory_database> late{db};
    auto const leave = [&](std::string id, settle::epoch number) {
        part_wave wave{settle::step::apply};
        wave.add<settle::forward<move_type>>(std::move(id), {"B", "C", 20}, number);
        wave.send(late.session());
    };
    SUBCASE("of a done entry, below the committed epoch") { leave("done", committed - 1); }
    SUBCASE("of a done entry, above the committed epoch") { leave("done", committed + 1); }
    SUBCASE("of a canceled entry") {
        leave("canceled", engine.find("canceled").value()->epoch_number);
    }
    CHECK(engine.marks().value() == 2);
    auto const swept = engine.sweep();
    CHECK(swept.undone == 2);
    CHECK(swept.tombstones == 0);
    CHECK(snapshot(engine) == before);
    CHECK(engine.find("done").value()->state == settle::state::done);
    check_settled(engine, {});
}

TEST_CASE("stray: a sweep leaves the marks of pending transactions") {
    for (char const* step : {"commit", "confirm", "close"}) {
        INFO("the owner ends before its ", step);
        memory_database db;
        manual_environment const time;
        auto engine = engine_on(db, time);
        open_records(engine);
        faulty fragile{db};
        fragile.plan([&](call const& call) {
            return call.what == step ? fault{fault_kind::crash_before} : fault{};
        });
        try {
            std::ignore = engine_on(fragile, time, fault_limits(), settle::early_entries)
                              .run("t", move{"A", "B", 30});
        } catch (crash const&) {
        }
        std::string const before = snapshot(engine);
        auto const swept = engine.sweep();
        CHECK(swept.undone == 0);
        CHECK(snapshot(engine) == before);
        CHECK(engine.recover(of_any_age()).done == 1);
        check_settled(engine, {});
        CHECK(engine.read(ledgers, "B").value()->balance == 130);
    }
}

TEST_CASE("stray: the next sweep continues after a fault") {
    for (fault_kind const kind : every_kind) {
        for (std::size_t number = 1;; ++number) {
            INFO("fault: ", std::string{name_of(kind)}, " at call ", number, " of the sweep");
            memory_database db;
            manual_environment const time{number};
            auto plain = engine_on(db, time);
            open_records(plain);
            std::string const before = snapshot(plain);
            bench<memory_database> late{db};
            part_wave wave{settle::step::apply};
            wave.add<settle::forward<order_type>>("t", {"A", 30, {{1, 5}, {1, 6}}}, 9);
            wave.add<settle::forward<order_type>>("u", {"B", 30, {{1, 5}}}, 9);
            wave.send(late.session());
            faulty fragile{db};
            fragile.plan(fault_at(number, kind));
            try {
                engine_on(fragile, time).sweep();
            } catch (crash const&) {
            }
            if (fragile.calls() < number) break;
            fragile.plan({});
            plain.sweep();
            fragile.deliver_late();
            CHECK(plain.sweep().problem.empty());
            check_settled(plain, {});
            CHECK(snapshot(plain) == before);
        }
    }
}

TEST_CASE("stray: an entry that cannot be handled does not stop recovery of other entries") {
    memory_database db;
    manual_environment const time;
    auto engine = engine_on(db, time);
    open_records(engine);
    auto const when = time.now();
    // By id, the bad entries are before, between and after the good entries.
    using settle::forward;
    write_entry<other_program<false>>(db, "a-other-definition", {"A", true}, when);
    write_entry<forward<move_type>>(db, "b-good", {"A", "B", 1}, when);
    write_entry<other_program<true>>(db, "c-damaged", {"A", true}, when);
    write_entry<forward<move_type>>(db, "d-good", {"A", "B", 2}, when);
    write_entry<forward<exchange_type>>(db, "e-unknown-type", {second_card()}, when);
    write_entry<forward<move_type>>(db, "f-refused", {"A", "B", -5}, when);
    write_entry<forward<move_type>>(db, "g-good", {"B", "A", 3}, when);
    time.advance(1s);
    auto const report = engine.recover(of_any_age());
    CHECK(report.done == 3);
    CHECK(report.canceled == 0);
    CHECK(report.problem.empty());
    REQUIRE(report.skipped.size() == 4);
    struct expected {
        char const* id;
        settle::errc code;
    };
    expected const skips[]{{"a-other-definition", settle::errc::other_definition},
                           {"c-damaged", settle::errc::damaged},
                           {"e-unknown-type", settle::errc::unknown_type},
                           {"f-refused", settle::errc::bad_parameters}};
    for (std::size_t i = 0; i < 4; ++i) {
        INFO("entry ", skips[i].id);
        CHECK(report.skipped[i].id == skips[i].id);
        CHECK(report.skipped[i].problem.code == skips[i].code);
        // Each sentence names the next step.
        CHECK(report.skipped[i].problem.text.find("settle: ") == 0);
        CHECK(report.skipped[i].problem.text.find(". See ") != std::string::npos);
        CHECK(engine.find(skips[i].id).value()->state == settle::state::pending);
    }
    CHECK(engine.read(ledgers, "A").value()->balance == 100);
    // The engine that has the type brings it to its end.
    settle::engine other{db, settle::with_environment(time), settle::type<exchange_type>};
    auto const there = other.recover(of_any_age());
    CHECK(there.done == 1);
    CHECK(there.skipped.size() == 3);
    CHECK(engine.read(cards, "c").value()->holder == second_card().holder);
}

TEST_CASE("stray: a submitted entry that cannot be handled stops no worker") {
    memory_database db;
    manual_environment const time;
    auto engine = engine_on(db, time);
    open_records(engine);
    auto const when = time.now();
    using settle::forward;
    auto const submitted = settle::state::initial;
    write_entry<other_program<true>>(db, "a", {"A", true}, when, submitted);
    write_entry<forward<move_type>>(db, "b", {"A", "B", 1}, when, submitted);
    write_entry<forward<exchange_type>>(db, "c", {second_card()}, when, submitted);
    write_entry<forward<move_type>>(db, "d", {"A", "B", 1}, when, submitted);
    auto const report = engine.work();
    CHECK(report.done == 2);
    CHECK(report.skipped.size() == 2);
    CHECK(engine.find("a").value()->state == settle::state::initial);
    CHECK(engine.read(ledgers, "B").value()->balance == 102);
}

} // namespace settle_test
