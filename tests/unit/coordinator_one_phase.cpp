// SPDX-License-Identifier: BSL-1.0
// The coordinator in one phase: its decision inside a native transaction, and its next steps.
#include "coordinator_steps.hpp"

#include <initializer_list>

namespace coordinator_test {
namespace {

using settle::phases;

coordinator in_one_phase(std::size_t parts) {
    return coordinator::begin(parts, first_epoch, goal::run, phases::one);
}

void answer_each(coordinator& c, std::initializer_list<answer> reply) {
    std::size_t part = 0;
    for (answer const one : reply) c.answered(part++, one);
}

TEST_CASE("coordinator: one phase takes one step without conflicts or failures") {
    auto c = in_one_phase(2);
    CHECK(c.next() == step::one_phase);
    CHECK(c.inserts());
    CHECK(c.one_phase_epoch() == first_epoch);
    answer_each(c, {answer::applied, answer::applied});
    CHECK(c.decide_one_phase(3, false));
    CHECK(c.insert_state() == state::done);
    c.settled(log_answer::taken);
    CHECK(c.next() == step::end);
    CHECK(c.state() == state::done);
    CHECK(c.committed() == 0);
    CHECK(c.epoch_number() == first_epoch);
}

TEST_CASE("coordinator: in one phase a failed guard writes a canceled entry with its part") {
    auto c = in_one_phase(3);
    answer_each(c, {answer::applied, answer::busy, answer::guard_failed});
    CHECK(c.decide_one_phase(3, false));
    CHECK(c.insert_state() == state::canceled);
    CHECK(c.why() == reason::guard_failed);
    CHECK(c.failed_part() == 2);
    c.settled(log_answer::taken);
    CHECK(c.next() == step::end);
    CHECK(c.state() == state::canceled);
}

TEST_CASE("coordinator: in one phase an expired entry is canceled, though all parts applied") {
    auto c = in_one_phase(1);
    answer_each(c, {answer::applied});
    CHECK(c.decide_one_phase(3, true));
    CHECK(c.insert_state() == state::canceled);
    CHECK(c.why() == reason::expired);
    CHECK(c.failed_part() == coordinator::no_part);
}

TEST_CASE("coordinator: in one phase a busy part writes nothing until the limit") {
    auto c = in_one_phase(2);
    for (int attempt = 0; attempt < 2; ++attempt) {
        answer_each(c, {answer::applied, answer::busy});
        CHECK_FALSE(c.decide_one_phase(2, false));
        c.settled(log_answer::held_back);
        CHECK(c.next() == step::pause);
        c.resume();
        // Another worker may have canceled it meanwhile.
        CHECK(c.next() == step::read);
        c.found_nothing({false, false, first_epoch + 1});
        CHECK(c.next() == step::one_phase);
        CHECK(c.one_phase_epoch() > first_epoch);
    }
    answer_each(c, {answer::applied, answer::busy});
    CHECK(c.decide_one_phase(2, false));
    CHECK(c.insert_state() == state::canceled);
    CHECK(c.why() == reason::busy);
    CHECK(c.failed_part() == 1);
}

TEST_CASE("coordinator: in one phase a held back transaction is sent again at once") {
    auto c = in_one_phase(2);
    answer_each(c, {answer::applied, answer::guard_failed});
    c.clear_decision();
    CHECK(c.why() == reason::none);
    c.settled(log_answer::held_back);
    CHECK(c.next() == step::one_phase);
    CHECK(c.inserts());
    CHECK(c.attempts() == 0);
    CHECK(due_parts(c) == std::vector<bool>{true, true});
    answer_each(c, {answer::applied, answer::applied});
    CHECK(c.decide_one_phase(3, false));
    CHECK(c.insert_state() == state::done);
}

TEST_CASE("coordinator: in one phase an unacknowledged entry is read, and its error dropped") {
    for (auto const reply : {log_answer::unknown, log_answer::conflict}) {
        auto c = in_one_phase(1);
        answer_each(c, {answer::guard_failed});
        CHECK(c.decide_one_phase(3, false));
        c.settled(reply);
        CHECK(c.next() == step::read);
        CHECK(c.why() == reason::none);
        CHECK(c.failed_part() == coordinator::no_part);
    }
    for (auto const reply : {log_answer::unavailable, log_answer::unfit, log_answer::blocked}) {
        auto c = in_one_phase(1);
        answer_each(c, {answer::guard_failed});
        CHECK(c.decide_one_phase(3, false));
        c.settled(reply);
        CHECK(c.next() == step::one_phase);
        CHECK(c.due(0));
    }
}

TEST_CASE("coordinator: one phase changes an initial entry; a pending entry ends in two phases") {
    auto c = coordinator::take(1, {state::initial, first_epoch, 0, 0}, phases::one);
    CHECK(c.next() == step::one_phase);
    CHECK_FALSE(c.inserts());
    answer_each(c, {answer::applied});
    CHECK(c.decide_one_phase(3, false));
    auto const change = c.change();
    CHECK(change.from == state::initial);
    CHECK(change.from_epoch == first_epoch);
    CHECK(change.to == state::done);
    CHECK(change.to_epoch == first_epoch + 1);
    CHECK(change.takes_owner);
    for (auto const begun : {state::pending, state::applied, state::canceling}) {
        CHECK(coordinator::take(1, {begun, first_epoch, 0, 0}, phases::one).next() == step::claim);
    }
    auto late = in_one_phase(1);
    answer_each(late, {answer::applied});
    CHECK(late.decide_one_phase(3, false));
    late.settled(log_answer::conflict);
    late.found({state::pending, first_epoch, 0, 0}, {false, true, 0});
    CHECK(late.next() == step::claim);
}

TEST_CASE("coordinator: a requeued transaction undoes its parts without a pause") {
    auto c = coordinator::begin(2, first_epoch);
    c.inserted(log_answer::taken, false);
    answer_each(c, {answer::applied, answer::guard_failed});
    c.requeue();
    CHECK(c.next() == step::back_off);
    CHECK(due_parts(c) == std::vector<bool>{true, false});
    c.answered(0, answer::applied);
    c.decide(3);
    CHECK(c.next() == step::claim);
    CHECK(c.change().attempts == 0);
    c.claimed(log_answer::taken, false);
    CHECK(c.next() == step::apply);
    CHECK(c.epoch_number() == first_epoch + 1);
    // A requeue does not count as an attempt.
    CHECK(c.attempts() == 0);
    answer_each(c, {answer::applied, answer::busy});
    c.decide(3);
    c.answered(0, answer::applied);
    c.decide(3);
    CHECK(c.change().attempts == 1);
    c.claimed(log_answer::taken, false);
    CHECK(c.next() == step::pause);
    CHECK(c.attempts() == 1);
}

} // namespace
} // namespace coordinator_test
