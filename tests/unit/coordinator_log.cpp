// SPDX-License-Identifier: BSL-1.0
// The coordinator and the log: births, claims, lost and unknown compare-and-sets, cancels.
#include "coordinator_steps.hpp"

namespace coordinator_test {
namespace {

TEST_CASE("coordinator: an insert that was not reached is sent again as it was") {
    auto c = coordinator::begin(1, first_epoch);
    auto const before = c;
    c.inserted(log_answer::unavailable, false);
    CHECK(c == before);
}

TEST_CASE("coordinator: an unknown insert is read, never trusted") {
    auto c = coordinator::begin(2, first_epoch);
    c.inserted(log_answer::unknown, false);
    REQUIRE(c.next() == step::read);
    CHECK(c.epoch_number() == 0);

    SUBCASE("it is there: claimed under a new epoch before anything is applied") {
        c.found(standing{state::pending, first_epoch, 0, 0}, mine);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().to_epoch == first_epoch + 1);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::apply);
        CHECK(c.epoch_number() == first_epoch + 1);
    }
    SUBCASE("it is not there: sent again under an epoch of its own") {
        c.found_nothing(mine);
        REQUIRE(c.next() == step::insert);
        CHECK(c.insert_epoch() == mine.fresh);
        c.inserted(log_answer::taken, false);
        CHECK(c.epoch_number() == mine.fresh);
        CHECK(c.next() == step::apply);
    }
    SUBCASE("a clock that stood still does not bring its epoch near to that of the lost insert") {
        auto still = mine;
        still.fresh = first_epoch + 1;
        c.found_nothing(still);
        CHECK(c.insert_epoch() == first_epoch + settle::epochs_per_millisecond);
    }
    SUBCASE("it came late, between the look and the second insert: still its own, so claimed") {
        c.found_nothing(mine);
        c.inserted(log_answer::conflict, false);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::pending, first_epoch, 0, 0}, mine);
        CHECK(c.next() == step::claim);
    }
    SUBCASE("somebody else has it: wait") {
        c.found(standing{state::pending, first_epoch + 7, 0, 1}, of_another);
        CHECK(c.next() == step::wait);
    }
    SUBCASE("somebody else has ended it: nothing was written, nothing is swept") {
        c.found(standing{state::done, first_epoch + 7, first_epoch + 7, 1}, of_another);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
}

TEST_CASE("coordinator: an id that is there is followed by its state") {
    auto c = coordinator::begin(2, first_epoch);
    c.inserted(log_answer::conflict, false);
    REQUIRE(c.next() == step::read);
    SUBCASE("final: its end is the answer") {
        for (state const end : {state::done, state::canceled}) {
            auto other = c;
            other.found(standing{end, 7, 7, 0}, of_another);
            CHECK(other.next() == step::end);
            CHECK(other.state() == end);
        }
    }
    SUBCASE("unfinished and owned: wait, and look again") {
        for (state const now : {state::pending, state::applied, state::canceling}) {
            for (view_of_entry const view : {of_another, mine}) {
                auto other = c;
                other.found(standing{now, 7, 0, 0}, view);
                CHECK(other.next() == step::wait);
            }
        }
    }
    SUBCASE("unfinished and left behind: claimed, each into its own work") {
        struct expected {
            state found, claimed;
            step then;
        };
        for (auto const& [found, claimed, then] :
             {expected{state::initial, state::pending, step::apply},
              expected{state::pending, state::pending, step::apply},
              expected{state::applied, state::applied, step::confirm},
              expected{state::canceling, state::canceling, step::compensate}}) {
            auto other = c;
            other.found(standing{found, 7, found == state::applied ? 6U : 0U, 2}, left_behind);
            REQUIRE(other.next() == step::claim);
            CHECK(other.change().from == found);
            CHECK(other.change().to == claimed);
            CHECK(other.change().to_epoch == 8);
            CHECK(other.change().committed == (found == state::applied ? 6 : 0));
            other.claimed(log_answer::taken, false);
            CHECK(other.next() == then);
            CHECK(other.state() == claimed);
            CHECK(other.epoch_number() == 8);
            CHECK(other.attempts() == 3);
        }
    }
    SUBCASE("it was purged meanwhile: inserted under a fresh epoch") {
        c.found_nothing(of_another);
        CHECK(c.next() == step::insert);
        CHECK(c.insert_epoch() == of_another.fresh);
        CHECK_FALSE(c.vanished());
    }
}

TEST_CASE("coordinator: a claim that is lost, unknown or not reached") {
    auto c = coordinator::take(2, standing{state::pending, 7, 0, 1});
    REQUIRE(c.next() == step::claim);
    SUBCASE("not reached: asked again as it was") {
        auto const before = c;
        c.claimed(log_answer::unavailable, false);
        CHECK(c == before);
    }
    SUBCASE("lost: read, and left to the winner") {
        c.claimed(log_answer::conflict, false);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::pending, 8, 0, 2}, of_another);
        CHECK(c.next() == step::wait);
        CHECK(c.epoch_number() == 0);
    }
    SUBCASE("unknown and landed: claimed again, since only an acknowledged claim counts") {
        c.claimed(log_answer::unknown, false);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::pending, 8, 0, 2}, mine);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().from_epoch == 8);
        CHECK(c.change().to_epoch == 9);
    }
    SUBCASE("unknown and not landed: the old owner is still gone, so claimed again") {
        c.claimed(log_answer::unknown, false);
        c.found(standing{state::pending, 7, 0, 1}, left_behind);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().to_epoch == 8);
    }
    SUBCASE("unknown, and it lands before the second: still its own") {
        c.claimed(log_answer::unknown, false);
        c.found(standing{state::pending, 7, 0, 1}, left_behind);
        c.claimed(log_answer::conflict, false);
        c.found(standing{state::pending, 8, 0, 2}, mine);
        CHECK(c.next() == step::claim);
    }
    SUBCASE("acknowledged: what follows no longer counts as its own by mistake") {
        c.claimed(log_answer::unknown, false);
        c.found(standing{state::pending, 8, 0, 2}, mine);
        c.claimed(log_answer::taken, false);
        REQUIRE(c.next() == step::apply);
        answer_due(c, {answer::fenced, answer::applied});
        c.found(standing{state::pending, 12, 0, 5}, mine);
        CHECK(c.next() == step::wait);
    }
}

TEST_CASE("coordinator: an unknown commit is read in each state that it can meet") {
    auto c = committing(2);
    c.committed(log_answer::unknown);
    REQUIRE(c.next() == step::read);
    SUBCASE("not landed: claim, and apply every part again under the new epoch") {
        c.found(standing{state::pending, first_epoch, 0, 0}, mine);
        REQUIRE(c.next() == step::claim);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::apply);
        CHECK(due_parts(c) == std::vector<bool>{true, true});
        CHECK(c.epoch_number() == first_epoch + 1);
    }
    SUBCASE("landed: claim, and confirm by the epoch of the commit") {
        c.found(standing{state::applied, first_epoch, first_epoch, 0}, mine);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().to == state::applied);
        CHECK(c.change().committed == first_epoch);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::confirm);
        CHECK(c.committed() == first_epoch);
        answer_all(c, answer::applied);
        CHECK(c.change().from_epoch == first_epoch + 1);
        CHECK(c.change().committed == first_epoch);
    }
    SUBCASE("landed and finished by another: sweep, then report it") {
        c.found(standing{state::done, first_epoch + 1, first_epoch, 1}, of_another);
        CHECK(c.next() == step::confirm);
        answer_all(c, answer::nothing);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
    SUBCASE("another is finishing it: wait") {
        c.found(standing{state::applied, first_epoch + 1, first_epoch, 1}, of_another);
        CHECK(c.next() == step::wait);
    }
    SUBCASE("a cancel was faster: wait for it, then undo what was written") {
        c.found(standing{state::canceling, first_epoch + 1, 0, 0}, of_another);
        REQUIRE(c.next() == step::wait);
        c.look_again();
        c.found(standing{state::canceled, first_epoch + 1, 0, 0}, of_another);
        CHECK(c.next() == step::compensate);
        answer_all(c, answer::applied);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::canceled);
    }
    SUBCASE("the entry is gone: nothing more is written") {
        c.found_nothing(mine);
        CHECK(c.next() == step::end);
        CHECK(c.vanished());
        CHECK_FALSE(settle::is_final(c.state()));
    }
}

TEST_CASE("coordinator: a commit that is lost never confirms") {
    auto c = committing(1);
    c.committed(log_answer::conflict);
    CHECK(c.next() == step::read);
    CHECK(c.committed() == 0);
    c.found(standing{state::pending, first_epoch + 1, 0, 1}, of_another);
    CHECK(c.next() == step::wait);

    SUBCASE("not reached: asked again") {
        auto other = committing(1);
        auto const before = other;
        other.committed(log_answer::unavailable);
        CHECK(other == before);
    }
}

TEST_CASE("coordinator: a close that is unknown or lost is read, and settled marks are met again") {
    for (log_answer const reply : {log_answer::unknown, log_answer::conflict}) {
        auto c = confirming(1);
        answer_all(c, answer::applied);
        c.closed(reply);
        REQUIRE(c.next() == step::read);
        auto ended = c;
        ended.found(standing{state::done, first_epoch, first_epoch, 0}, mine);
        CHECK(ended.next() == step::confirm);
        answer_all(ended, answer::nothing);
        CHECK(ended.next() == step::end);
        c.found(standing{state::applied, first_epoch, first_epoch, 0}, mine);
        CHECK(c.next() == (reply == log_answer::unknown ? step::claim : step::wait));
    }
}

TEST_CASE("coordinator: an entry that is too old is canceled, never committed") {
    SUBCASE("the inserter looks after its acknowledgement") {
        auto c = coordinator::begin(1, first_epoch);
        c.inserted(log_answer::taken, true);
        CHECK(c.next() == step::cancel);
        CHECK(c.why() == reason::expired);
        CHECK(c.failed_part() == coordinator::no_part);
        c.canceled(log_answer::taken);
        CHECK(c.next() == step::compensate);
    }
    SUBCASE("every claim looks") {
        for (state const found : {state::initial, state::pending}) {
            auto c = coordinator::take(1, standing{found, 7, 0, 0});
            c.claimed(log_answer::taken, true);
            CHECK(c.next() == step::cancel);
            CHECK(c.why() == reason::expired);
            CHECK(c.change().from == state::pending);
            CHECK(c.change().from_epoch == 8);
            CHECK(c.change().to == state::canceling);
        }
    }
    SUBCASE("what was committed in time is finished at any age") {
        auto c = coordinator::take(1, standing{state::applied, 7, 7, 0});
        c.claimed(log_answer::taken, true);
        CHECK(c.next() == step::confirm);
    }
    SUBCASE("giving way looks as well") {
        auto c = applying(2);
        answer_due(c, {answer::applied, answer::busy});
        answer_due(c, {answer::applied});
        c.claimed(log_answer::taken, true);
        CHECK(c.next() == step::cancel);
        CHECK(c.why() == reason::expired);
    }
}

TEST_CASE("coordinator: anyone may cancel what is not committed") {
    auto c = coordinator::cancel(2);
    REQUIRE(c.next() == step::read);
    CHECK(c.why() == reason::cancel_asked);
    SUBCASE("initial: canceled at once, under a raised epoch") {
        c.found(standing{state::initial, 7, 0, 0}, of_another);
        REQUIRE(c.next() == step::cancel);
        CHECK(c.change().from == state::initial);
        CHECK(c.change().to == state::canceled);
        CHECK(c.change().to_epoch == 8);
        CHECK(c.change().why == reason::cancel_asked);
        c.canceled(log_answer::taken);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::canceled);
    }
    SUBCASE("pending, its owner at work: taken from it, and compensated here") {
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        REQUIRE(c.next() == step::cancel);
        CHECK(c.change().from_epoch == 7);
        CHECK(c.change().to == state::canceling);
        CHECK(c.change().to_epoch == 8);
        CHECK(c.change().takes_owner);
        c.canceled(log_answer::taken);
        CHECK(c.next() == step::compensate);
        CHECK(c.epoch_number() == 8);
        CHECK(due_parts(c) == std::vector<bool>{true, true});
        answer_all(c, answer::applied);
        CHECK(c.change().from_epoch == 8);
        c.closed(log_answer::taken);
        CHECK(c.state() == state::canceled);
    }
    SUBCASE("committed: too late, the owner is waited for") {
        c.found(standing{state::applied, 7, 7, 1}, of_another);
        CHECK(c.next() == step::wait);
        c.look_again();
        c.found(standing{state::done, 7, 7, 1}, of_another);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
    SUBCASE("committed and left behind: finished as done, and no reason is written for it") {
        c.found(standing{state::applied, 7, 6, 1}, left_behind);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().why == reason::none);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::confirm);
        answer_all(c, answer::applied);
        CHECK(c.change().to == state::done);
        CHECK(c.change().why == reason::none);
    }
    SUBCASE("another cancel is at it: waited for, or taken over when it was left behind") {
        auto behind = c;
        c.found(standing{state::canceling, 7, 0, 1}, of_another);
        CHECK(c.next() == step::wait);
        behind.found(standing{state::canceling, 7, 0, 1}, left_behind);
        REQUIRE(behind.next() == step::claim);
        CHECK(behind.change().to == state::canceling);
        behind.claimed(log_answer::taken, false);
        CHECK(behind.next() == step::compensate);
    }
    SUBCASE("nobody knows it: inserted as canceled") {
        c.found_nothing(of_another);
        REQUIRE(c.next() == step::insert);
        CHECK(c.insert_state() == state::canceled);
        CHECK(c.insert_epoch() == of_another.fresh);
        c.inserted(log_answer::taken, false);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::canceled);
        CHECK(c.why() == reason::cancel_asked);
    }
    SUBCASE("the owner was faster: read again, and follow it") {
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        c.canceled(log_answer::conflict);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::done, 7, 7, 1}, of_another);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
    SUBCASE("unknown and landed: its own, so claimed and compensated") {
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        c.canceled(log_answer::unknown);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::canceling, 8, 0, 1}, mine);
        REQUIRE(c.next() == step::claim);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::compensate);
        CHECK(c.epoch_number() == 9);
    }
    SUBCASE("unknown and not landed: asked again") {
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        c.canceled(log_answer::unknown);
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        REQUIRE(c.next() == step::cancel);
        CHECK(c.change().to_epoch == 8);
    }
}

TEST_CASE("coordinator: a cancel of its own that is unknown stays what was decided") {
    auto c = canceling(2);
    c.canceled(log_answer::unknown);
    REQUIRE(c.next() == step::read);
    SUBCASE("not landed: it is canceled under the new epoch") {
        c.found(standing{state::pending, first_epoch, 0, 0}, mine);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().why == reason::none);
        c.claimed(log_answer::taken, false);
        REQUIRE(c.next() == step::cancel);
        CHECK(c.change().why == reason::guard_failed);
        CHECK(c.change().from_epoch == first_epoch + 1);
        CHECK(c.failed_part() == 0);
    }
    SUBCASE("landed: compensated, and the reason stands") {
        c.found(standing{state::canceling, first_epoch, 0, 0}, mine);
        REQUIRE(c.next() == step::claim);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::compensate);
        CHECK(c.why() == reason::guard_failed);
        CHECK(c.failed_part() == 0);
    }
}

TEST_CASE("coordinator: a submitted transaction is inserted and left") {
    auto c = coordinator::begin(2, first_epoch, goal::submit);
    CHECK(c.insert_state() == state::initial);
    auto again = c;
    c.inserted(log_answer::taken, false);
    CHECK(c.next() == step::end);
    CHECK(c.state() == state::initial);

    again.inserted(log_answer::conflict, false);
    for (state const found : {state::initial, state::pending, state::applied, state::canceling,
                              state::done, state::canceled}) {
        auto other = again;
        other.found(standing{found, 7, 0, 0}, left_behind);
        CHECK(other.next() == step::end);
        CHECK(other.state() == found);
    }
}

TEST_CASE("coordinator: a tombstone is inserted as canceled, and one that is there is left") {
    auto c = coordinator::begin(0, first_epoch, goal::tombstone);
    CHECK(c.insert_state() == state::canceled);
    CHECK(c.why() == reason::mark_without_entry);
    auto again = c;
    c.inserted(log_answer::taken, false);
    CHECK(c.next() == step::end);
    CHECK(c.state() == state::canceled);
    for (state const found : {state::initial, state::pending, state::applied, state::canceling,
                              state::done, state::canceled}) {
        auto other = again;
        other.inserted(log_answer::conflict, false);
        other.found(standing{found, 7, 5, 0}, left_behind);
        CHECK(other.next() == step::end);
        CHECK(other.state() == found);
        CHECK(other.committed() == 5);
    }
    again.inserted(log_answer::unknown, false);
    again.found_nothing(mine);
    CHECK(again.next() == step::insert);
    CHECK(again.insert_epoch() == mine.fresh);
}

TEST_CASE("coordinator: a recovery whose entry is gone ends without a verdict") {
    auto c = coordinator::take(2, standing{state::pending, 7, 0, 0});
    c.claimed(log_answer::conflict, false);
    c.found_nothing(mine);
    CHECK(c.next() == step::end);
    CHECK(c.vanished());
    CHECK_FALSE(settle::is_final(c.state()));
}

} // namespace
} // namespace coordinator_test
