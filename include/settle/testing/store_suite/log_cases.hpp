// SPDX-License-Identifier: BSL-1.0
// The store suite: inserts, compare-and-sets, lookups and listings of a log.
#pragma once

#include <settle/testing/store_suite/bench.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

[[nodiscard]] inline timestamp at_millisecond(std::int64_t count) {
    return timestamp{std::chrono::milliseconds{1800000000000 + count}};
}

/// One transaction, with calls that write its entry.
template <typename Log, typename Direction>
class entry_story {
public:
    entry_story(Log& log, transaction_id id, typename Direction::parameters given, coordinator at)
        : log_(log) {
        jobs_.add(std::move(id), std::move(given), std::move(at)).created = at_millisecond(0);
    }

    [[nodiscard]] job& work() { return jobs_.jobs().front(); }
    [[nodiscard]] coordinator& c() { return work().coordinator; }
    [[nodiscard]] entry read() { return log_.read(work().id).value().value(); }

    log_answer insert(std::int64_t when, std::string const& owner) {
        log_.insert(jobs_.wave(), write_context{at_millisecond(when), owner});
        return work().reply;
    }
    template <step Step>
    log_answer change(std::int64_t when, std::string const& owner) {
        work().reply = log_answer::unknown;
        log_.template change<Step>(jobs_.wave(), write_context{at_millisecond(when), owner});
        return work().reply;
    }

    void insert_and_move(std::int64_t when, std::string const& owner) {
        REQUIRE(insert(when, owner) == log_answer::taken);
        c().inserted(log_answer::taken, false);
    }
    void answer_all(answer given) {
        for (std::size_t part = 0; part < c().parts(); ++part) c().answered(part, given);
        c().decide(1);
    }

private:
    Log& log_;
    crowd<Direction> jobs_;
};

[[nodiscard]] inline move usual_move() { return {"A\"ä'", "B\\", 10}; }

template <typename Log>
auto begin_move(Log& log, transaction_id id, epoch first, goal aim = goal::run) {
    return entry_story<Log, forward<move_type>>{log, std::move(id), usual_move(),
                                                coordinator::begin(2, first, aim)};
}
template <typename Log>
auto take_move(Log& log, transaction_id const& id) {
    auto const found = log.read(id).value().value();
    return entry_story<Log, forward<move_type>>{log, id, usual_move(),
                                                coordinator::take(2, standing_of(found))};
}

TEST_CASE_TEMPLATE_DEFINE("log: an entry is inserted once", Fixture, suite_insert) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    CHECK_FALSE(log.name().empty());
    CHECK_FALSE(log.read("t").value().has_value());
    epoch const highest = epoch_limit - 2;
    auto first = begin_move(log, "t", highest);
    REQUIRE(first.insert(5, "host/1/2") == log_answer::taken);
    entry const made = first.read();
    CHECK(made.id == "t");
    CHECK(made.type == "suite_move");
    CHECK(made.definition == forward<move_type>::definition());
    CHECK(encode_json(decode_json<move>(made.parameters).value()) == encode_json(usual_move()));
    CHECK(made.state == state::pending);
    CHECK(made.epoch_number == highest);
    CHECK(made.committed == 0);
    CHECK(made.owner == "host/1/2");
    CHECK(made.created == at_millisecond(0));
    CHECK(made.modified == at_millisecond(5));
    CHECK(made.attempts == 0);
    CHECK(made.why == reason::none);
    CHECK(made.participant.empty());
    CHECK_FALSE(made.line.has_value());
    CHECK(made.images.empty());

    auto again = begin_move(log, "t", 3, goal::submit);
    CHECK(again.insert(6, "other") == log_answer::conflict);
    auto twin = begin_move(log, "t", highest);
    CHECK(twin.insert(6, "host/1/2") == log_answer::conflict);
    CHECK(first.read() == made);
}

TEST_CASE_TEMPLATE_DEFINE("log: an entry is inserted as initial, and as canceled", Fixture,
                          suite_insert_states) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto submitted = begin_move(log, "submitted", 9, goal::submit);
    REQUIRE(submitted.insert(1, "me") == log_answer::taken);
    CHECK(submitted.read().state == state::initial);
    CHECK(submitted.read().epoch_number == 9);

    using unknown = entry_story<decltype(log), undescribed>;
    unknown tombstone{log, "tombstone", {}, coordinator::begin(0, 4, goal::tombstone)};
    REQUIRE(tombstone.insert(2, "me") == log_answer::taken);
    entry const made = tombstone.read();
    CHECK(made.type.empty());
    CHECK(made.definition == 0);
    CHECK(made.state == state::canceled);
    CHECK(made.why == reason::mark_without_entry);
    CHECK(made.epoch_number == 4);

    unknown refused{log, "refused", {}, coordinator::cancel(0)};
    view_of_entry view;
    view.fresh = 6;
    refused.c().found_nothing(view);
    REQUIRE(refused.insert(3, "me") == log_answer::taken);
    CHECK(refused.read().state == state::canceled);
    CHECK(refused.read().why == reason::cancel_asked);
    unknown late{log, "submitted", {}, coordinator::begin(0, 4, goal::tombstone)};
    CHECK(late.insert(3, "me") == log_answer::conflict);
    CHECK(late.read().state == state::initial);
}

TEST_CASE_TEMPLATE_DEFINE("log: pending, applied, done", Fixture, suite_commit) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto story = begin_move(log, "t", 70);
    story.insert_and_move(1, "first");
    story.answer_all(answer::applied);
    REQUIRE(story.c().next() == step::commit);
    story.work().images = {{0, 0, "{\"old\":1}", ""}, {1, 3, "", "{\"text\":\"\\\"ä\"}"}};
    CHECK(story.template change<step::commit>(20, "first") == log_answer::taken);
    entry const applied = story.read();
    CHECK(applied.state == state::applied);
    CHECK(applied.epoch_number == 70);
    CHECK(applied.committed == 70);
    CHECK(applied.modified == at_millisecond(20));
    CHECK(applied.created == at_millisecond(0));
    CHECK(applied.owner == "first");
    CHECK(applied.images == story.work().images);
    // A repeated compare-and-set finds another state.
    CHECK(story.template change<step::commit>(21, "first") == log_answer::conflict);
    CHECK(story.read() == applied);

    story.c().committed(log_answer::taken);
    story.answer_all(answer::applied);
    REQUIRE(story.c().next() == step::close);
    CHECK(story.template change<step::close>(30, "first") == log_answer::taken);
    entry const done = story.read();
    CHECK(done.state == state::done);
    CHECK(done.committed == 70);
    CHECK(done.images == applied.images);
    CHECK(done.why == reason::none);
    CHECK(story.template change<step::close>(31, "first") == log_answer::conflict);
    CHECK(story.read() == done);
}

TEST_CASE_TEMPLATE_DEFINE("log: a claim raises the epoch and takes the owner", Fixture,
                          suite_claim) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto story = begin_move(log, "t", 70);
    story.insert_and_move(1, "first");
    auto second = take_move(log, "t");
    auto third = take_move(log, "t");
    CHECK(second.template change<step::claim>(40, "second") == log_answer::taken);
    entry const claimed = second.read();
    CHECK(claimed.state == state::pending);
    CHECK(claimed.epoch_number == 71);
    CHECK(claimed.attempts == 1);
    CHECK(claimed.owner == "second");
    CHECK(claimed.modified == at_millisecond(40));
    CHECK(claimed.created == at_millisecond(0));
    // The workers `third` and `first` still have the epoch before the claim.
    CHECK(third.template change<step::claim>(41, "third") == log_answer::conflict);
    story.answer_all(answer::applied);
    CHECK(story.template change<step::commit>(41, "first") == log_answer::conflict);
    CHECK(story.read() == claimed);

    second.c().claimed(log_answer::taken, false);
    second.answer_all(answer::applied);
    CHECK(second.template change<step::commit>(50, "second") == log_answer::taken);
    CHECK(second.read().committed == 71);
    auto fourth = take_move(log, "t");
    CHECK(fourth.template change<step::claim>(60, "fourth") == log_answer::taken);
    CHECK(fourth.read().state == state::applied);
    CHECK(fourth.read().epoch_number == 72);
    CHECK(fourth.read().committed == 71);
    CHECK(fourth.read().attempts == 2);
    second.c().committed(log_answer::taken);
    second.answer_all(answer::applied);
    CHECK(second.template change<step::close>(61, "second") == log_answer::conflict);
    fourth.c().claimed(log_answer::taken, false);
    fourth.answer_all(answer::applied);
    CHECK(fourth.template change<step::close>(62, "fourth") == log_answer::taken);
    CHECK(fourth.read().state == state::done);
    CHECK(fourth.read().committed == 71);
}

TEST_CASE_TEMPLATE_DEFINE("log: what was submitted is claimed as pending", Fixture,
                          suite_claim_initial) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto story = begin_move(log, "t", 9, goal::submit);
    REQUIRE(story.insert(1, "submitter") == log_answer::taken);
    auto worker = take_move(log, "t");
    CHECK(worker.template change<step::claim>(2, "worker") == log_answer::taken);
    CHECK(worker.read().state == state::pending);
    CHECK(worker.read().epoch_number == 10);
    CHECK(worker.read().owner == "worker");
}

TEST_CASE_TEMPLATE_DEFINE("log: a cancel keeps its reason, and where", Fixture, suite_cancel) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    SUBCASE("by its owner, for a part") {
        auto story = begin_move(log, "t", 70);
        story.insert_and_move(1, "first");
        story.c().answered(0, answer::guard_failed);
        story.c().answered(1, answer::applied);
        story.c().decide(1);
        CHECK(story.template change<step::cancel>(5, "first") == log_answer::taken);
        entry const made = story.read();
        CHECK(made.state == state::canceling);
        CHECK(made.epoch_number == 70);
        CHECK(made.committed == 0);
        CHECK(made.why == reason::guard_failed);
        CHECK(made.participant == "source");
        CHECK_FALSE(made.line.has_value());
        CHECK(made.modified == at_millisecond(5));
        CHECK(story.template change<step::cancel>(6, "first") == log_answer::conflict);
        story.c().canceled(log_answer::taken);
        story.answer_all(answer::nothing);
        CHECK(story.template change<step::close>(7, "first") == log_answer::taken);
        CHECK(story.read().state == state::canceled);
        CHECK(story.read().why == reason::guard_failed);
        CHECK(story.read().participant == "source");
    }
    SUBCASE("by its owner, for a line of a range") {
        entry_story<decltype(log), forward<order_type>> story{
            log, "t", {"A", 5, {{1, 1}, {2, 2}}}, coordinator::begin(3, 70)};
        story.insert_and_move(1, "first");
        story.c().answered(0, answer::applied);
        story.c().answered(1, answer::applied);
        story.c().answered(2, answer::record_missing);
        story.c().decide(1);
        CHECK(story.template change<step::cancel>(5, "first") == log_answer::taken);
        CHECK(story.read().why == reason::record_missing);
        CHECK(story.read().participant == "stock");
        CHECK(story.read().line == 1U);
    }
    SUBCASE("by anyone: the epoch is raised, and the first reason stays") {
        auto story = begin_move(log, "t", 70);
        story.insert_and_move(1, "first");
        auto const standing = standing_of(story.read());
        entry_story<decltype(log), forward<move_type>> canceler{log, "t", usual_move(),
                                                             coordinator::cancel(2)};
        canceler.c().found(standing, {});
        CHECK(canceler.template change<step::cancel>(5, "canceler") == log_answer::taken);
        entry const made = canceler.read();
        CHECK(made.state == state::canceling);
        CHECK(made.epoch_number == 71);
        CHECK(made.owner == "canceler");
        CHECK(made.why == reason::cancel_asked);
        CHECK(made.participant.empty());
        story.answer_all(answer::applied);
        CHECK(story.template change<step::commit>(6, "first") == log_answer::conflict);
        CHECK(story.read() == made);
        auto next = take_move(log, "t");
        CHECK(next.template change<step::claim>(7, "next") == log_answer::taken);
        CHECK(next.read().state == state::canceling);
        CHECK(next.read().epoch_number == 72);
        CHECK(next.read().why == reason::cancel_asked);
    }
    SUBCASE("what was only submitted is canceled at once") {
        auto story = begin_move(log, "t", 9, goal::submit);
        REQUIRE(story.insert(1, "submitter") == log_answer::taken);
        entry_story<decltype(log), forward<move_type>> canceler{log, "t", usual_move(),
                                                             coordinator::cancel(2)};
        canceler.c().found(standing_of(story.read()), {});
        CHECK(canceler.template change<step::cancel>(5, "canceler") == log_answer::taken);
        CHECK(canceler.read().state == state::canceled);
        CHECK(canceler.read().why == reason::cancel_asked);
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: a change of what is not there, or is elsewhere", Fixture,
                          suite_conflict) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    using story_type = entry_story<decltype(log), forward<move_type>>;
    story_type missing{log, "missing", usual_move(),
                       coordinator::take(2, {state::pending, 5, 0, 0})};
    CHECK(missing.template change<step::claim>(1, "me") == log_answer::conflict);
    CHECK_FALSE(log.read("missing").value().has_value());

    auto here = begin_move(log, "t", 70);
    here.insert_and_move(1, "first");
    entry const before = here.read();
    struct shape {
        state found;
        epoch number;
    };
    for (shape const& one : {shape{state::pending, 69}, shape{state::pending, 71},
                             shape{state::initial, 70}, shape{state::applied, 70},
                             shape{state::canceling, 70}}) {
        INFO("expects ", std::string{name_of(one.found)}, " ", one.number);
        story_type other{log, "t", usual_move(),
                         coordinator::take(2, {one.found, one.number, 0, 0})};
        CHECK(other.template change<step::claim>(2, "me") == log_answer::conflict);
        CHECK(here.read() == before);
    }
}

TEST_CASE_TEMPLATE_DEFINE("log: a wave of a thousand entries, each answered by itself", Fixture,
                          suite_log_wave) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    std::string const owner = "me";
    crowd<forward<move_type>> jobs;
    for (std::size_t i = 0; i < 1000; ++i) {
        // Every fifth job repeats the id before it; every seventh job inserts nothing.
        std::string const id = "t" + std::to_string(i % 5 == 4 ? i - 1 : i);
        auto& work = jobs.add(id, usual_move(), coordinator::begin(2, 10 + i));
        work.created = at_millisecond(0);
        if (i % 7 == 6) work.coordinator = coordinator::take(2, {state::pending, 1, 0, 0});
    }
    log.insert(jobs.wave(), write_context{at_millisecond(1), owner});
    std::size_t taken = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
        INFO("job ", i);
        bool const fresh = i % 5 != 4 || (i - 1) % 7 == 6;
        auto& work = jobs.jobs()[i];
        if (i % 7 == 6) CHECK(work.reply == log_answer::unknown);
        else CHECK(work.reply == (fresh ? log_answer::taken : log_answer::conflict));
        if (work.reply != log_answer::taken) continue;
        ++taken;
        work.coordinator.inserted(log_answer::taken, false);
        for (std::size_t part = 0; part < 2; ++part) {
            work.coordinator.answered(part, answer::applied);
        }
        work.coordinator.decide(1);
    }
    CHECK(log.list({}, "", 5000).value().size() == taken);
    log.template change<step::commit>(jobs.wave(), write_context{at_millisecond(2), owner});
    entry_filter filter;
    filter.state = state::applied;
    auto const applied = log.list(filter, "", 5000).value();
    CHECK(applied.size() == taken);
    for (entry const& one : applied) CHECK(one.committed == one.epoch_number);
}

TEST_CASE_TEMPLATE_DEFINE("log: a wave of entries that are looked up, each answered by itself",
                          Fixture, suite_look_up) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto closed = begin_move(log, "done", 70);
    closed.insert_and_move(1, "first");
    closed.answer_all(answer::applied);
    REQUIRE(closed.template change<step::commit>(2, "first") == log_answer::taken);
    closed.c().committed(log_answer::taken);
    closed.answer_all(answer::applied);
    REQUIRE(closed.template change<step::close>(3, "first") == log_answer::taken);
    auto pending = begin_move(log, "pending", 80);
    pending.insert_and_move(4, "second");

    crowd<forward<move_type>> jobs;
    std::vector<std::string> const ids{"pending", "missing", "done", "done", "other", "skipped"};
    for (auto const& id : ids) {
        jobs.add(id, id == "other" ? move{"C", "D", 1} : usual_move(), coordinator::begin(2, 9));
    }
    // A job whose parameters differ from the entry, and a job that does not read.
    for (auto& work : jobs.jobs()) work.coordinator.look_again();
    jobs.jobs()[4].id = "done";
    jobs.jobs()[5].coordinator = coordinator::begin(2, 9);
    struct answer_of {
        job const* work;
        std::optional<entry> found;
        bool same;
    };
    std::vector<answer_of> answers;
    log.look_up(jobs.wave(), [&](job& work, result<std::optional<entry>> found, bool same) {
        answers.push_back({&work, found.value(), same});
    });
    std::vector<std::string> states;
    for (auto const& [work, here, same] : answers) {
        states.push_back(work->id + ": " + std::string{here ? name_of(here->state) : "none"});
        if (!here) continue;
        entry alone = log.read(work->id).value().value();
        if (same) CHECK(work != &jobs.jobs()[4]);
        if (same) alone.parameters = here->parameters;
        CHECK(*here == alone);
    }
    std::sort(states.begin(), states.end());
    CHECK(states == std::vector<std::string>{"done: done", "done: done", "done: done",
                                           "missing: none", "pending: pending"});
}

TEST_CASE_TEMPLATE_DEFINE("log: listings are filtered, ordered by id and paged", Fixture,
                          suite_listing) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    std::vector<std::string> ids{"a",  "B",   "b/1",   "\xC3\xA4", "z",          "10",        "9",
                                 " x", "q'\"", "b\\s", "\xF0\x9F\x98\x80", "%_*",
                                 "a-longer-id-than-short"};
    std::int64_t when = 0;
    for (auto const& id : ids) {
        bool const submitted = when % 2 == 1;
        auto story = begin_move(log, id, 5, submitted ? goal::submit : goal::run);
        REQUIRE(story.insert(when++, "me") == log_answer::taken);
    }
    auto const ids_of = [](std::vector<entry> const& found) {
        std::string out;
        for (entry const& one : found) out += one.id + "|";
        return out;
    };
    std::vector<std::string> sorted = ids;
    std::sort(sorted.begin(), sorted.end());
    std::string all;
    for (auto const& id : sorted) all += id + "|";
    CHECK(ids_of(log.list({}, "", 100).value()) == all);

    SUBCASE("pages of every size hold every entry once") {
        for (std::size_t const size : {std::size_t{1}, std::size_t{2}, std::size_t{5},
                                       ids.size()}) {
            std::string seen;
            std::string after;
            for (;;) {
                auto const page = log.list({}, after, size).value();
                CHECK(page.size() <= size);
                seen += ids_of(page);
                if (page.size() < size) break;
                after = page.back().id;
            }
            CHECK(seen == all);
        }
    }
    SUBCASE("by state") {
        entry_filter filter;
        filter.state = state::initial;
        CHECK(log.list(filter, "", 100).value().size() == ids.size() / 2);
        filter.state = state::done;
        CHECK(log.list(filter, "", 100).value().empty());
    }
    SUBCASE("unfinished: what somebody began") {
        entry_filter filter;
        filter.unfinished = true;
        CHECK(log.list(filter, "", 100).value().size() == (ids.size() + 1) / 2);
        auto story = take_move(log, "a");
        REQUIRE(story.template change<step::claim>(100, "me") == log_answer::taken);
        story.c().claimed(log_answer::taken, false);
        story.c().answered(0, answer::overflow);
        story.c().decide(1);
        REQUIRE(story.template change<step::cancel>(101, "me") == log_answer::taken);
        CHECK(log.list(filter, "", 100).value().size() == (ids.size() + 1) / 2);
        story.c().canceled(log_answer::taken);
        story.answer_all(answer::nothing);
        REQUIRE(story.template change<step::close>(102, "me") == log_answer::taken);
        CHECK(log.list(filter, "", 100).value().size() == (ids.size() + 1) / 2 - 1);
    }
    SUBCASE("by the time of the last change, which counts as before itself") {
        entry_filter filter;
        filter.before = at_millisecond(3);
        CHECK(log.list(filter, "", 100).value().size() == 4);
        auto story = take_move(log, ids[0]);
        REQUIRE(story.template change<step::claim>(50, "me") == log_answer::taken);
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
