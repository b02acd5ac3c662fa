// SPDX-License-Identifier: BSL-1.0
// The store suite: marks with births, late entries, and bars.
#pragma once

#include <settle/testing/store_suite/one_phase_cases.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

inline constexpr epoch first_birth = least_birth + 7 * births_per_second + 5;
inline constexpr epoch second_birth = first_birth + 1;

TEST_CASE_TEMPLATE_DEFINE("store: a mark with a birth is of that birth alone", Fixture,
                          suite_births) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    bench.create(ledgers, {"A", 100, 0, ""});
    bench.create(ledgers, {"B", 0, 0, ""});
    move const sixty{"A", "B", 60};
    REQUIRE(bench.template apply<move_type>("t", sixty, first_birth) == "applied, applied");
    CHECK(bench.template apply<move_type>("t", sixty, first_birth) == "applied, applied");
    for (epoch const other : {epoch{5}, second_birth}) {
        part_wave wave{step::apply};
        wave.add<forward<move_type>>("t", sixty, other);
        bench.send(wave);
        CHECK(wave.answers(0) == "marked by another call, marked by another call");
        CHECK(wave.results()[0].marked == first_birth);
        CHECK(bench.template confirm<move_type>("t", sixty, other) == "nothing, nothing");
        CHECK(bench.template compensate<move_type>("t", sixty, other) == "nothing, nothing");
        CHECK(bench.template back_off<move_type>("t", sixty, other) == "nothing, nothing");
    }
    CHECK(bench.marks().size() == 2);
    CHECK(bench.template confirm<move_type>("t", sixty, first_birth) == "applied, applied");
    CHECK(bench.read(ledgers, "B")->balance == 60);

    REQUIRE(bench.template apply<move_type>("u", {"A", "B", 1}, 5) == "applied, applied");
    CHECK(bench.template apply<move_type>("u", {"A", "B", 1}, first_birth) ==
          "marked by another call, marked by another call");
    CHECK(bench.template confirm<move_type>("u", {"A", "B", 1}, first_birth) == "nothing, nothing");
    CHECK(bench.template compensate<move_type>("u", {"A", "B", 1}) == "applied, applied");

    REQUIRE(bench.template apply<relabel_type>("v", {"A", "new"}, first_birth) == "applied");
    CHECK(bench.template compensate<relabel_type>("v", {"A", "new"}, second_birth) == "nothing");
    CHECK(bench.template compensate<relabel_type>("v", {"A", "new"}, first_birth) == "applied");
    bench.check();
}

TEST_CASE_TEMPLATE_DEFINE("one phase: a late entry comes with the parts in the log's own store",
                          Fixture, suite_late_entry) {
    if_one_phase<Fixture>([](auto& bench, auto& log) {
        auto& session = bench.session();
        bench.create(ledgers, {"A", 100, 0, "old"});
        bench.create(ledgers, {"B", 0, 0, "old"});
        static_cast<void>(pending_move(log, "there", 12, 0, "me"));
        one_phase_wave wave;
        wave.decide<forward<move_type>>("done", {"A", "B", 60}, first_birth);
        wave.decide<forward<move_type>>("poor", {"A", "B", 60}, first_birth);
        wave.decide<forward<move_type>>("there", {"A", "B", 1}, first_birth);
        wave.decide<forward<relabel_type>>("label", {"A", "new"}, second_birth);
        wave.send(session, log);
        CHECK(wave.reply(0) == log_answer::taken);
        CHECK(wave.reply(1) == log_answer::taken);
        CHECK(wave.answers(1) == "guard failed");
        CHECK(wave.reply(2) == log_answer::conflict);
        CHECK(wave.reply(3) == log_answer::taken);

        entry const stored = log.read("done").value().value();
        CHECK(stored.state == state::applied);
        CHECK(stored.committed == first_birth);
        CHECK(stored.epoch_number == first_birth);
        entry const poor = log.read("poor").value().value();
        CHECK(poor.state == state::canceled);
        CHECK(poor.committed == 0);
        CHECK(poor.why == reason::guard_failed);
        CHECK(poor.participant == "source");
        CHECK(log.read("label").value()->images.size() == 1);
        CHECK(session.template read<ledgers_type>("A").value()->balance == 40);
        CHECK(session.template read<ledgers_type>("A").value()->label == "new");
        CHECK(bench.marks().empty());
        entry_filter unfinished;
        unfinished.unfinished = true;
        CHECK(ids_of(log.list(unfinished, "", 10).value()) == "done label there ");
    });
}

TEST_CASE_TEMPLATE_DEFINE("log: an insert replaces the bar that its worker has read", Fixture,
                          suite_bars) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto const bar = test_transaction::of<undescribed>("t", {});
    /// Shape:   replaced - the epoch of the bar that the worker has read; 0 if it has read none
    auto const write = [&](test_transaction const& transaction, state to, epoch number,
                           epoch replaced) {
        auto insert = transaction.insert(to, number, at_millisecond(0));
        if (replaced != 0) {
            insert.change.from = state::barred;
            insert.change.from_epoch = replaced;
        }
        write_result result;
        std::string const owner = "me";
        log.write({&insert, 1}, {&result, 1}, {at_millisecond(1), owner});
        return result.reply;
    };
    REQUIRE(write(bar, state::barred, first_birth, 0) == log_answer::taken);
    entry const barred = log.read("t").value().value();
    CHECK(barred.state == state::barred);
    CHECK(barred.epoch_number == first_birth);
    CHECK(barred.type.empty());
    entry_filter unfinished;
    unfinished.unfinished = true;
    CHECK(log.list(unfinished, "", 10).value().empty());
    entry_filter of_bars;
    of_bars.state = state::barred;
    CHECK(ids_of(log.list(of_bars, "", 10).value()) == "t ");

    auto const work = test_transaction::of<forward<move_type>>("t", usual_move());
    CHECK(write(work, state::pending, 5, 0) == log_answer::conflict);
    CHECK(write(work, state::pending, 5, second_birth) == log_answer::conflict);
    CHECK(write(bar, state::barred, second_birth, first_birth) == log_answer::taken);
    CHECK(log.read("t").value()->epoch_number == second_birth);
    CHECK(write(work, state::pending, 5, first_birth) == log_answer::conflict);
    CHECK(write(work, state::pending, 5, second_birth) == log_answer::taken);
    entry const stored = log.read("t").value().value();
    CHECK(stored.state == state::pending);
    CHECK(stored.epoch_number == 5);
    CHECK(stored.type == "suite_move");
    CHECK(encode_json(decode_json<move>(stored.parameters).value()) == encode_json(usual_move()));
    CHECK(stored.owner == "me");
    CHECK(ids_of(log.list(unfinished, "", 10).value()) == "t ");
    CHECK(write(work, state::pending, 6, second_birth) == log_answer::conflict);
    auto goes_on = worker_on(log, "t");
    CHECK(goes_on.commit(2, "me") == log_answer::taken);
    CHECK(goes_on.close(3, "me") == log_answer::taken);

    REQUIRE(write(test_transaction::of<undescribed>("u", {}), state::barred, first_birth, 0) ==
            log_answer::taken);
    CHECK(log.purge(at_millisecond(1), 10, purged::nothing).value().erased == 0);
    CHECK(log.purge(at_millisecond(2), 10, purged::nothing).value().erased == 1);
    CHECK_FALSE(log.read("u").value().has_value());
}

TEST_CASE_TEMPLATE_DEFINE("log: an insert that decides takes no effect after its last moment",
                          Fixture, suite_last_moment) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    struct {
        timestamp time = at_millisecond(0) + std::chrono::hours{10};
        [[nodiscard]] timestamp now() const { return time; }
    } clock;
    std::string const owner = "me";
    auto const decide = [&](transaction_id const& id, std::chrono::hours last_moment) {
        auto const transaction = test_transaction::of<forward<move_type>>(id, usual_move());
        auto insert = transaction.insert(state::applied, first_birth, at_millisecond(0));
        insert.action = step::decide;
        insert.change.committed = first_birth;
        insert.last_moment = clock.time + last_moment;
        write_result result;
        log.write({&insert, 1}, {&result, 1}, {clock.time, owner, clock_view::on(clock)});
        return result.reply;
    };
    CHECK(decide("t", std::chrono::hours{-1}) == log_answer::unavailable);
    CHECK_FALSE(log.read("t").value().has_value());
    CHECK(decide("t", std::chrono::hours{1}) == log_answer::taken);
    CHECK(log.read("t").value()->state == state::applied);
    CHECK(decide("t", std::chrono::hours{1}) == log_answer::conflict);
}

} // namespace testing
SETTLE_END
#endif
