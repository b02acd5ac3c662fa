// SPDX-License-Identifier: BSL-1.0
// The witness of a simulation: it reports every wrong step, and no right step.
#include <settle/testing/simulate/witness.hpp>

#include <doctest/doctest.h>

namespace {

using settle::outcome;
using settle::reason;
using settle::state;
using settle::transition;
using settle::verdict;
using settle::testing::detail::witness;

transition change(state from, settle::epoch before, state to, settle::epoch after) {
    transition transition;
    transition.from = from;
    transition.from_epoch = before;
    transition.to = to;
    transition.to_epoch = after;
    return transition;
}

outcome outcome_of(verdict how, reason why = reason::none) {
    outcome outcome;
    outcome.id = "t";
    outcome.verdict = how;
    outcome.why = why;
    return outcome;
}

/// A witness that has seen an entry inserted, and taken to its end.
witness of_end(state end) {
    witness witness;
    witness.note_insert("t", state::pending, 5);
    state const between = end == state::done ? state::applied : state::canceling;
    witness.note_change("t", change(state::pending, 5, between, 5));
    witness.note_change("t", change(between, 5, end, 5));
    return witness;
}

std::string first_of(witness const& seen) { return seen.content() ? "" : seen.problems().front(); }

} // namespace

TEST_CASE("witness: a correct transaction is not reported") {
    auto seen = of_end(state::canceled);
    seen.note_outcome(outcome_of(verdict::canceled, reason::busy));
    seen.note_outcome(outcome_of(verdict::canceled));
    seen.note_outcome(outcome_of(verdict::undecided));
    CHECK(seen.content());
    CHECK(seen.open() == 0);
}

TEST_CASE("witness: a change against state and epoch is reported") {
    witness seen;
    seen.note_insert("t", state::pending, 5);
    SUBCASE("inserted twice") {
        seen.note_insert("t", state::pending, 6);
        CHECK(first_of(seen) == "t: inserted, though the log had it");
    }
    SUBCASE("changed without an insert") {
        seen.note_change("u", change(state::pending, 5, state::applied, 5));
        CHECK(first_of(seen) == "u: changed, though the log has no such entry");
    }
    SUBCASE("changed from another epoch") {
        seen.note_change("t", change(state::pending, 4, state::applied, 4));
        CHECK(first_of(seen) == "t: went from pending (epoch 4) to applied (epoch 4), though it "
                                "was pending (epoch 5)");
    }
    SUBCASE("changed to a state that cannot follow") {
        seen.note_change("t", change(state::pending, 5, state::done, 5));
        CHECK(first_of(seen) == "t: went from pending (epoch 5) to done (epoch 5)");
    }
    SUBCASE("closed at its commit, without a part to confirm") {
        seen.note_change("t", change(state::pending, 5, state::done, 5), false);
        CHECK(first_of(seen).empty());
    }
}

TEST_CASE("witness: a wrong outcome is reported") {
    auto seen = of_end(state::done);
    SUBCASE("the entry has the opposite final state") {
        seen.note_outcome(outcome_of(verdict::canceled));
        CHECK(first_of(seen) == "reported t: canceled, though it is done");
    }
    SUBCASE("the entry does not exist") {
        auto other = outcome_of(verdict::done);
        other.id = "u";
        seen.note_outcome(other);
        CHECK(first_of(seen) == "reported u: done, though the log has no such entry");
    }
    SUBCASE("the refusal has no cause") {
        auto refused = outcome_of(verdict::refused);
        refused.problem = {make_error_code(settle::errc::id_in_use), "taken"};
        seen.note_outcome(refused);
        CHECK(first_of(seen).starts_with("reported t: refused"));
    }
    SUBCASE("recovery skipped an entry") {
        settle::recovery_report report;
        report.skipped.push_back({"t", {make_error_code(settle::errc::damaged), "torn"}});
        seen.note_report(report);
        CHECK(first_of(seen).starts_with("t: skipped: torn"));
    }
}

TEST_CASE("witness: a second reason is reported") {
    auto seen = of_end(state::canceled);
    seen.note_outcome(outcome_of(verdict::canceled, reason::busy));
    seen.note_outcome(outcome_of(verdict::canceled, reason::overflow));
    CHECK(first_of(seen).find("and another reason before: busy") != std::string::npos);
}

TEST_CASE("witness: a purged id may be inserted again, and must then be canceled") {
    auto seen = of_end(state::done);
    seen.note_outcome(outcome_of(verdict::done));
    seen.note_purged("t");
    CHECK(seen.content());
    CHECK(seen.purged() == 1);
    seen.note_insert("t", state::pending, 6);
    CHECK(seen.again() == 1);
    CHECK(seen.open() == 1);
    SUBCASE("canceled") {
        seen.note_change("t", change(state::pending, 6, state::canceling, 7));
        seen.note_change("t", change(state::canceling, 7, state::canceled, 7));
        // Of its first life.
        seen.note_outcome(outcome_of(verdict::done));
        CHECK(seen.content());
    }
    SUBCASE("committed") {
        seen.note_change("t", change(state::pending, 6, state::applied, 6));
        CHECK(first_of(seen) == "t: committed again");
    }
    SUBCASE("purged before its end") {
        seen.note_purged("t");
        CHECK(first_of(seen) == "t: purged, though it is not over");
    }
}
