// SPDX-License-Identifier: BSL-1.0
// The store suite: keeps, results, and the revision that every compare-and-set checks.
#pragma once

#include <settle/testing/store_suite/entries.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

/// Results of every kind of JSON value, and an empty result.
[[nodiscard]] inline std::vector<kept_result> usual_results() {
    return {{0, 0, R"({"code":"a\"ä\\","rooms":[1,2],"none":null,"nested":{"on":true}})"},
            {1, 3, "9007199254740993"},
            {2, 4294967295, R"("text\nwith\u0001signs")"},
            {3, 0, "[]"},
            {4, 0, "null"},
            {5, 0, "false"},
            {6, 0, ""},
            {7, 0, "", "refunded by hand, \"case\" 4711"},
            {8, 1, "{}", "ä"}};
}

TEST_CASE_TEMPLATE_DEFINE("log: a keep raises the revision and stores results", Fixture,
                          suite_keep) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto writer = pending_move(log, "t", 70, 1, "first");
    CHECK(writer.read().revision == 0);
    CHECK(writer.read().stages_kept == 0);
    CHECK(writer.read().results.empty());
    entry expected = writer.read();

    auto again = worker_on(log, "t");
    CHECK(writer.keep(5, "another process", usual_results()) == log_answer::taken);
    expected.revision = 1;
    expected.stages_kept = 1;
    expected.modified = at_millisecond(5);
    expected.results = usual_results();
    CHECK(writer.read() == expected);
    CHECK(log.list({}, "", 10).value() == std::vector{expected});
    CHECK(again.keep(6, "first", {{0, 0, "1"}}) == log_answer::conflict);
    CHECK(writer.read() == expected);

    CHECK(writer.keep(7, "first", {{0, 0, "1"}, {1, 0, "2"}}) == log_answer::taken);
    expected.revision = 2;
    expected.stages_kept = 2;
    expected.modified = at_millisecond(7);
    expected.results = {{0, 0, "1"}, {1, 0, "2"}};
    CHECK(writer.read() == expected);
    CHECK(writer.keep(8, "first", {}) == log_answer::taken);
    CHECK(writer.read().results.empty());
    CHECK(writer.read().stages_kept == 3);
}

TEST_CASE_TEMPLATE_DEFINE("log: a pause stores the tries of calls, until the entry goes on",
                          Fixture, suite_pause) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto writer = pending_move(log, "t", 70, 1, "first");
    entry expected = writer.read();
    CHECK(expected.call_tries == 0);
    CHECK(expected.next_try == timestamp{});
    auto late = worker_on(log, "t");

    CHECK(writer.pause(5, "first", 3, 900) == log_answer::taken);
    expected.modified = at_millisecond(5);
    expected.call_tries = 3;
    expected.next_try = at_millisecond(900);
    CHECK(writer.read() == expected);
    CHECK(log.list({}, "", 10).value() == std::vector{expected});
    // A pause changes neither epoch nor revision, so it disturbs no other write.
    CHECK(late.pause(6, "first", 4, 1000) == log_answer::taken);
    CHECK(writer.claim(7, "second") == log_answer::taken);
    CHECK(writer.read().call_tries == 4);
    CHECK(late.pause(8, "first", 9, 2000) == log_answer::conflict);

    auto const forgotten = [&] {
        CHECK(writer.read().call_tries == 0);
        CHECK(writer.read().next_try == timestamp{});
        CHECK(log.list({}, "", 10).value() == std::vector{writer.read()});
    };
    CHECK(writer.keep(9, "second", {}) == log_answer::taken);
    forgotten();
    CHECK(writer.pause(10, "second", 1, 1100) == log_answer::taken);
    CHECK(writer.read().call_tries == 1);
    CHECK(writer.cancel(11, "second", reason::unavailable) == log_answer::taken);
    forgotten();
    CHECK(writer.pause(12, "second", 2, 1200) == log_answer::taken);
    CHECK(writer.read().call_tries == 2);
}

TEST_CASE_TEMPLATE_DEFINE("log: a keep and a commit store the number of attempts", Fixture,
                          suite_attempts) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto writer = pending_move(log, "t", 70, 1, "first");
    auto const send = [&](step action, transition change) {
        ++change.attempts;
        auto& work = writer.transaction();
        auto const sent =
            write_one(log, work, work.change(action, change), at_millisecond(2), "first");
        CHECK(sent.reply == log_answer::taken);
        CHECK(writer.read().attempts == change.attempts);
        return standing_after(change);
    };
    auto const kept = send(step::keep, keep_of(writer.view()));
    std::ignore = send(step::commit, commit_of(kept));
}

TEST_CASE_TEMPLATE_DEFINE("log: a keep may make an entry deciding, which ends either way", Fixture,
                          suite_deciding) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    for (bool const commits : {true, false}) {
        std::string const id = commits ? "a" : "b";
        CAPTURE(id);
        auto writer = pending_move(log, id, 70, 1, "first");
        auto& work = writer.transaction();
        auto const send = [&](step action, transition const& change) {
            auto const sent =
                write_one(log, work, work.change(action, change), at_millisecond(2), "first");
            CHECK(sent.reply == log_answer::taken);
            CHECK(writer.read().state == change.to);
            return standing_after(change);
        };
        transition keeps = keep_of(writer.view());
        keeps.to = state::deciding;
        auto const decides = send(step::keep, keeps);
        CHECK(writer.read().revision == 1);
        CHECK(log.list({.state = state::deciding}, "", 10).value() == std::vector{writer.read()});
        CHECK(log.list({.unfinished = true}, "", 10).value().size() == 1);
        CHECK(log.list({.state = state::pending}, "", 10).value().empty());
        auto const claimed = send(step::claim, claim_of(decides));
        CHECK(claimed.state == state::deciding);
        auto const decided = commits
                                 ? send(step::commit, commit_of(claimed))
                                 : send(step::cancel, cancel_of(claimed, reason::refused, false));
        std::ignore = send(step::close, close_of(decided));
        CHECK(is_final(writer.read().state));
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: a commit may close the entry, with its results", Fixture,
                          suite_commit_and_close) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto const results = usual_results();
    for (auto const from : {state::pending, state::deciding}) {
        std::string const id{name_of(from)};
        CAPTURE(id);
        auto writer = pending_move(log, id, 70, 1, "first");
        auto& work = writer.transaction();
        transition keeps = keep_of(writer.view());
        keeps.to = from;
        auto kept = work.change(step::keep, keeps);
        REQUIRE(write_one(log, work, kept, at_millisecond(2), "first").reply == log_answer::taken);
        entry expected = writer.read();

        transition ends = commit_of(standing_after(keeps));
        ends.to = state::done;
        auto change = work.change(step::commit_and_close, ends);
        change.results = &results;
        auto const send = [&](timestamp when) {
            return write_one(log, work, change, when, "first").reply;
        };
        CHECK(send(at_millisecond(3)) == log_answer::taken);
        expected.state = state::done;
        expected.committed = 70;
        expected.modified = at_millisecond(3);
        expected.results = results;
        CHECK(writer.read() == expected);
        CHECK(send(at_millisecond(4)) == log_answer::conflict);
        CHECK(log.list({.unfinished = true}, "", 10).value().empty());
        auto const gone = log.purge(at_millisecond(9), 10, purged::nothing);
        CHECK(gone.value().erased == 1);
        CHECK(!log.read(id).value());
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: an insert may keep a stage until its last moment", Fixture,
                          suite_keep_at_insert) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    if (!settle::detail::capabilities_here(log).keeps_at_insert) return;
    if constexpr (settle::detail::capabilities<decltype(log)>.keeps_at_insert) {
        // The log looks at the engine's clock, not at the time that the write carries.
        struct {
            timestamp time = at_millisecond(10);
            [[nodiscard]] timestamp now() const { return time; }
        } clock;
        auto const last_moment = clock.time + std::chrono::hours{1};
        clock_view const seen = clock_view::on(clock);
        std::string const owner = "first";
        auto const send = [&](transaction_id const& id, stage_number kept) {
            auto writer = new_move(log, id);
            auto write = writer.transaction().insert(state::pending, 70, at_millisecond(1));
            write.change.stages_kept = kept;
            write.last_moment = last_moment;
            write_result sent;
            log.write(std::span{&write, 1}, std::span{&sent, 1},
                      write_context{at_millisecond(1), owner, seen});
            return sent.reply;
        };
        CHECK(send("kept", 1) == log_answer::taken);
        auto const kept = log.read("kept").value();
        REQUIRE(kept);
        CHECK(kept->stages_kept == 1);
        CHECK(kept->revision == 0);
        // A log that looks at this clock takes the insert at the last moment itself.
        auto writer = new_move(log, "edge");
        auto edge = writer.transaction().insert(state::pending, 70, at_millisecond(1));
        edge.change.stages_kept = 1;
        edge.last_moment = last_moment;
        write_context const context{at_millisecond(1), owner, seen};
        clock.time = last_moment;
        CHECK_FALSE(edge.is_late(context));
        clock.time = last_moment + std::chrono::milliseconds{1};
        CHECK(edge.is_late(context));
        CHECK(send("late", 1) == log_answer::unavailable);
        CHECK(!log.read("late").value());
        CHECK(send("late", 0) == log_answer::taken);
        CHECK(log.read("late").value()->stages_kept == 0);
        CHECK(send("kept", 1) != log_answer::taken);
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: later writes leave the results, and a commit may replace them",
                          Fixture, suite_kept_results) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto writer = pending_move(log, "t", 70, 1, "first");
    REQUIRE(writer.keep(2, "first", usual_results()) == log_answer::taken);
    auto worker = worker_on(log, "t");
    CHECK(worker.claim(3, "worker") == log_answer::taken);
    auto const kept = [&](std::vector<kept_result> const& results) {
        entry const entry = worker.read();
        CHECK(entry.revision == 1);
        CHECK(entry.stages_kept == 1);
        CHECK(entry.results == results);
    };
    kept(usual_results());
    CHECK(worker.read().owner == "worker");
    std::vector<image> const images{{0, 0, R"({"old":1})", ""}};
    SUBCASE("committed without results") {
        CHECK(worker.commit(4, "worker", images) == log_answer::taken);
        kept(usual_results());
        CHECK(worker.read().images == images);
        CHECK(worker.close(5, "worker") == log_answer::taken);
        kept(usual_results());
        CHECK(worker.read().state == state::done);
    }
    SUBCASE("committed with results") {
        auto results = usual_results();
        results.push_back({9, 0, R"({"last":true})"});
        CHECK(worker.commit(4, "worker", images, results) == log_answer::taken);
        kept(results);
        CHECK(worker.read().images == images);
        CHECK(worker.read().state == state::applied);
        CHECK(worker.close(5, "worker") == log_answer::taken);
        kept(results);
        CHECK(worker.read().images == images);
    }
    SUBCASE("canceled") {
        CHECK(worker.cancel(4, "worker", reason::guard_failed, 0) == log_answer::taken);
        kept(usual_results());
        CHECK(worker.read().why == reason::guard_failed);
        CHECK(worker.close(5, "worker") == log_answer::taken);
        kept(usual_results());
        CHECK(worker.read().state == state::canceled);
    }
    SUBCASE("canceled with results") {
        auto results = usual_results();
        results.push_back({3, 0, "", "not charged"});
        CHECK(worker.cancel(4, "worker", reason::cancel_asked, 0, true, results) ==
              log_answer::taken);
        kept(results);
        CHECK(worker.close(5, "worker") == log_answer::taken);
        kept(results);
    }
    SUBCASE("a commit of a single stage may store results") {
        auto single = pending_move(log, "single", 80, 1, "first");
        CHECK(single.commit(2, "first", {}, usual_results()) == log_answer::taken);
        CHECK(single.read().results == usual_results());
        CHECK(single.read().revision == 0);
        CHECK(single.close(3, "first") == log_answer::taken);
        CHECK(single.read().results == usual_results());
    }
    std::size_t calls = 0;
    read_request const request = worker.transaction().look_up();
    log.look_up(std::span{&request, 1}, [&](std::size_t, auto&& found, bool) {
        CHECK(found.value()->results == worker.read().results);
        CHECK(found.value()->revision == 1);
        ++calls;
    });
    CHECK(calls == 1);
}

TEST_CASE_TEMPLATE_DEFINE("log: a write with another revision is a conflict", Fixture,
                          suite_old_revision) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto writer = pending_move(log, "t", 70, 1, "first");
    REQUIRE(writer.keep(2, "first", {{0, 0, "1"}}) == log_answer::taken);
    REQUIRE(writer.keep(3, "first", {{0, 0, "1"}, {1, 0, "2"}}) == log_answer::taken);
    bool cancels = false;
    SUBCASE("of an entry that commits") {}
    SUBCASE("of an entry that cancels") { cancels = true; }
    // The worker of each write has a view of the entry that is right except for the revision.
    auto const with_revision = [&](std::uint32_t revision) {
        standing view = standing_of(writer.read());
        view.revision = revision;
        return suite_entry{log, test_transaction::of<forward<move_type>>("t", usual_move()), view};
    };
    auto const check = [&](char const* action, auto&& write) {
        INFO(action);
        entry const before = writer.read();
        for (std::uint32_t const revision : {0U, 1U, 3U}) {
            INFO("expects revision ", revision);
            auto worker = with_revision(revision);
            CHECK(write(worker) == log_answer::conflict);
            worker.transaction().row = writer.transaction().row;
            CHECK(write(worker) == log_answer::conflict);
            CHECK(writer.read() == before);
        }
    };
    check("claim", [](auto& late) { return late.claim(9, "late"); });
    check("keep", [](auto& late) { return late.keep(9, "late", {{0, 0, "9"}}); });
    check("commit", [](auto& late) { return late.commit(9, "late"); });
    check("cancel", [](auto& late) { return late.cancel(9, "late", reason::busy); });
    check("cancel by another worker", [](auto& late) {
        return late.cancel(9, "late", reason::cancel_asked, entry_write::no_part, true);
    });
    if (cancels) REQUIRE(writer.cancel(4, "first", reason::busy) == log_answer::taken);
    else REQUIRE(writer.commit(4, "first") == log_answer::taken);
    check("claim before the end", [](auto& late) { return late.claim(9, "late"); });
    check("close", [](auto& late) { return late.close(9, "late"); });
    CHECK(writer.close(5, "first") == log_answer::taken);
    CHECK(writer.read().revision == 2);
}

TEST_CASE_TEMPLATE_DEFINE("log: each of several keeps of a call has its own answer", Fixture,
                          suite_keep_wave) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    entry_wave inserts{step::insert};
    constexpr std::size_t count = 40;
    auto const id_of = [](std::size_t i) { return "t" + std::to_string(i); };
    for (std::size_t i = 0; i < count; ++i) {
        inserts.add_insert<forward<move_type>>(id_of(i), usual_move(), state::pending, 10 + i);
    }
    inserts.send(log, at_millisecond(1), "me");
    std::vector<std::vector<kept_result>> results;
    for (std::size_t i = 0; i < count; ++i) results.push_back({{0, 0, std::to_string(i)}});
    std::size_t stale = count;
    SUBCASE("every keep expects the right revision") {}
    SUBCASE("one keep expects another revision") { stale = 17; }
    entry_wave keeps{step::keep};
    for (std::size_t i = 0; i < count; ++i) {
        standing view{state::pending, 10 + i, 0, 0};
        if (i == stale) view.revision = 1;
        auto& write = keeps.add_change<forward<move_type>>(id_of(i), usual_move(), keep_of(view));
        write.results = &results[i];
        write.row = inserts.results()[i].row;
    }
    keeps.send(log, at_millisecond(2), "me");
    for (std::size_t i = 0; i < count; ++i) {
        INFO("transaction ", i);
        CHECK(keeps.reply(i) == (i == stale ? log_answer::conflict : log_answer::taken));
        entry const found = log.read(id_of(i)).value().value();
        CHECK(found.revision == (i == stale ? 0 : 1));
        CHECK(found.results == (i == stale ? std::vector<kept_result>{} : results[i]));
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: results are read back after the database is opened again", Fixture,
                          suite_results_reopened) {
    Fixture fixture;
    std::vector<entry> left;
    {
        auto log = fixture.database_here().bind_log();
        auto writer = pending_move(log, "kept", 70, 1, "first");
        REQUIRE(writer.keep(2, "first", usual_results()) == log_answer::taken);
        left.push_back(writer.read());
        auto other = pending_move(log, "plain", 80, 3, "first");
        REQUIRE(other.commit(4, "first") == log_answer::taken);
        left.push_back(other.read());
    }
    auto log = fixture.reopened().bind_log();
    CHECK(log.list({}, "", 10).value() == left);
    auto worker = worker_on(log, "kept");
    CHECK(worker.claim(5, "second") == log_answer::taken);
    CHECK(worker.read().results == usual_results());
    CHECK(worker.keep(6, "second", {}) == log_answer::taken);
    CHECK(worker.read().revision == 2);
}

} // namespace testing
SETTLE_END
#endif
