// SPDX-License-Identifier: BSL-1.0
// Receivers, clocks and persons around a saga, searched exhaustively.
#include "explore_types.hpp"

using namespace explored;

namespace {

auto const closes = settle::remembers_keys | settle::closes_keys;
auto const done_alone = "the transaction is done, and this call is not confirmed";

/// A receiver that stores its row and its effect apart, and may stop in between.
call_model apart(row_write writes, call_model call) {
    call.writes = writes;
    return call;
}
/// The same, with an effect that has the key: a repeat changes nothing.
call_model keyed(row_write writes, call_model call) {
    call.keyed = true;
    return apart(writes, std::move(call));
}
/// The receiver accepts each apply.
call_model sure(call_model call) {
    call.refuses = call.busy = false;
    return call;
}
/// The receiver never takes a confirm or a compensation.
call_model never_ends(call_model call) {
    call.ends = false;
    return call;
}

bounds with_clocks_apart(bounds bounds) {
    bounds.clocks_differ = true;
    return aging(bounds);
}
/// Only calls are late, so that records need no sweeper.
bounds with_late_calls(bounds bounds) {
    bounds.only_calls_late = true;
    bounds.sweeps = false;
    return without_crashes(bounds);
}
bounds with_everything(bounds bounds) {
    bounds = with_persons(with_clocks_apart(bounds));
    bounds.swaps = true;
    return bounds;
}

} // namespace

TEST_CASE("explore: two transactions that call one receiver") {
    right(purchases, starts(accounts, account("A", 200)), buys, runs("t2", purchase{"A", 70}),
          calls("t1", booking("seat", 1)), calls("t2", booking("seat", 1)), never_below,
          canceling(1, 0));
}

TEST_CASE("explore: clocks apart, one late write") {
    right_saga(saga(with_clocks_apart(canceling(1, 1)), booking("seat", 1)));
    right_saga(saga(with_clocks_apart(canceling(1, 1)), pivot("card", 1), notice("mail", 1)));
}

TEST_CASE("explore: a call at commit that sends the result of the pivot") {
    call_model card = pivot("card", 1);
    card.results = 2;
    right_saga(saga(aging(canceling(1, 1)), card, notice("mail", 1)));
    right_saga(saga(canceling(2, 0), card, notice("mail", 1)));
}

TEST_CASE("explore: a receiver that closes keys and forgets its refusals") {
    right_saga(saga(aging(canceling(1, 1)), pivot("card", 1, closes)));
    right_saga(saga(canceling(2, 0), pivot("card", 1, closes)));
}

TEST_CASE("explore: the answer of a call that is given to another try of its key") {
    bounds limits = canceling(1, 1);
    limits.swaps = true;
    right_saga(saga(limits, booking("seat", 1)));
    right_saga(saga(limits, query("price", 1), pivot("card", 2)));
}

TEST_CASE("explore: receivers of keys alone, everything allowed") {
    right_saga(saga(with_everything(canceling(1, 1)), pivot("card", 1, closes)));
    right_saga(saga(with_everything(canceling(1, 1)), notice("mail", 1, settle::remembers_keys)));
}

TEST_CASE("long: explore: one call, everything allowed") {
    auto const keys = settle::remembers_keys | settle::keeps_refusals;
    right_saga(saga(with_everything(canceling(1, 1)), booking("seat", 1)));
    right_saga(saga(with_everything(canceling(1, 1)), graded(booking("seat", 1), keys)));
}

TEST_CASE("explore: a receiver that stores its row before its effect loses effects") {
    auto const writes = row_write::before_effect;
    wrong_saga(saga(within(1, 1), apart(writes, booking("seat", 1))), done_alone, 10);
    wrong_saga(saga(within(1, 1), apart(writes, pivot("card", 1))), done_alone, 10);
    wrong_saga(saga(within(1, 1), apart(writes, notice("mail", 1))), done_alone, 10);
    wrong_saga(saga(canceling(1, 1), apart(writes, booking("seat", 1))), "undone without an effect",
               8);
    // A key in the effect does not help.
    wrong_saga(saga(within(1, 1), keyed(writes, booking("seat", 1))), done_alone, 10);
}

TEST_CASE("explore: a receiver that stores its effect before its row repeats effects") {
    auto const writes = row_write::after_effect;
    wrong_saga(saga(within(1, 1), apart(writes, booking("seat", 1))), "took effect twice", 6);
    wrong_saga(saga(within(1, 1), apart(writes, pivot("card", 1))), "took effect twice", 6);
    wrong_saga(saga(within(1, 1), apart(writes, notice("mail", 1))), "took effect twice", 9);
}

TEST_CASE("explore: an effect with a key may precede its row if it is never refused nor undone") {
    auto const writes = row_write::after_effect;
    right_saga(saga(aging(canceling(1, 1)), keyed(writes, notice("mail", 1))));
    right_saga(saga(canceling(1, 1), keyed(writes, sure(pivot("card", 1)))));
    // A repeat is refused, and the effect stands.
    wrong_saga(saga(within(1, 1), keyed(writes, pivot("card", 1))), "has an effect", 10);
    // A compensation finds no row, and the effect stands.
    wrong_saga(saga(canceling(1, 1), keyed(writes, sure(booking("seat", 1)))), "has an effect", 10);
}

TEST_CASE("explore: an id that is submitted again after its purge finds the rows of its calls") {
    bounds limits = aging(within(1, 0));
    auto const twice = starts(accounts, account("A", 200));
    auto const seat = calls("t1", booking("seat", 1));
    right(purchases, twice, buys, seat, limits);
    limits.resubmits = true;
    // The payer pays again, and the receiver answers with the first booking.
    wrong_saga(explore(purchases, twice, buys, seat, limits), done_alone, 21);
}

TEST_CASE("explore: a call that is never confirmed or compensated is stuck without a person") {
    bounds limits = canceling(1, 1);
    for (call_model const& call : {never_ends(booking("seat", 1)), never_ends(notice("mail", 1))}) {
        wrong_saga(saga(limits, call), "STUCK: the protocol cannot end from this state");
        right_saga(saga(with_persons(limits), call));
    }
}

TEST_CASE("explore: a person closes calls beside a worker that makes them") {
    right_saga(saga(with_persons(canceling(1, 1)), booking("seat", 1)));
    right_saga(saga(with_persons(aging(within(1, 1))), booking("seat", 1), notice("mail", 1)));
}

TEST_CASE("long: explore: a call that never ends, a person and two workers") {
    right_saga(saga(with_persons(canceling(2, 0)), never_ends(booking("seat", 1))));
}

TEST_CASE("long: explore: a pivot, three workers") {
    right_saga(saga(without_crashes(canceling(3, 0)), pivot("card", 1)));
}

TEST_CASE("long: explore: a pivot, three workers and two late calls") {
    right_saga(saga(with_late_calls(within(3, 2)), pivot("card", 1)));
}

TEST_CASE("exhaustive: explore: one call, three workers and two late calls") {
    right_saga(saga(with_late_calls(within(3, 2)), never_busy(booking("seat", 1))));
}

TEST_CASE("long: explore: one call, three workers") {
    right_saga(saga(without_crashes(canceling(3, 0)), booking("seat", 1)));
}
