// SPDX-License-Identifier: BSL-1.0
// The coordinator: its requests to the stores, and the step after each answer.
#include "coordinator_steps.hpp"

namespace coordinator_test {
namespace {

TEST_CASE("coordinator: a transaction without conflicts or failures takes five steps") {
    auto c = coordinator::begin(2, first_epoch);
    CHECK(c.next() == step::insert);
    CHECK(c.insert_state() == state::pending);
    CHECK(c.insert_epoch() == first_epoch);

    c.inserted(log_answer::taken, false);
    CHECK(c.next() == step::apply);
    CHECK(c.state() == state::pending);
    CHECK(c.epoch_number() == first_epoch);
    CHECK(due_parts(c) == std::vector<bool>{true, true});

    answer_due(c, {answer::applied, answer::applied});
    CHECK(c.next() == step::commit);
    auto const commit = c.change();
    CHECK(commit.from == state::pending);
    CHECK(commit.from_epoch == first_epoch);
    CHECK(commit.to == state::applied);
    CHECK(commit.to_epoch == first_epoch);
    CHECK(commit.committed == first_epoch);
    CHECK_FALSE(commit.takes_owner);

    c.committed(log_answer::taken);
    CHECK(c.next() == step::confirm);
    CHECK(c.committed() == first_epoch);
    CHECK(due_parts(c) == std::vector<bool>{true, true});

    answer_due(c, {answer::applied, answer::applied});
    CHECK(c.next() == step::close);
    auto const close = c.change();
    CHECK(close.from == state::applied);
    CHECK(close.to == state::done);
    CHECK(close.committed == first_epoch);

    c.closed(log_answer::taken);
    CHECK(c.next() == step::end);
    CHECK(c.state() == state::done);
    CHECK(c.attempts() == 0);
    CHECK(c.why() == reason::none);
    CHECK(c.failed_part() == coordinator::no_part);
}

TEST_CASE("coordinator: fenced, failed, unknown, busy and applied decide a wave in this order") {
    // Every mixture of three parts; the strongest answer decides, wherever it stands.
    constexpr answer ranked[]{answer::applied, answer::busy, answer::unknown, answer::guard_failed,
                              answer::fenced};
    for (std::size_t mixture = 0; mixture < 125; ++mixture) {
        std::size_t const ranks[]{mixture % 5, mixture / 5 % 5, mixture / 25};
        CAPTURE(mixture);
        auto c = applying(3);
        answer_due(c, {ranked[ranks[0]], ranked[ranks[1]], ranked[ranks[2]]});
        std::size_t const strongest = std::max({ranks[0], ranks[1], ranks[2]});
        bool const any_applied = std::count(std::begin(ranks), std::end(ranks), 0U) != 0;
        switch (strongest) {
        case 4: CHECK(c.next() == step::read); break;
        case 3: {
            CHECK(c.next() == step::cancel);
            CHECK(c.why() == reason::guard_failed);
            auto const first = std::find(std::begin(ranks), std::end(ranks), 3U);
            CHECK(c.failed_part() == static_cast<std::size_t>(first - std::begin(ranks)));
            break;
        }
        case 2: CHECK(c.next() == step::claim); break;
        // A worker without marks has nothing to undo, and claims at once.
        case 1: CHECK(c.next() == (any_applied ? step::back_off : step::claim)); break;
        default: CHECK(c.next() == step::commit);
        }
    }
}

TEST_CASE("coordinator: each canceling answer has its reason") {
    struct expected {
        answer reply;
        reason why;
    };
    for (auto const& [reply, why] :
         {expected{answer::guard_failed, reason::guard_failed},
          expected{answer::record_missing, reason::record_missing},
          expected{answer::record_exists, reason::record_exists},
          expected{answer::overflow, reason::overflow},
          expected{answer::two_parts, reason::two_parts_name_one_record}}) {
        auto c = applying(2);
        answer_due(c, {answer::applied, reply});
        CHECK(c.next() == step::cancel);
        CHECK(c.why() == why);
        CHECK(c.failed_part() == 1);
        auto const change = c.change();
        CHECK(change.from == state::pending);
        CHECK(change.from_epoch == first_epoch);
        CHECK(change.to == state::canceling);
        CHECK(change.to_epoch == first_epoch);
        CHECK(change.why == why);
        CHECK_FALSE(change.takes_owner);
    }
}

TEST_CASE("coordinator: the reason names the first failed part of the definition") {
    auto c = applying(4);
    answer_due(c, {answer::busy, answer::overflow, answer::guard_failed, answer::record_missing});
    CHECK(c.why() == reason::overflow);
    CHECK(c.failed_part() == 1);
}

TEST_CASE("coordinator: only the unavailable part is sent again") {
    auto c = applying(3);
    answer_due(c, {answer::applied, answer::unavailable, answer::busy});
    CHECK(c.next() == step::apply);
    CHECK(due_parts(c) == std::vector<bool>{false, true, false});
    answer_due(c, {answer::unavailable});
    CHECK(c.next() == step::apply);
    answer_due(c, {answer::applied});
    CHECK(c.next() == step::back_off);

    SUBCASE("another part is unknown: the decision waits for the whole wave") {
        auto other = applying(2);
        answer_due(other, {answer::unknown, answer::unavailable});
        CHECK(other.next() == step::apply);
        CHECK(due_parts(other) == std::vector<bool>{false, true});
        answer_due(other, {answer::applied});
        CHECK(other.next() == step::claim);
    }
    SUBCASE("another part is fenced: the wave is decided") {
        auto other = applying(2);
        answer_due(other, {answer::fenced, answer::unavailable});
        CHECK(other.next() == step::read);
    }
}

TEST_CASE("coordinator: an unknown apply is followed by a claim and an apply of every part") {
    auto c = applying(3);
    answer_due(c, {answer::applied, answer::unknown, answer::busy});
    CHECK(c.next() == step::claim);
    auto const claim = c.change();
    CHECK(claim.from == state::pending);
    CHECK(claim.from_epoch == first_epoch);
    CHECK(claim.to == state::pending);
    CHECK(claim.to_epoch == first_epoch + 1);
    CHECK(claim.attempts == 1);
    CHECK(claim.takes_owner);

    c.claimed(log_answer::taken, false);
    CHECK(c.next() == step::pause);
    c.resume();
    CHECK(c.next() == step::apply);
    CHECK(c.epoch_number() == first_epoch + 1);
    CHECK(c.attempts() == 1);
    CHECK(due_parts(c) == std::vector<bool>{true, true, true});
}

TEST_CASE("coordinator: backing off undoes only its own marks, claims and starts over") {
    auto c = applying(3);
    answer_due(c, {answer::applied, answer::busy, answer::applied});
    CHECK(c.next() == step::back_off);
    CHECK(due_parts(c) == std::vector<bool>{true, false, true});
    CHECK(c.epoch_number() == first_epoch);

    SUBCASE("an unavailable part is sent again") {
        answer_due(c, {answer::unavailable, answer::applied});
        CHECK(c.next() == step::back_off);
        CHECK(due_parts(c) == std::vector<bool>{true, false, false});
        answer_due(c, {answer::nothing});
    }
    SUBCASE("an unknown undo is repeated until it has an answer") {
        answer_due(c, {answer::unknown, answer::applied});
        CHECK(c.next() == step::back_off);
        CHECK(due_parts(c) == std::vector<bool>{true, false, false});
        CHECK(c.epoch_number() == first_epoch);
        answer_due(c, {answer::nothing});
    }
    SUBCASE("all undone") { answer_due(c, {answer::applied, answer::applied}); }

    CHECK(c.next() == step::claim);
    CHECK(c.change().from_epoch == first_epoch);
    c.claimed(log_answer::taken, false);
    CHECK(c.next() == step::pause);
    c.resume();
    CHECK(due_parts(c) == std::vector<bool>{true, true, true});
    CHECK(c.epoch_number() == first_epoch + 1);
}

TEST_CASE("coordinator: a part that is busy too often cancels, and the reason names it") {
    auto c = applying(3);
    constexpr std::uint32_t limit = 3;
    for (std::uint32_t attempt = 0; attempt < limit; ++attempt) {
        answer_due(c, {answer::applied, answer::busy, answer::busy}, limit);
        REQUIRE(c.next() == step::back_off);
        answer_due(c, {answer::applied}, limit);
        c.claimed(log_answer::taken, false);
        c.resume();
        CHECK(c.attempts() == attempt + 1);
    }
    answer_due(c, {answer::applied, answer::busy, answer::busy}, limit);
    CHECK(c.next() == step::cancel);
    CHECK(c.why() == reason::busy);
    CHECK(c.failed_part() == 1);
    c.canceled(log_answer::taken);
    CHECK(c.next() == step::compensate);
    CHECK(due_parts(c) == std::vector<bool>{true, true, true});
}

TEST_CASE("coordinator: a finish or an undo is repeated until it is acknowledged") {
    for (bool const commits : {true, false}) {
        CAPTURE(commits);
        auto c = commits ? confirming(3) : canceling(3);
        if (!commits) c.canceled(log_answer::taken);
        step const under_way = commits ? step::confirm : step::compensate;
        REQUIRE(c.next() == under_way);
        answer_due(c, {answer::applied, answer::unknown, answer::unavailable});
        CHECK(c.next() == under_way);
        CHECK(due_parts(c) == std::vector<bool>{false, true, true});
        answer_due(c, {answer::nothing, answer::unknown});
        CHECK(due_parts(c) == std::vector<bool>{false, false, true});
        answer_due(c, {answer::applied});
        CHECK(c.next() == step::close);
        CHECK(c.change().to == (commits ? state::done : state::canceled));
        c.closed(log_answer::taken);
        CHECK(c.next() == step::end);
        CHECK(c.state() == (commits ? state::done : state::canceled));
    }
}

TEST_CASE("coordinator: a fenced worker reads the entry before it writes") {
    auto c = applying(2);
    answer_due(c, {answer::applied, answer::fenced});
    REQUIRE(c.next() == step::read);
    SUBCASE("another worker owns the entry: wait") {
        c.found(standing{state::pending, first_epoch + 3, 0, 3}, of_another);
        CHECK(c.next() == step::wait);
        c.look_again();
        CHECK(c.next() == step::read);
    }
    SUBCASE("another call of this process owns the entry: wait") {
        c.found(standing{state::pending, first_epoch + 3, 0, 3}, own);
        CHECK(c.next() == step::wait);
    }
    SUBCASE("the owner is gone: claim under a higher epoch") {
        c.found(standing{state::pending, first_epoch + 3, 0, 3}, abandoned);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().from_epoch == first_epoch + 3);
        CHECK(c.change().to_epoch == first_epoch + 4);
        CHECK(c.change().attempts == 4);
    }
    SUBCASE("the entry is done: the worker sweeps its own marks by the committed epoch") {
        c.found(standing{state::done, first_epoch + 3, first_epoch + 2, 3}, of_another);
        CHECK(c.next() == step::confirm);
        CHECK(c.committed() == first_epoch + 2);
        CHECK(due_parts(c) == std::vector<bool>{true, true});
        answer_due(c, {answer::applied, answer::nothing});
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
    SUBCASE("the entry is canceled: the worker undoes its own marks") {
        c.found(standing{state::canceled, first_epoch + 3, 0, 3}, of_another);
        CHECK(c.next() == step::compensate);
        answer_due(c, {answer::unknown, answer::applied});
        CHECK(c.next() == step::compensate);
        answer_due(c, {answer::nothing});
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::canceled);
    }
}

} // namespace
} // namespace coordinator_test
