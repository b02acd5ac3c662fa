// SPDX-License-Identifier: BSL-1.0
// Calls that apply the parts elsewhere before their entry is in the log.
#include "two_files.hpp"

#include <settle/metrics/thread.hpp>
#include <settle/protocol/fresh.hpp>

using namespace two_files_test;
using namespace std::chrono_literals;

namespace {

/// The state of the entry in the file, by its number; "no row" without one.
std::string state_in(two_files const& files, std::string const& id) {
    return sqlite_test::sql_value(files.own.file("books"),
                                  "SELECT state FROM settle_entry WHERE id = '" + id + "'");
}
std::string const barred_number = "7";

/// A call whose process ends between its apply wave and its decision.
template <typename Engine>
void stop_before_decision(two_files& files, Engine& engine, std::string const& id,
                          deposit const& parameters) {
    files.action = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = engine.run(id, parameters), killed);
    files.action = {};
}

} // namespace

TEST_CASE("late: the entry comes with the decision, after the part elsewhere") {
    two_files files;
    std::string seen;
    files.action = [&](settle::event const& event) {
        seen.append(name_of(event.taken)).append(" ").append(files.marks()).append(", ");
    };
    auto engine = files.make();
    CHECK(engine.run("t", deposit{"A", "V", 60}).done());
    CHECK(seen == "apply 0+1, decide 0+1, confirm 0+0, close 0+0, end 0+0, ");
    CHECK(files.sums() == "40+60");
    auto const stored = entry_of(engine, "t");
    CHECK(stored.state == settle::state::done);
    CHECK(stored.committed == stored.epoch_number);
    CHECK(settle::is_birth(stored.committed));

    seen.clear();
    CHECK(engine.reverse("t").done());
    CHECK(seen.find("apply 0+1, decide 0+1, ") != std::string::npos);
    CHECK(files.sums() == "100+0");
}

TEST_CASE("late: a refusal is written with its reason, and nothing stays") {
    two_files files;
    auto engine = files.make();
    auto const poor = engine.run("t", deposit{"A", "V", 101});
    CHECK(poor.why == reason::guard_failed);
    CHECK(poor.participant == "from");
    auto const no_vault = engine.run("u", deposit{"A", "W", 1});
    CHECK(no_vault.why == reason::record_missing);
    CHECK(no_vault.participant == "to");
    for (std::string const id : {"t", "u"}) {
        auto const stored = entry_of(engine, id);
        CHECK(stored.state == settle::state::canceled);
        CHECK(stored.participant == (id == "t" ? "from" : "to"));
        CHECK(engine.run(id, deposit{"A", id == "t" ? "V" : "W", id == "t" ? 101 : 1}).canceled());
    }
    CHECK(files.marks() == "0+0");
    CHECK(files.sums() == "100+0");
}

TEST_CASE("late: an id that is done stays done, also when it would be refused now") {
    two_files files;
    auto engine = files.make();
    CHECK(engine.run("t", deposit{"A", "V", 60}).done());
    CHECK(engine.run("t", deposit{"A", "V", 60}).done());
    CHECK(engine.run("t", deposit{"A", "V", 61}).problem.code == settle::errc::id_in_use);
    CHECK(files.sums() == "40+60");
    CHECK(files.marks() == "0+0");
}

TEST_CASE("late: a call of the id brings it to its end, wherever its worker was killed") {
    using settle::step;
    for (auto const last : {step::apply, step::decide, step::confirm, step::close}) {
        CAPTURE(name_of(last));
        two_files files;
        auto engine = files.make();
        files.action = kill_after(last);
        CHECK_THROWS_AS(std::ignore = engine.run("t", deposit{"A", "V", 60}), killed);
        files.action = {};
        auto next = files.make();
        CHECK(next.run("t", deposit{"A", "V", 60}).done());
        CHECK(files.sums() == "40+60");
        CHECK(files.marks() == "0+0");
    }
}

TEST_CASE("late: another call of the id decides what the id means, until one has decided") {
    two_files files;
    auto engine = files.make();
    stop_before_decision(files, engine, "t", {"A", "V", 60});
    CHECK(state_in(files, "t") == "no row");
    CHECK(engine.run("t", deposit{"B", "V", 0}).done());
    CHECK(files.sums() == "100+0");
    CHECK(files.marks() == "0+0");

    // The second call comes between the two waves of the first.
    bool is_called = false;
    files.action = [&](settle::event const& event) {
        if (event.taken != settle::step::apply || std::exchange(is_called, true)) return;
        CHECK(engine.run("u", deposit{"A", "V", 10}).done());
    };
    CHECK(engine.run("u", deposit{"A", "V", 20}).problem.code == settle::errc::id_in_use);
    CHECK(files.sums() == "90+10");
    CHECK(files.marks() == "0+0");
}

TEST_CASE("late: a recovery undoes what nobody decides, and the id stays free") {
    two_files files;
    auto engine = files.make();
    stop_before_decision(files, engine, "t", {"A", "V", 60});
    auto const held = engine.marks_without_entry().value();
    REQUIRE(held.size() == 1);
    CHECK(held[0].id == "t");
    CHECK(held[0].collection == "vaults");
    CHECK(abs(settle::time_of_mark(held[0].epoch_number) - files.world.time) < 1s);
    CHECK(engine.marks_without_entry(5s).value().empty());
    files.world.time += 2min;
    settle::metrics const metrics;
    {
        settle::metrics_thread const asks{engine, metrics};
        std::string const expected = "settle_marks_without_entry{collection=\"vaults\"} 1\n";
        auto const is_seen = [&] { return metrics.text().find(expected) != std::string::npos; };
        for (int tries = 0; tries < 3'000 && !is_seen(); ++tries) std::this_thread::sleep_for(10ms);
        CHECK(is_seen());
    }
    files.world.time -= 2min;
    // The call may be under way.
    CHECK(engine.recover().problem.empty());
    CHECK(files.marks() == "0+1");
    CHECK(engine.recover(of_any_age()).problem.empty());
    CHECK(files.marks() == "0+0");
    CHECK(state_in(files, "t") == barred_number);
    CHECK(engine.cancel("t").problem.code == settle::errc::unknown_id);
    CHECK(engine.reverse("t").problem.code == settle::errc::unknown_id);
    CHECK(engine.retry("t").problem.code == settle::errc::unknown_id);
    CHECK(engine.stuck(0ms).value().empty());

    CHECK(engine.run("t", deposit{"A", "V", 60}).done());
    CHECK(files.sums() == "40+60");
    CHECK(entry_of(engine, "t").state == settle::state::done);

    // A bar goes up with the births that it bars.
    for (int time = 0; time < 2; ++time) {
        files.world.time += 2s;
        stop_before_decision(files, engine, "u", {"A", "V", 1});
        CHECK(engine.sweep().undone == 1);
        CHECK(files.marks() == "0+0");
    }
    settle::cancel_options unknown;
    unknown.even_if_unknown = true;
    CHECK(engine.cancel("u", unknown).canceled());
    CHECK(entry_of(engine, "u").state == settle::state::canceled);
}

TEST_CASE("late: a recovery of old calls sweeps theirs") {
    two_files files;
    auto engine = files.make();
    stop_before_decision(files, engine, "t", {"A", "V", 60});
    files.world.time += 10s;
    CHECK(engine.recover().problem.empty());
    CHECK(files.marks() == "0+0");
}

TEST_CASE("late: a call whose birth is barred inserts its entry first") {
    two_files files;
    auto engine = files.make();
    bool is_swept = false;
    files.action = [&](settle::event const& event) {
        if (event.taken != settle::step::apply || std::exchange(is_swept, true)) return;
        CHECK(engine.sweep().undone == 1);
        CHECK(files.marks() == "0+0");
    };
    CHECK(engine.run("t", deposit{"A", "V", 60}).done());
    CHECK(files.sums() == "40+60");
    CHECK(files.marks() == "0+0");
}

TEST_CASE("late: a bar is purged like a final entry") {
    two_files files;
    auto engine = files.make();
    stop_before_decision(files, engine, "t", {"A", "V", 60});
    CHECK(engine.sweep().undone == 1);
    settle::purge_options const options;
    files.world.time += options.older_than - 1s;
    CHECK(engine.purge(options).erased == 0);
    files.world.time += 2s;
    CHECK(engine.purge(options).erased == 1);
    CHECK(state_in(files, "t") == "no row");
}

TEST_CASE("late: a call that ends at its deadline leaves an entry") {
    two_files files;
    auto other = files.make(settle::two_phases);
    auto engine = files.make();
    files.action = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = other.run("c", correction{"A", "V", 70}), killed);
    files.action = {};
    settle::call_options brief;
    brief.deadline = 1ms;
    CHECK(engine.run("t", deposit{"A", "V", 60}, brief).verdict == settle::verdict::undecided);
    CHECK(entry_of(engine, "t").state == settle::state::pending);
    CHECK(other.retry("c").done());
    CHECK(engine.recover(of_any_age()).done == 1);
    CHECK(files.sums() == "10+61");
    CHECK(files.marks() == "0+0");
}

TEST_CASE("late: of two elements with one id the first counts") {
    two_files files;
    auto engine = files.make();
    std::vector<std::pair<settle::transaction_id, deposit>> const all{
        {"t", {"A", "V", 60}}, {"t", {"A", "V", 1}}, {"t", {"A", "V", 60}}, {"u", {"A", "V", 30}}};
    auto const outcomes = engine.run_all(all);
    CHECK(outcomes[0].done());
    CHECK(outcomes[1].problem.code == settle::errc::id_in_use);
    CHECK(outcomes[2].done());
    CHECK(outcomes[3].done());
    CHECK(files.sums() == "10+90");
    CHECK(files.marks() == "0+0");
}

TEST_CASE("late: transactions of a window keep their order on a record in the own store") {
    two_files files;
    auto engine = files.make();
    check_order_of_windows(files, engine);
}

TEST_CASE("late: an expired call decides nothing") {
    two_files files;
    auto engine = files.make();
    settle::options const limits;
    files.action = [&](settle::event const& event) {
        if (event.taken == settle::step::apply) files.world.time += limits.lifetime + 1ms;
    };
    CHECK(engine.run("t", deposit{"A", "V", 60}).why == reason::expired);
    CHECK(files.sums() == "100+0");
    CHECK(files.marks() == "0+0");
}
