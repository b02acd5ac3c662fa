// SPDX-License-Identifier: BSL-1.0
// The coordinator: what it asks of the stores, and what each of their answers leads to.
#include "coordinator_steps.hpp"

namespace coordinator_test {
namespace {

TEST_CASE("coordinator: a transaction that nothing stands against takes five steps") {
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

TEST_CASE("coordinator: a decided wave follows fenced, failed, unknown, busy, applied") {
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
        // Who has set no mark has nothing to give way with, and claims at once.
        case 1: CHECK(c.next() == (any_applied ? step::back_off : step::claim)); break;
        default: CHECK(c.next() == step::commit);
        }
    }
}

TEST_CASE("coordinator: each answer that cancels has its reason") {
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
        auto const asked = c.change();
        CHECK(asked.from == state::pending);
        CHECK(asked.from_epoch == first_epoch);
        CHECK(asked.to == state::canceling);
        CHECK(asked.to_epoch == first_epoch);
        CHECK(asked.why == why);
        CHECK_FALSE(asked.takes_owner);
    }
}

TEST_CASE("coordinator: of several failed parts the first in the definition is named") {
    auto c = applying(4);
    answer_due(c, {answer::busy, answer::overflow, answer::guard_failed, answer::record_missing});
    CHECK(c.why() == reason::overflow);
    CHECK(c.failed_part() == 1);
}

TEST_CASE("coordinator: a part that was not reached is asked again alone") {
    auto c = applying(3);
    answer_due(c, {answer::applied, answer::unavailable, answer::busy});
    CHECK(c.next() == step::apply);
    CHECK(due_parts(c) == std::vector<bool>{false, true, false});
    answer_due(c, {answer::unavailable});
    CHECK(c.next() == step::apply);
    answer_due(c, {answer::applied});
    CHECK(c.next() == step::back_off);

    SUBCASE("an unknown beside it waits for the rest of the wave") {
        auto other = applying(2);
        answer_due(other, {answer::unknown, answer::unavailable});
        CHECK(other.next() == step::apply);
        CHECK(due_parts(other) == std::vector<bool>{false, true});
        answer_due(other, {answer::applied});
        CHECK(other.next() == step::claim);
    }
    SUBCASE("a fence beside it needs no more answers") {
        auto other = applying(2);
        answer_due(other, {answer::fenced, answer::unavailable});
        CHECK(other.next() == step::read);
    }
}

TEST_CASE("coordinator: after an unknown apply it claims, then applies every part again") {
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

TEST_CASE("coordinator: giving way undoes its own marks alone, claims and starts over") {
    auto c = applying(3);
    answer_due(c, {answer::applied, answer::busy, answer::applied});
    CHECK(c.next() == step::back_off);
    CHECK(due_parts(c) == std::vector<bool>{true, false, true});
    CHECK(c.epoch_number() == first_epoch);

    SUBCASE("a part that was not reached is asked again") {
        answer_due(c, {answer::unavailable, answer::applied});
        CHECK(c.next() == step::back_off);
        CHECK(due_parts(c) == std::vector<bool>{true, false, false});
        answer_due(c, {answer::nothing});
    }
    SUBCASE("an unknown undo is repeated until it is known") {
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

TEST_CASE("coordinator: who is busy too often is canceled, and names the first busy part") {
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

TEST_CASE("coordinator: what finishes or undoes is asked until it is known to be done") {
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

TEST_CASE("coordinator: a fenced worker writes nothing before it has read the entry") {
    auto c = applying(2);
    answer_due(c, {answer::applied, answer::fenced});
    REQUIRE(c.next() == step::read);
    SUBCASE("another worker is at it: wait") {
        c.found(standing{state::pending, first_epoch + 3, 0, 3}, of_another);
        CHECK(c.next() == step::wait);
        c.look_again();
        CHECK(c.next() == step::read);
    }
    SUBCASE("the same process, in another call: wait as well") {
        c.found(standing{state::pending, first_epoch + 3, 0, 3}, mine);
        CHECK(c.next() == step::wait);
    }
    SUBCASE("the other worker is gone: claim above it") {
        c.found(standing{state::pending, first_epoch + 3, 0, 3}, left_behind);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().from_epoch == first_epoch + 3);
        CHECK(c.change().to_epoch == first_epoch + 4);
        CHECK(c.change().attempts == 4);
    }
    SUBCASE("it is done: the worker sweeps what it wrote, by the epoch of the commit") {
        c.found(standing{state::done, first_epoch + 3, first_epoch + 2, 3}, of_another);
        CHECK(c.next() == step::confirm);
        CHECK(c.committed() == first_epoch + 2);
        CHECK(due_parts(c) == std::vector<bool>{true, true});
        answer_due(c, {answer::applied, answer::nothing});
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
    SUBCASE("it is canceled: the worker undoes what it wrote") {
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
