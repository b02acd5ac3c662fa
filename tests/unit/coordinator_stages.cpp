// SPDX-License-Identifier: BSL-1.0
// The coordinator of a transaction with several stages: keeps, revisions, claims, cancels.
#include "coordinator_steps.hpp"
#include "counted_new.hpp"

namespace coordinator_test {
namespace {

using settle::phases;
using settle::stage_number;

/// Two records, a query whose result the last stage needs, and two calls.
constexpr stage_number stage_of[]{0, 0, 1, 2, 2};
constexpr std::size_t part_count = 5;
/// Three stages, each compensated after the later ones.
constexpr settle::stage_plan stages = [] {
    settle::stage_plan made{3};
    made.undone_by_stage = true;
    return made;
}();

/// For each part, a bit for each part that is compensated before it.
using undone_after = std::array<std::uint64_t, part_count>;

[[nodiscard]] std::vector<std::size_t> due_now(coordinator& c, undone_after const& after = {}) {
    std::vector<std::size_t> due;
    std::ignore = c.order_undo([&](auto const& look) {
        for (std::uint32_t part = 0; part < part_count; ++part) {
            look(part, settle::undo_place{part, stage_of[part], after[part]});
        }
    });
    for (std::size_t part = 0; part < part_count; ++part) {
        if (c.due(part, stage_of[part])) due.push_back(part);
    }
    return due;
}

/// Answers the parts that are due, in order, and lets the coordinator decide.
void answer_stage(coordinator& c, std::vector<answer> const& answers,
                  std::uint32_t limit = many_attempts) {
    auto const due = due_now(c);
    REQUIRE(due.size() == answers.size());
    for (std::size_t i = 0; i < due.size(); ++i) c.answered(due[i], answers[i]);
    c.decide(limit);
}

/// Gives every due part the same answer, and lets the coordinator decide.
void answer_all_due(coordinator& c, answer reply, undone_after const& after = {}) {
    for (std::size_t const part : due_now(c, after)) c.answered(part, reply);
    c.decide(many_attempts);
}

[[nodiscard]] coordinator begun() {
    auto made = coordinator::begin(part_count, first_epoch, goal::run, phases::two, stages);
    made.inserted(log_answer::taken, false);
    return made;
}

/// A transaction that applies this stage, after it kept the earlier stages.
[[nodiscard]] coordinator at_stage(stage_number stage) {
    auto transaction = begun();
    while (transaction.stage() < stage) {
        answer_all_due(transaction, answer::applied);
        REQUIRE(transaction.next() == step::keep);
        transaction.kept(log_answer::taken);
    }
    REQUIRE(transaction.next() == step::apply);
    return transaction;
}

[[nodiscard]] coordinator canceling_at(stage_number stage) {
    auto transaction = at_stage(stage);
    transaction.cancel_for(reason::cancel_asked);
    transaction.canceled(log_answer::taken);
    REQUIRE(transaction.next() == step::compensate);
    return transaction;
}

using list = std::vector<std::size_t>;

TEST_CASE("coordinator: stages are applied in order, with a keep between them") {
    auto c = begun();
    CHECK(c.stages() == stages.count);
    CHECK(c.may_start_over());
    for (stage_number stage = 0; stage < stages.count; ++stage) {
        CAPTURE(+stage);
        REQUIRE(c.next() == step::apply);
        CHECK(c.stage() == stage);
        CHECK(due_now(c) == (stage == 0 ? list{0, 1} : stage == 1 ? list{2} : list{3, 4}));
        answer_all_due(c, answer::applied);
        if (stage + 1 == stages.count) break;
        REQUIRE(c.next() == step::keep);
        auto const change = c.change();
        CHECK(change.from == state::pending);
        CHECK(change.to == state::pending);
        CHECK(change.from_epoch == first_epoch);
        CHECK(change.to_epoch == first_epoch);
        CHECK(change.from_revision == stage);
        CHECK(change.to_revision == stage + 1U);
        CHECK(change.stages_kept == stage + 1);
        CHECK(change.committed == 0);
        CHECK_FALSE(change.takes_owner);
        c.kept(log_answer::taken);
        CHECK(c.revision() == stage + 1U);
        CHECK_FALSE(c.may_start_over());
    }
    REQUIRE(c.next() == step::commit);
    CHECK(c.change().from_revision == 2);
    CHECK(c.change().to_revision == 2);
    CHECK(c.change().stages_kept == 2);
    c.committed(log_answer::taken);

    // Records first, then the later stages.
    for (list const& due : {list{0, 1}, list{2}, list{3, 4}}) {
        REQUIRE(c.next() == step::confirm);
        CHECK(due_now(c) == due);
        answer_all_due(c, answer::applied);
    }
    REQUIRE(c.next() == step::close);
    CHECK(c.change().from_revision == 2);
    c.closed(log_answer::taken);
    CHECK(c.next() == step::end);
    CHECK(c.state() == state::done);
}

TEST_CASE("coordinator: with one stage no keep is sent and the revision stays 0") {
    auto c = applying(2);
    CHECK(c.stages() == 1);
    CHECK(c.due(0));
    CHECK(c.due(0, 0));
    CHECK_FALSE(c.due(0, 1));
    answer_all(c, answer::applied);
    REQUIRE(c.next() == step::commit);
    CHECK(c.change().from_revision == 0);
    CHECK(c.change().to_revision == 0);
    CHECK(c.change().stages_kept == 0);
}

TEST_CASE("coordinator: a type with several stages does not run in one phase") {
    CHECK(coordinator::begin(part_count, first_epoch, goal::run, phases::one, stages).next() ==
          step::insert);
    CHECK(coordinator::take(part_count, standing{state::initial, 7, 0, 0}, phases::one, stages)
              .next() == step::claim);
}

TEST_CASE("coordinator: after a lost or unknown keep no later stage is called") {
    auto c = at_stage(1);
    answer_all_due(c, answer::applied);
    REQUIRE(c.next() == step::keep);
    SUBCASE("unavailable: sent again unchanged") {
        auto const before = c;
        c.kept(log_answer::unavailable);
        CHECK(c == before);
    }
    SUBCASE("lost: the worker reads, and waits for the other worker") {
        c.kept(log_answer::conflict);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::pending, first_epoch + 1, 0, 1, 1, 1}, of_another);
        CHECK(c.next() == step::wait);
    }
    SUBCASE("lost to a finished cancel: only the records are swept") {
        c.kept(log_answer::conflict);
        c.found(standing{state::canceled, first_epoch + 1, 0, 1, 1, 1}, of_another);
        REQUIRE(c.next() == step::compensate);
        CHECK(due_now(c) == list{0, 1});
        answer_all_due(c, answer::nothing);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::canceled);
    }
    SUBCASE("unknown and landed: claimed, and the kept stage is not called again") {
        c.kept(log_answer::unknown);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::pending, first_epoch, 0, 0, 2, 2}, own);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().from_revision == 2);
        CHECK(c.change().stages_kept == 2);
        c.claimed(log_answer::taken, false);
        CHECK(due_now(c) == list{0, 1});
        answer_all_due(c, answer::applied);
        REQUIRE(c.next() == step::apply);
        CHECK(due_now(c) == list{3, 4});
    }
    SUBCASE("unknown and not landed: claimed, and the stage is called again") {
        c.kept(log_answer::unknown);
        c.found(standing{state::pending, first_epoch, 0, 0, 1, 1}, own);
        REQUIRE(c.next() == step::claim);
        c.claimed(log_answer::taken, false);
        answer_all_due(c, answer::applied);
        CHECK(due_now(c) == list{2});
        answer_all_due(c, answer::applied);
        REQUIRE(c.next() == step::keep);
        CHECK(c.change().from_epoch == first_epoch + 1);
        CHECK(c.change().to_revision == 2);
    }
    SUBCASE("the log cannot hold the results: the stage is compensated") {
        c.kept(log_answer::unfit);
        REQUIRE(c.next() == step::keep);
        c.cancel_for(reason::record_unusable);
        c.canceled(log_answer::taken);
        CHECK(due_now(c) == list{2});
    }
}

TEST_CASE("coordinator: each compare-and-set looks at the revision") {
    standing const stored{state::pending, 7, 0, 1, 4, 1};
    auto taken = coordinator::take(part_count, stored, phases::two, stages);
    CHECK(taken.change().from_revision == 4);
    CHECK(taken.change().to_revision == 4);
    CHECK(taken.change().stages_kept == 1);
    taken.claimed(log_answer::taken, true);
    REQUIRE(taken.next() == step::cancel);
    CHECK(taken.change().from_revision == 4);
    taken.canceled(log_answer::taken);
    answer_all_due(taken, answer::applied);
    answer_all_due(taken, answer::applied);
    REQUIRE(taken.next() == step::close);
    CHECK(taken.change().from_revision == 4);
    CHECK(taken.change().to_revision == 4);

    auto canceler = coordinator::cancel(part_count, reason::cancel_asked, stages);
    canceler.found(stored, of_another);
    REQUIRE(canceler.next() == step::cancel);
    CHECK(canceler.change().from_revision == 4);
    SUBCASE("the owner kept a stage meanwhile: the cancel reads, and compensates that stage too") {
        canceler.canceled(log_answer::conflict);
        REQUIRE(canceler.next() == step::read);
        canceler.found(standing{state::pending, 7, 0, 1, 5, 2}, of_another);
        CHECK(canceler.change().from_revision == 5);
        canceler.canceled(log_answer::taken);
        CHECK(due_now(canceler) == list{3, 4});
    }
}

TEST_CASE("coordinator: a claim applies the records again, then continues after the kept stages") {
    for (stage_number kept = 0; kept < stages.count; ++kept) {
        CAPTURE(+kept);
        auto c = coordinator::take(part_count, standing{state::pending, 7, 0, 1, kept, kept},
                                   phases::two, stages);
        c.claimed(log_answer::taken, false);
        REQUIRE(c.next() == step::apply);
        CHECK(due_now(c) == list{0, 1});
        answer_all_due(c, answer::applied);
        CHECK(c.next() == (kept == 0 ? step::keep : step::apply));
        if (kept != 0) CHECK(c.stage() == kept);
    }
    SUBCASE("an unknown record after a keep: claimed once more") {
        auto c = coordinator::take(part_count, standing{state::pending, 7, 0, 1, 2, 2}, phases::two,
                                   stages);
        c.claimed(log_answer::taken, false);
        answer_stage(c, {answer::applied, answer::unknown});
        REQUIRE(c.next() == step::claim);
        c.claimed(log_answer::taken, false);
        REQUIRE(c.next() == step::pause);
        c.resume();
        CHECK(due_now(c) == list{0, 1});
        answer_all_due(c, answer::applied);
        CHECK(c.stage() == 2);
        CHECK(c.stages_kept() == 2);
    }
}

TEST_CASE("coordinator: a cancel compensates every stage that can have been called, last first") {
    SUBCASE("no stage kept: only the records") {
        auto c = canceling_at(0);
        CHECK(due_now(c) == list{0, 1});
        answer_all_due(c, answer::applied);
        CHECK(c.next() == step::close);
    }
    SUBCASE("the records kept: the query as well") {
        auto c = canceling_at(1);
        CHECK(due_now(c) == list{2});
        answer_all_due(c, answer::applied);
        CHECK(due_now(c) == list{0, 1});
    }
    SUBCASE("all stages but the last kept: every part, whatever its answer") {
        auto c = canceling_at(2);
        for (list const& due : {list{3, 4}, list{2}, list{0, 1}}) {
            REQUIRE(c.next() == step::compensate);
            CHECK(due_now(c) == due);
            answer_all_due(c, answer::applied);
        }
        REQUIRE(c.next() == step::close);
        CHECK(c.change().to == state::canceled);
    }
    SUBCASE("a refused call cancels, and names its part") {
        auto c = at_stage(2);
        answer_stage(c, {answer::applied, answer::guard_failed});
        REQUIRE(c.next() == step::cancel);
        CHECK(c.failed_part() == 4);
        c.canceled(log_answer::taken);
        CHECK(due_now(c) == list{3, 4});
    }
    SUBCASE("a part without an answer is sent again before the next stage") {
        auto c = canceling_at(2);
        answer_stage(c, {answer::unknown, answer::applied});
        CHECK(due_now(c) == list{3});
        answer_all_due(c, answer::unavailable);
        CHECK(due_now(c) == list{3});
        answer_all_due(c, answer::nothing);
        CHECK(due_now(c) == list{2});
    }
    SUBCASE("taken over: from the last stage again") {
        auto c = coordinator::take(part_count, standing{state::canceling, 7, 0, 1, 2, 2},
                                   phases::two, stages);
        c.claimed(log_answer::taken, false);
        CHECK(due_now(c) == list{3, 4});
    }
    SUBCASE("initial: canceled at once") {
        auto c = coordinator::cancel(part_count, reason::cancel_asked, stages);
        c.found(standing{state::initial, 7, 0, 0}, of_another);
        c.canceled(log_answer::taken);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::canceled);
    }
}

TEST_CASE("coordinator: parts whose results no later part has used are compensated at once") {
    auto const canceling = [](stage_number kept) {
        auto c = coordinator::take(part_count, standing{state::canceling, 7, 0, 1, kept, kept},
                                   phases::two, settle::stage_plan{3});
        c.claimed(log_answer::taken, false);
        return c;
    };
    SUBCASE("a stage that was never called is left out") {
        auto c = canceling(1);
        CHECK(due_now(c) == list{0, 1, 2});
        answer_all_due(c, answer::applied);
        CHECK(c.next() == step::close);
    }
    SUBCASE("a part without an answer holds none of the others") {
        auto c = canceling(2);
        answer_stage(c, {answer::applied, answer::nothing, answer::applied, answer::unavailable,
                         answer::unknown});
        REQUIRE(c.next() == step::compensate);
        CHECK(due_now(c) == list{3, 4});
        answer_all_due(c, answer::applied);
        CHECK(c.next() == step::close);
    }
    SUBCASE("a part waits for the part that used its result, and for no other") {
        undone_after const after{0, 0, 1U << 4U, 0, 0};
        auto c = canceling(2);
        CHECK(due_now(c, after) == list{0, 1, 3, 4});
        for (std::size_t const part : {0U, 1U, 4U}) c.answered(part, answer::applied);
        c.answered(3, answer::unavailable);
        c.decide(many_attempts);
        REQUIRE(c.next() == step::compensate);
        CHECK(due_now(c, after) == list{2, 3});
        c.answered(2, answer::applied);
        c.decide(many_attempts);
        REQUIRE(c.next() == step::compensate);
        CHECK(due_now(c, after) == list{3});
        answer_all_due(c, answer::nothing, after);
        CHECK(c.next() == step::close);
    }
    SUBCASE("a chain of uses is compensated in turn") {
        undone_after const after{0, 0, 1U << 3U, 1U << 4U, 0};
        auto c = canceling(2);
        for (list const& due : {list{0, 1, 4}, list{3}, list{2}}) {
            REQUIRE(c.next() == step::compensate);
            CHECK(due_now(c, after) == due);
            answer_all_due(c, answer::applied, after);
        }
        CHECK(c.next() == step::close);
    }
    SUBCASE("a user that was never called holds nothing") {
        undone_after const after{0, 0, 1U << 4U, 0, 0};
        auto c = canceling(1);
        CHECK(due_now(c, after) == list{0, 1, 2});
    }
}

TEST_CASE("coordinator: a later stage is repeated, and the transaction never starts over") {
    auto c = at_stage(2);
    SUBCASE("busy: only that part, after a pause, up to the limit") {
        answer_stage(c, {answer::applied, answer::busy}, 1);
        REQUIRE(c.next() == step::pause);
        CHECK(c.epoch_number() == first_epoch);
        c.resume();
        REQUIRE(c.next() == step::apply);
        CHECK(due_now(c) == list{4});
        answer_stage(c, {answer::busy}, 1);
        REQUIRE(c.next() == step::cancel);
        CHECK(c.why() == reason::busy);
        CHECK(c.failed_part() == 4);
        c.canceled(log_answer::taken);
        CHECK(due_now(c) == list{3, 4});
    }
    SUBCASE("unknown: that part again under the same epoch") {
        answer_stage(c, {answer::unknown, answer::busy});
        REQUIRE(c.next() == step::apply);
        CHECK(due_now(c) == list{3});
        answer_stage(c, {answer::applied});
        CHECK(c.next() == step::pause);
    }
    SUBCASE("unavailable: that part again") {
        answer_stage(c, {answer::unavailable, answer::applied});
        CHECK(due_now(c) == list{3});
        answer_stage(c, {answer::applied});
        CHECK(c.next() == step::commit);
    }
    SUBCASE("a busy record after a claim: sent again, since its stage is kept") {
        auto taken = coordinator::take(part_count, standing{state::pending, 7, 0, 1, 2, 2},
                                       phases::two, stages);
        taken.claimed(log_answer::taken, false);
        answer_stage(taken, {answer::applied, answer::busy});
        REQUIRE(taken.next() == step::pause);
        taken.resume();
        CHECK(due_now(taken) == list{0, 1});
    }
}

TEST_CASE("coordinator: the first stage backs off as a transaction of one stage does") {
    auto c = begun();
    answer_stage(c, {answer::applied, answer::busy});
    REQUIRE(c.next() == step::back_off);
    CHECK(due_now(c) == list{0});
    answer_stage(c, {answer::unknown});
    CHECK(due_now(c) == list{0});
    answer_all_due(c, answer::applied);
    REQUIRE(c.next() == step::claim);
    c.claimed(log_answer::taken, false);
    REQUIRE(c.next() == step::pause);
    c.resume();
    CHECK(due_now(c) == list{0, 1});

    auto behind = begun();
    answer_all_due(behind, answer::applied);
    behind.requeue();
    CHECK(behind.next() == step::claim);
}

TEST_CASE("coordinator: a stage without a part is decided at once") {
    auto c = coordinator::begin(1, first_epoch, goal::run, phases::two, 2);
    c.inserted(log_answer::taken, false);
    CHECK_FALSE(c.due(0, 1));
    c.decide(many_attempts);
    REQUIRE(c.next() == step::keep);
    c.kept(log_answer::taken);
    CHECK(c.due(0, 1));
    c.answered(0, answer::applied);
    c.decide(many_attempts);
    CHECK(c.next() == step::commit);
}

TEST_CASE("coordinator: coordinators with different stages or revisions differ") {
    auto const one = at_stage(1);
    CHECK_FALSE(one == at_stage(2));
    CHECK_FALSE(one.hash() == at_stage(2).hash());
    for (standing const& other :
         {standing{state::pending, 7, 0, 1, 2, 1}, standing{state::pending, 7, 0, 1, 1, 0}}) {
        auto const taken = coordinator::take(part_count, other, phases::two, stages);
        auto const base = coordinator::take(part_count, standing{state::pending, 7, 0, 1, 1, 1},
                                            phases::two, stages);
        CHECK_FALSE(taken == base);
        CHECK_FALSE(taken.hash() == base.hash());
    }
}

TEST_CASE("coordinator: stages allocate no memory") {
    auto const before = counted_new::calls();
    auto c = coordinator::begin(16, first_epoch, goal::run, phases::two, 16);
    c.inserted(log_answer::taken, false);
    for (std::size_t part = 0; part < 16; ++part) {
        c.answered(part, answer::applied);
        c.decide(many_attempts);
        if (part != 15) c.kept(log_answer::taken);
    }
    bool const commits = c.next() == step::commit;
    auto const allocated = counted_new::calls() - before;
    CHECK(commits);
    CHECK(allocated == 0);
}

} // namespace
} // namespace coordinator_test
