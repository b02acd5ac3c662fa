// SPDX-License-Identifier: BSL-1.0
// The coordinator and the log: inserts, claims, lost and unknown compare-and-sets, cancels.
#include "coordinator_steps.hpp"

namespace coordinator_test {
namespace {

TEST_CASE("coordinator: an unavailable insert is sent again unchanged") {
    auto c = coordinator::begin(1, first_epoch);
    auto const before = c;
    c.inserted(log_answer::unavailable, false);
    CHECK(c == before);
}

TEST_CASE("coordinator: an unknown insert is followed by a read") {
    auto c = coordinator::begin(2, first_epoch);
    c.inserted(log_answer::unknown, false);
    REQUIRE(c.next() == step::read);
    CHECK(c.epoch_number() == 0);

    SUBCASE("the entry exists: claimed under a new epoch before any apply") {
        c.found(standing{state::pending, first_epoch, 0, 0}, own);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().to_epoch == first_epoch + 1);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::apply);
        CHECK(c.epoch_number() == first_epoch + 1);
    }
    SUBCASE("the entry is absent: inserted again under a new epoch") {
        c.found_nothing(own);
        REQUIRE(c.next() == step::insert);
        CHECK(c.insert_epoch() == own.fresh);
        c.inserted(log_answer::taken, false);
        CHECK(c.epoch_number() == own.fresh);
        CHECK(c.next() == step::apply);
    }
    SUBCASE("the clock stood still: the new epoch is far above the epoch of the lost insert") {
        auto still = own;
        still.fresh = first_epoch + 1;
        c.found_nothing(still);
        CHECK(c.insert_epoch() == first_epoch + settle::epochs_per_millisecond);
    }
    SUBCASE("the insert landed between the read and the second insert: claimed") {
        c.found_nothing(own);
        c.inserted(log_answer::conflict, false);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::pending, first_epoch, 0, 0}, own);
        CHECK(c.next() == step::claim);
    }
    SUBCASE("another worker owns the entry: wait") {
        c.found(standing{state::pending, first_epoch + 7, 0, 1}, of_another);
        CHECK(c.next() == step::wait);
    }
    SUBCASE("another worker has ended the entry: no mark was written, so none is swept") {
        c.found(standing{state::done, first_epoch + 7, first_epoch + 7, 1}, of_another);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
}

TEST_CASE("coordinator: the state of an existing entry decides the next step") {
    auto c = coordinator::begin(2, first_epoch);
    c.inserted(log_answer::conflict, false);
    REQUIRE(c.next() == step::read);
    SUBCASE("final: its state is the outcome") {
        for (state const end : {state::done, state::canceled}) {
            auto other = c;
            other.found(standing{end, 7, 7, 0}, of_another);
            CHECK(other.next() == step::end);
            CHECK(other.state() == end);
        }
    }
    SUBCASE("unfinished and owned: wait, then read again") {
        for (state const now : {state::pending, state::applied, state::canceling}) {
            for (view_of_entry const view : {of_another, own}) {
                auto other = c;
                other.found(standing{now, 7, 0, 0}, view);
                CHECK(other.next() == step::wait);
            }
        }
    }
    SUBCASE("unfinished and abandoned: claimed, and its state decides the work") {
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
            other.found(standing{found, 7, found == state::applied ? 6U : 0U, 2}, abandoned);
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
    SUBCASE("purged meanwhile: inserted under a fresh epoch") {
        c.found_nothing(of_another);
        CHECK(c.next() == step::insert);
        CHECK(c.insert_epoch() == of_another.fresh);
        CHECK_FALSE(c.vanished());
    }
}

TEST_CASE("coordinator: a claim is lost, unknown or unavailable") {
    auto c = coordinator::take(2, standing{state::pending, 7, 0, 1});
    REQUIRE(c.next() == step::claim);
    SUBCASE("unavailable: sent again unchanged") {
        auto const before = c;
        c.claimed(log_answer::unavailable, false);
        CHECK(c == before);
    }
    SUBCASE("lost: read, and left to the other worker") {
        c.claimed(log_answer::conflict, false);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::pending, 8, 0, 2}, of_another);
        CHECK(c.next() == step::wait);
        CHECK(c.epoch_number() == 0);
    }
    SUBCASE("unknown and landed: claimed again, since only an acknowledged claim counts") {
        c.claimed(log_answer::unknown, false);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::pending, 8, 0, 2}, own);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().from_epoch == 8);
        CHECK(c.change().to_epoch == 9);
    }
    SUBCASE("unknown and not landed: the old owner is still gone, so it is claimed again") {
        c.claimed(log_answer::unknown, false);
        c.found(standing{state::pending, 7, 0, 1}, abandoned);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().to_epoch == 8);
    }
    SUBCASE("unknown, and landed before the second claim: claimed again") {
        c.claimed(log_answer::unknown, false);
        c.found(standing{state::pending, 7, 0, 1}, abandoned);
        c.claimed(log_answer::conflict, false);
        c.found(standing{state::pending, 8, 0, 2}, own);
        CHECK(c.next() == step::claim);
    }
    SUBCASE("acknowledged: a later conflict is with another worker") {
        c.claimed(log_answer::unknown, false);
        c.found(standing{state::pending, 8, 0, 2}, own);
        c.claimed(log_answer::taken, false);
        REQUIRE(c.next() == step::apply);
        answer_due(c, {answer::fenced, answer::applied});
        c.found(standing{state::pending, 12, 0, 5}, own);
        CHECK(c.next() == step::wait);
    }
}

TEST_CASE("coordinator: an unknown commit is followed by a read, in each state of the entry") {
    auto c = committing(2);
    c.committed(log_answer::unknown);
    REQUIRE(c.next() == step::read);
    SUBCASE("not landed: claim, and apply every part again under the new epoch") {
        c.found(standing{state::pending, first_epoch, 0, 0}, own);
        REQUIRE(c.next() == step::claim);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::apply);
        CHECK(due_parts(c) == std::vector<bool>{true, true});
        CHECK(c.epoch_number() == first_epoch + 1);
    }
    SUBCASE("landed: claim, and confirm by the epoch of the commit") {
        c.found(standing{state::applied, first_epoch, first_epoch, 0}, own);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().to == state::applied);
        CHECK(c.change().committed == first_epoch);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::confirm);
        CHECK(c.committed() == first_epoch);
        answer_all(c, answer::applied);
        REQUIRE(c.next() == step::force);
        c.forced(true);
        CHECK(c.change().from_epoch == first_epoch + 1);
        CHECK(c.change().committed == first_epoch);
    }
    SUBCASE("landed and finished by another worker: sweep, then report the outcome") {
        c.found(standing{state::done, first_epoch + 1, first_epoch, 1}, of_another);
        CHECK(c.next() == step::confirm);
        answer_all(c, answer::nothing);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
    SUBCASE("another worker finishes it: wait") {
        c.found(standing{state::applied, first_epoch + 1, first_epoch, 1}, of_another);
        CHECK(c.next() == step::wait);
    }
    SUBCASE("a cancel was faster: wait for its end, then undo the own marks") {
        c.found(standing{state::canceling, first_epoch + 1, 0, 0}, of_another);
        REQUIRE(c.next() == step::wait);
        c.look_again();
        c.found(standing{state::canceled, first_epoch + 1, 0, 0}, of_another);
        CHECK(c.next() == step::compensate);
        answer_all(c, answer::applied);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::canceled);
    }
    SUBCASE("the entry is absent: the worker writes nothing more") {
        c.found_nothing(own);
        CHECK(c.next() == step::end);
        CHECK(c.vanished());
        CHECK_FALSE(settle::is_final(c.state()));
    }
}

TEST_CASE("coordinator: a lost commit never confirms") {
    auto c = committing(1);
    c.committed(log_answer::conflict);
    CHECK(c.next() == step::read);
    CHECK(c.committed() == 0);
    c.found(standing{state::pending, first_epoch + 1, 0, 1}, of_another);
    CHECK(c.next() == step::wait);

    SUBCASE("unavailable: sent again") {
        auto other = committing(1);
        auto const before = other;
        other.committed(log_answer::unavailable);
        CHECK(other == before);
    }
}

TEST_CASE("coordinator: an unknown or lost close is followed by a read and a repeated finish") {
    for (log_answer const reply : {log_answer::unknown, log_answer::conflict}) {
        auto c = confirming(1);
        answer_all(c, answer::applied);
        c.closed(reply);
        REQUIRE(c.next() == step::read);
        auto ended = c;
        ended.found(standing{state::done, first_epoch, first_epoch, 0}, own);
        CHECK(ended.next() == step::confirm);
        answer_all(ended, answer::nothing);
        CHECK(ended.next() == step::end);
        c.found(standing{state::applied, first_epoch, first_epoch, 0}, own);
        CHECK(c.next() == (reply == log_answer::unknown ? step::claim : step::wait));
    }
}

TEST_CASE("coordinator: an expired entry is canceled, never committed") {
    SUBCASE("the inserter checks the age after its acknowledgement") {
        auto c = coordinator::begin(1, first_epoch);
        c.inserted(log_answer::taken, true);
        CHECK(c.next() == step::cancel);
        CHECK(c.why() == reason::expired);
        CHECK(c.failed_part() == coordinator::no_part);
        c.canceled(log_answer::taken);
        CHECK(c.next() == step::compensate);
    }
    SUBCASE("every claim checks the age") {
        for (state const state : {state::initial, state::pending}) {
            auto c = coordinator::take(1, standing{state, 7, 0, 0});
            c.claimed(log_answer::taken, true);
            CHECK(c.next() == step::cancel);
            CHECK(c.why() == reason::expired);
            CHECK(c.change().from == state::pending);
            CHECK(c.change().from_epoch == 8);
            CHECK(c.change().to == state::canceling);
        }
    }
    SUBCASE("an entry committed in time is finished at any age") {
        auto c = coordinator::take(1, standing{state::applied, 7, 7, 0});
        c.claimed(log_answer::taken, true);
        CHECK(c.next() == step::confirm);
    }
    SUBCASE("the claim after backing off checks the age") {
        auto c = applying(2);
        answer_due(c, {answer::applied, answer::busy});
        answer_due(c, {answer::applied});
        c.claimed(log_answer::taken, true);
        CHECK(c.next() == step::cancel);
        CHECK(c.why() == reason::expired);
    }
}

TEST_CASE("coordinator: any worker may cancel an entry that is not committed") {
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
    SUBCASE("pending, and its owner is at work: taken over and compensated") {
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
    SUBCASE("committed: too late, so the canceler waits for the owner") {
        c.found(standing{state::applied, 7, 7, 1}, of_another);
        CHECK(c.next() == step::wait);
        c.look_again();
        c.found(standing{state::done, 7, 7, 1}, of_another);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
    SUBCASE("committed and abandoned: finished as done, without a reason") {
        c.found(standing{state::applied, 7, 6, 1}, abandoned);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().why == reason::none);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::confirm);
        answer_all(c, answer::applied);
        REQUIRE(c.next() == step::force);
        c.forced(true);
        CHECK(c.change().to == state::done);
        CHECK(c.change().why == reason::none);
    }
    SUBCASE("canceling: waits for the other canceler, or takes over from it") {
        auto behind = c;
        c.found(standing{state::canceling, 7, 0, 1}, of_another);
        CHECK(c.next() == step::wait);
        behind.found(standing{state::canceling, 7, 0, 1}, abandoned);
        REQUIRE(behind.next() == step::claim);
        CHECK(behind.change().to == state::canceling);
        behind.claimed(log_answer::taken, false);
        CHECK(behind.next() == step::compensate);
    }
    SUBCASE("no entry: inserted as canceled") {
        c.found_nothing(of_another);
        REQUIRE(c.next() == step::insert);
        CHECK(c.insert_state() == state::canceled);
        CHECK(c.insert_epoch() == of_another.fresh);
        c.inserted(log_answer::taken, false);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::canceled);
        CHECK(c.why() == reason::cancel_asked);
    }
    SUBCASE("the owner was faster: read again, and follow its state") {
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        c.canceled(log_answer::conflict);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::done, 7, 7, 1}, of_another);
        CHECK(c.next() == step::end);
        CHECK(c.state() == state::done);
    }
    SUBCASE("unknown and landed: claimed and compensated") {
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        c.canceled(log_answer::unknown);
        REQUIRE(c.next() == step::read);
        c.found(standing{state::canceling, 8, 0, 1}, own);
        REQUIRE(c.next() == step::claim);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::compensate);
        CHECK(c.epoch_number() == 9);
    }
    SUBCASE("unknown and not landed: sent again") {
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        c.canceled(log_answer::unknown);
        c.found(standing{state::pending, 7, 0, 1}, of_another);
        REQUIRE(c.next() == step::cancel);
        CHECK(c.change().to_epoch == 8);
    }
}

TEST_CASE("coordinator: the decision of an unknown own cancel stands") {
    auto c = canceling(2);
    c.canceled(log_answer::unknown);
    REQUIRE(c.next() == step::read);
    SUBCASE("not landed: canceled under the new epoch") {
        c.found(standing{state::pending, first_epoch, 0, 0}, own);
        REQUIRE(c.next() == step::claim);
        CHECK(c.change().why == reason::none);
        c.claimed(log_answer::taken, false);
        REQUIRE(c.next() == step::cancel);
        CHECK(c.change().why == reason::guard_failed);
        CHECK(c.change().from_epoch == first_epoch + 1);
        CHECK(c.failed_part() == 0);
    }
    SUBCASE("landed: compensated, and the reason stands") {
        c.found(standing{state::canceling, first_epoch, 0, 0}, own);
        REQUIRE(c.next() == step::claim);
        c.claimed(log_answer::taken, false);
        CHECK(c.next() == step::compensate);
        CHECK(c.why() == reason::guard_failed);
        CHECK(c.failed_part() == 0);
    }
}

TEST_CASE("coordinator: a submitted transaction is inserted and not run") {
    auto c = coordinator::begin(2, first_epoch, goal::submit);
    CHECK(c.insert_state() == state::initial);
    auto again = c;
    c.inserted(log_answer::taken, false);
    CHECK(c.next() == step::end);
    CHECK(c.state() == state::initial);

    again.inserted(log_answer::conflict, false);
    for (state const state : {state::initial, state::pending, state::applied, state::canceling,
                              state::done, state::canceled}) {
        auto other = again;
        other.found(standing{state, 7, 0, 0}, abandoned);
        CHECK(other.next() == step::end);
        CHECK(other.state() == state);
    }
}

TEST_CASE("coordinator: a tombstone is inserted as canceled, unless the id has an entry") {
    auto c = coordinator::begin(0, first_epoch, goal::tombstone);
    CHECK(c.insert_state() == state::canceled);
    CHECK(c.why() == reason::mark_without_entry);
    auto again = c;
    c.inserted(log_answer::taken, false);
    CHECK(c.next() == step::end);
    CHECK(c.state() == state::canceled);
    for (state const state : {state::initial, state::pending, state::applied, state::canceling,
                              state::done, state::canceled}) {
        auto other = again;
        other.inserted(log_answer::conflict, false);
        other.found(standing{state, 7, 5, 0}, abandoned);
        CHECK(other.next() == step::end);
        CHECK(other.state() == state);
        CHECK(other.committed() == 5);
    }
    again.inserted(log_answer::unknown, false);
    again.found_nothing(own);
    CHECK(again.next() == step::insert);
    CHECK(again.insert_epoch() == own.fresh);
}

TEST_CASE("coordinator: a recovery of an absent entry ends without a verdict") {
    auto c = coordinator::take(2, standing{state::pending, 7, 0, 0});
    c.claimed(log_answer::conflict, false);
    c.found_nothing(own);
    CHECK(c.next() == step::end);
    CHECK(c.vanished());
    CHECK_FALSE(settle::is_final(c.state()));
}

} // namespace
} // namespace coordinator_test
