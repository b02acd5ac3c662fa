// SPDX-License-Identifier: BSL-1.0
// The store suite: inserts, compare-and-sets and listings of a log.
#pragma once

#include <settle/testing/store_suite/entries.hpp>

#include <algorithm>
#include <array>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

TEST_CASE_TEMPLATE_DEFINE("log: an entry is inserted once", Fixture, suite_insert) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    CHECK_FALSE(log.name().empty());
    CHECK_FALSE(log.read("t").value().has_value());
    epoch const highest = epoch_limit - 2;
    auto first = new_move(log, "t");
    REQUIRE(first.insert(state::pending, highest, 5, "host/1/2") == log_answer::taken);
    entry const entry = first.read();
    CHECK(entry.id == "t");
    CHECK(entry.type == "suite_move");
    CHECK(entry.definition == forward<move_type>::definition());
    CHECK(encode_json(decode_json<move>(entry.parameters).value()) == encode_json(usual_move()));
    CHECK(entry.state == state::pending);
    CHECK(entry.epoch_number == highest);
    CHECK(entry.committed == 0);
    CHECK(entry.owner == "host/1/2");
    CHECK(entry.created == at_millisecond(0));
    CHECK(entry.modified == at_millisecond(5));
    CHECK(entry.attempts == 0);
    CHECK(entry.why == reason::none);
    CHECK(entry.participant.empty());
    CHECK_FALSE(entry.line.has_value());
    CHECK(entry.images.empty());

    auto again = new_move(log, "t");
    CHECK(again.insert(state::initial, 3, 6, "other") == log_answer::conflict);
    auto twin = new_move(log, "t");
    CHECK(twin.insert(state::pending, highest, 6, "host/1/2") == log_answer::conflict);
    CHECK(first.read() == entry);
}

TEST_CASE_TEMPLATE_DEFINE("log: an entry keeps the trace context of its insert", Fixture,
                          suite_traceparent) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    std::string const owner = "me";
    std::string const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    auto const traced = test_transaction::of<forward<move_type>>("traced", usual_move());
    auto const plain = test_transaction::of<forward<move_type>>("plain", usual_move());
    std::array writes{traced.insert(state::pending, 5, at_millisecond(0)),
                      plain.insert(state::pending, 5, at_millisecond(0))};
    writes[0].traceparent = trace;
    std::array<write_result, 2> results;
    log.write(writes, results, {at_millisecond(1), owner});
    CHECK(results[0].reply == log_answer::taken);
    CHECK(results[1].reply == log_answer::taken);
    CHECK(log.read("plain").value()->traceparent.empty());
    auto worker = worker_on(log, "traced");
    CHECK(worker.claim(2, "other") == log_answer::taken);
    CHECK(worker.commit(3, "other") == log_answer::taken);
    CHECK(worker.close(4, "other") == log_answer::taken);
    CHECK(worker.read().traceparent == trace);
    auto const listed = log.list({}, "", 10).value();
    REQUIRE(listed.size() == 2);
    CHECK(listed[0].traceparent.empty());
    CHECK(listed[1].traceparent == trace);
}

TEST_CASE_TEMPLATE_DEFINE("log: an entry is inserted as initial, and as canceled", Fixture,
                          suite_insert_states) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto submitted = new_move(log, "submitted");
    REQUIRE(submitted.insert(state::initial, 9, 1, "me") == log_answer::taken);
    CHECK(submitted.read().state == state::initial);
    CHECK(submitted.read().epoch_number == 9);

    auto const new_undescribed = [&](transaction_id id) {
        return suite_entry{log, test_transaction::of<undescribed>(std::move(id), {})};
    };
    auto tombstone = new_undescribed("tombstone");
    REQUIRE(tombstone.insert(state::canceled, 4, 2, "me", reason::mark_without_entry) ==
            log_answer::taken);
    entry const entry = tombstone.read();
    CHECK(entry.type.empty());
    CHECK(entry.definition == 0);
    CHECK(entry.state == state::canceled);
    CHECK(entry.why == reason::mark_without_entry);
    CHECK(entry.epoch_number == 4);

    auto refused = new_undescribed("refused");
    REQUIRE(refused.insert(state::canceled, 6, 3, "me", reason::cancel_asked) == log_answer::taken);
    CHECK(refused.read().state == state::canceled);
    CHECK(refused.read().why == reason::cancel_asked);
    auto late = new_undescribed("submitted");
    CHECK(late.insert(state::canceled, 4, 3, "me", reason::mark_without_entry) ==
          log_answer::conflict);
    CHECK(late.read().state == state::initial);
}

TEST_CASE_TEMPLATE_DEFINE("log: pending, applied, done", Fixture, suite_commit) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto writer = pending_move(log, "t", 70, 1, "first");
    auto again = worker_on(log, "t");
    std::vector<image> const images{{0, 0, "{\"old\":1}", ""}, {1, 3, "", "{\"text\":\"\\\"ä\"}"}};
    CHECK(writer.commit(20, "first", images) == log_answer::taken);
    entry const applied = writer.read();
    CHECK(applied.state == state::applied);
    CHECK(applied.epoch_number == 70);
    CHECK(applied.committed == 70);
    CHECK(applied.modified == at_millisecond(20));
    CHECK(applied.created == at_millisecond(0));
    CHECK(applied.owner == "first");
    CHECK(applied.images == images);
    // A repeated compare-and-set finds another state.
    CHECK(again.commit(21, "first") == log_answer::conflict);
    CHECK(writer.read() == applied);

    again = worker_on(log, "t");
    CHECK(writer.close(30, "first") == log_answer::taken);
    entry const done = writer.read();
    CHECK(done.state == state::done);
    CHECK(done.committed == 70);
    CHECK(done.images == applied.images);
    CHECK(done.why == reason::none);
    CHECK(again.close(31, "first") == log_answer::conflict);
    CHECK(writer.read() == done);
}

TEST_CASE_TEMPLATE_DEFINE("log: a claim raises the epoch and takes the owner", Fixture,
                          suite_claim) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto writer = pending_move(log, "t", 70, 1, "first");
    auto second = worker_on(log, "t");
    auto third = worker_on(log, "t");
    CHECK(second.claim(40, "second") == log_answer::taken);
    entry const claimed = second.read();
    CHECK(claimed.state == state::pending);
    CHECK(claimed.epoch_number == 71);
    CHECK(claimed.attempts == 1);
    CHECK(claimed.owner == "second");
    CHECK(claimed.modified == at_millisecond(40));
    CHECK(claimed.created == at_millisecond(0));
    // The workers `third` and `first` still have the epoch before the claim.
    CHECK(third.claim(41, "third") == log_answer::conflict);
    CHECK(writer.commit(41, "first") == log_answer::conflict);
    CHECK(writer.read() == claimed);

    CHECK(second.commit(50, "second") == log_answer::taken);
    CHECK(second.read().committed == 71);
    auto fourth = worker_on(log, "t");
    CHECK(fourth.claim(60, "fourth") == log_answer::taken);
    CHECK(fourth.read().state == state::applied);
    CHECK(fourth.read().epoch_number == 72);
    CHECK(fourth.read().committed == 71);
    CHECK(fourth.read().attempts == 2);
    CHECK(second.close(61, "second") == log_answer::conflict);
    CHECK(fourth.close(62, "fourth") == log_answer::taken);
    CHECK(fourth.read().state == state::done);
    CHECK(fourth.read().committed == 71);
}

TEST_CASE_TEMPLATE_DEFINE("log: a submitted entry is claimed as pending", Fixture,
                          suite_claim_initial) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto writer = new_move(log, "t");
    REQUIRE(writer.insert(state::initial, 9, 1, "submitter") == log_answer::taken);
    auto worker = worker_on(log, "t");
    CHECK(worker.claim(2, "worker") == log_answer::taken);
    CHECK(worker.read().state == state::pending);
    CHECK(worker.read().epoch_number == 10);
    CHECK(worker.read().owner == "worker");
}

TEST_CASE_TEMPLATE_DEFINE("log: a cancel keeps its reason and its part", Fixture, suite_cancel) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    SUBCASE("by its owner, for a part") {
        auto writer = pending_move(log, "t", 70, 1, "first");
        auto again = worker_on(log, "t");
        CHECK(writer.cancel(5, "first", reason::guard_failed, 0) == log_answer::taken);
        entry const entry = writer.read();
        CHECK(entry.state == state::canceling);
        CHECK(entry.epoch_number == 70);
        CHECK(entry.committed == 0);
        CHECK(entry.why == reason::guard_failed);
        CHECK(entry.why_text.empty());
        CHECK(entry.participant == "source");
        CHECK_FALSE(entry.line.has_value());
        CHECK(entry.modified == at_millisecond(5));
        CHECK(again.cancel(6, "first", reason::guard_failed, 0) == log_answer::conflict);
        CHECK(writer.close(7, "first") == log_answer::taken);
        CHECK(writer.read().state == state::canceled);
        CHECK(writer.read().why == reason::guard_failed);
        CHECK(writer.read().participant == "source");
    }
    SUBCASE("with the text of the reason, which the end and a later claim leave") {
        std::string text{"settle: \"no\" r\xC3\xB6\xC3\xB6ms \\ left: "};
        text.append(500 - text.size(), 'x');
        auto writer = pending_move(log, "t", 70, 1, "first");
        CHECK(writer.cancel(5, "first", reason::refused, 0, false, {}, text) == log_answer::taken);
        CHECK(writer.read().why == reason::refused);
        CHECK(writer.read().why_text == text);
        auto next = worker_on(log, "t");
        CHECK(next.claim(6, "next") == log_answer::taken);
        CHECK(next.close(7, "next") == log_answer::taken);
        CHECK(next.read().state == state::canceled);
        CHECK(next.read().why_text == text);
        REQUIRE(log.list({}, "", 10).value().size() == 1);
        CHECK(log.list({}, "", 10).value()[0].why_text == text);
    }
    SUBCASE("by its owner, for a line of a range") {
        suite_entry writer{
            log, test_transaction::of<forward<order_type>>("t", {"A", 5, {{1, 1}, {2, 2}}})};
        REQUIRE(writer.insert(state::pending, 70, 1, "first") == log_answer::taken);
        CHECK(writer.cancel(5, "first", reason::record_missing, 2) == log_answer::taken);
        CHECK(writer.read().why == reason::record_missing);
        CHECK(writer.read().participant == "stock");
        CHECK(writer.read().line == 1U);
    }
    SUBCASE("by another worker: the epoch is raised, and the first reason stays") {
        auto writer = pending_move(log, "t", 70, 1, "first");
        auto canceler = worker_on(log, "t");
        CHECK(canceler.cancel(5, "canceler", reason::cancel_asked, entry_write::no_part, true) ==
              log_answer::taken);
        entry const created = canceler.read();
        CHECK(created.state == state::canceling);
        CHECK(created.epoch_number == 71);
        CHECK(created.owner == "canceler");
        CHECK(created.why == reason::cancel_asked);
        CHECK(created.participant.empty());
        CHECK(writer.commit(6, "first") == log_answer::conflict);
        CHECK(writer.read() == created);
        auto next = worker_on(log, "t");
        CHECK(next.claim(7, "next") == log_answer::taken);
        CHECK(next.read().state == state::canceling);
        CHECK(next.read().epoch_number == 72);
        CHECK(next.read().why == reason::cancel_asked);
    }
    SUBCASE("a submitted entry is canceled at once") {
        auto writer = new_move(log, "t");
        REQUIRE(writer.insert(state::initial, 9, 1, "submitter") == log_answer::taken);
        auto canceler = worker_on(log, "t");
        CHECK(canceler.cancel(5, "canceler", reason::cancel_asked, entry_write::no_part, true) ==
              log_answer::taken);
        CHECK(canceler.read().state == state::canceled);
        CHECK(canceler.read().why == reason::cancel_asked);
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: a change of an absent entry or from another state is refused",
                          Fixture, suite_conflict) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto const worker_with = [&](transaction_id id, state state, epoch number) {
        return suite_entry{log,
                           test_transaction::of<forward<move_type>>(std::move(id), usual_move()),
                           {state, number, 0, 0}};
    };
    CHECK(worker_with("missing", state::pending, 5).claim(1, "me") == log_answer::conflict);
    CHECK_FALSE(log.read("missing").value().has_value());

    auto writer = pending_move(log, "t", 70, 1, "first");
    entry const before = writer.read();
    struct shape {
        state found;
        epoch number;
    };
    for (shape const& expected :
         {shape{state::pending, 69}, shape{state::pending, 71}, shape{state::initial, 70},
          shape{state::applied, 70}, shape{state::canceling, 70}}) {
        INFO("expects ", std::string{name_of(expected.found)}, " ", expected.number);
        CHECK(worker_with("t", expected.found, expected.number).claim(2, "me") ==
              log_answer::conflict);
        CHECK(writer.read() == before);
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: listings are filtered, ordered by id and paged", Fixture,
                          suite_listing) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    std::vector<std::string> ids{"a",
                                 "B",
                                 "b/1",
                                 "\xC3\xA4",
                                 "z",
                                 "10",
                                 "9",
                                 " x",
                                 "q'\"",
                                 "b\\s",
                                 "\xF0\x9F\x98\x80",
                                 "%_*",
                                 "a-longer-id-than-short"};
    std::int64_t when = 0;
    for (auto const& id : ids) {
        state const as = when % 2 == 1 ? state::initial : state::pending;
        REQUIRE(new_move(log, id).insert(as, 5, when++, "me") == log_answer::taken);
    }
    std::vector<std::string> sorted = ids;
    std::sort(sorted.begin(), sorted.end());
    std::string listed;
    for (auto const& id : sorted) listed += id + ' ';
    CHECK(ids_of(log.list({}, "", 100).value()) == listed);

    SUBCASE("pages of every size hold every entry once") {
        for (std::size_t const size :
             {std::size_t{1}, std::size_t{2}, std::size_t{5}, ids.size()}) {
            std::string seen;
            std::string after;
            for (;;) {
                auto const page = log.list({}, after, size).value();
                CHECK(page.size() <= size);
                seen += ids_of(page);
                if (page.size() < size) break;
                after = page.back().id;
            }
            CHECK(seen == listed);
        }
    }
    SUBCASE("by state") {
        entry_filter filter;
        filter.state = state::initial;
        CHECK(log.list(filter, "", 100).value().size() == ids.size() / 2);
        filter.state = state::done;
        CHECK(log.list(filter, "", 100).value().empty());
    }
    SUBCASE("unfinished: every entry that is begun and not final") {
        entry_filter filter;
        filter.unfinished = true;
        CHECK(log.list(filter, "", 100).value().size() == (ids.size() + 1) / 2);
        auto writer = worker_on(log, "a");
        REQUIRE(writer.claim(100, "me") == log_answer::taken);
        REQUIRE(writer.cancel(101, "me", reason::overflow, 0) == log_answer::taken);
        CHECK(log.list(filter, "", 100).value().size() == (ids.size() + 1) / 2);
        REQUIRE(writer.close(102, "me") == log_answer::taken);
        CHECK(log.list(filter, "", 100).value().size() == (ids.size() + 1) / 2 - 1);
    }
    SUBCASE("by the time of the last change, which is included") {
        entry_filter filter;
        filter.before = at_millisecond(3);
        CHECK(log.list(filter, "", 100).value().size() == 4);
        auto writer = worker_on(log, ids[0]);
        REQUIRE(writer.claim(50, "me") == log_answer::taken);
        CHECK(log.list(filter, "", 100).value().size() == 3);
        filter.state = state::initial;
        CHECK(log.list(filter, "", 100).value().size() == 2);
        filter.before = at_millisecond(-1);
        CHECK(log.list(filter, "", 100).value().empty());
    }
}

} // namespace testing
SETTLE_END
#endif
