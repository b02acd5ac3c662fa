// SPDX-License-Identifier: BSL-1.0
// The types and records of the searches besides the samples' types: accounts, and types that use
// each rule.
#pragma once

#include <settle/testing/explore.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>

namespace explored {

using namespace settle::testing;
using settle::field;
using settle::lit;
using settle::param;
using settle::participant;

using bank::accounts;
using bank::transfer;
using bank::transfer_type;

inline constexpr auto transfers = settle::type<transfer_type>;

// ---------------------------------------------------------------------------------------- types

struct flag {
    BOOST_HANA_DEFINE_STRUCT(flag, (std::string, id), (std::string, colour));
};
inline constexpr settle::collection<flag, "flags", &flag::id> flags;

struct paint {
    BOOST_HANA_DEFINE_STRUCT(paint, (std::string, first), (std::string, second),
                             (std::string, colour));
};

/// Two exclusive effects that readers see at once.
inline constexpr auto paint_type =
    settle::transaction<paint, "paint">(participant<"first">(flags, param<&paint::first>)
                                            .apply(field<&flag::colour> = param<&paint::colour>)
                                            .compensate(settle::inverse),
                                        participant<"second">(flags, param<&paint::second>)
                                            .apply(field<&flag::colour> = param<&paint::colour>)
                                            .compensate(settle::inverse));

struct renaming {
    BOOST_HANA_DEFINE_STRUCT(renaming, (std::string, old), (std::string, fresh),
                             (std::string, colour));
};

/// Creates one record and erases another.
inline constexpr auto rename_type = settle::transaction<renaming, "rename">(
    participant<"fresh">(flags, param<&renaming::fresh>)
        .apply(settle::create(field<&flag::colour> = param<&renaming::colour>))
        .compensate(settle::erase),
    participant<"old">(flags, param<&renaming::old>)
        .require(field<&flag::colour> == param<&renaming::colour>)
        .confirm(settle::erase));

struct loan {
    BOOST_HANA_DEFINE_STRUCT(loan, (std::string, source), (std::string, destination),
                             (std::int64_t, amount));
};

/// Credits at apply, as the tutorial does: readers may see money that is not certain.
inline constexpr auto loan_type = settle::transaction<loan, "loan">(
    participant<"destination">(accounts, param<&loan::destination>)
        .apply(field<&bank::account::balance> += param<&loan::amount>)
        .compensate(settle::inverse),
    participant<"source">(accounts, param<&loan::source>)
        .require(field<&bank::account::balance> >= param<&loan::amount>)
        .apply(field<&bank::account::balance> -= param<&loan::amount>)
        .compensate(settle::inverse));

struct fee {
    BOOST_HANA_DEFINE_STRUCT(fee, (std::string, payer), (std::string, painted),
                             (std::string, colour), (std::int64_t, amount));
};

/// A sum and an assignment, in two collections that may well live in two stores.
inline constexpr auto fee_type = settle::transaction<fee, "fee">(
    participant<"payer">(accounts, param<&fee::payer>)
        .require(field<&bank::account::balance> >= param<&fee::amount>)
        .apply(field<&bank::account::balance> -= param<&fee::amount>)
        .compensate(settle::inverse),
    participant<"painted">(flags, param<&fee::painted>)
        .require(field<&flag::colour> != param<&fee::colour>)
        .confirm(field<&flag::colour> = param<&fee::colour>));

struct purchase {
    BOOST_HANA_DEFINE_STRUCT(purchase, (std::string, payer), (std::int64_t, amount));
};

/// Pays for calls, which a search adds as later stages.
inline constexpr auto purchase_type = settle::transaction<purchase, "purchase">(
    participant<"payer">(accounts, param<&purchase::payer>)
        .require(field<&bank::account::balance> >= param<&purchase::amount>)
        .apply(field<&bank::account::balance> -= param<&purchase::amount>)
        .compensate(settle::inverse));

// ------------------------------------------------------------------------------ shared clauses

inline bank::account account(std::string id, std::int64_t balance) {
    return {std::move(id), balance, balance};
}
inline auto const two_accounts = starts(accounts, account("A", 100), account("B", 0));
inline auto const money = conserves(accounts, field<&bank::account::balance>);
inline auto const never_below = stays(accounts, field<&bank::account::balance> >= lit<0>);
inline transfer const sixty{"A", "B", 60};

inline bounds within(std::size_t workers, std::size_t late_writes) {
    bounds bounds;
    bounds.workers = workers;
    bounds.late_writes = late_writes;
    return bounds;
}

/// Everything that a search can do, with so many workers and late writes.
inline bounds everything(std::size_t workers, std::size_t late_writes) {
    bounds bounds = within(workers, late_writes);
    bounds.cancels = true;
    bounds.ages = true;
    bounds.calls_again = 1;
    return bounds;
}

/// Cancels at any moment; a worker gives up while a call is unknown.
inline bounds canceling(std::size_t workers, std::size_t late_writes) {
    bounds made = within(workers, late_writes);
    made.cancels = true;
    return made;
}

/// A query whose answer may differ each time, at this stage.
inline call_model query(std::string name, settle::stage_number stage) {
    return {std::move(name), stage, call_moments::query, settle::plain, 2, false, false};
}
/// A call that its receiver may refuse, or find busy, at this stage.
inline call_model booking(std::string name, settle::stage_number stage) {
    return {std::move(name), stage, call_moments::undoable, settle::barrier, 1, true, true};
}
/// A call that cannot be undone, and that its receiver may refuse.
inline call_model pivot(std::string name, settle::stage_number stage,
                        settle::receiver_grade grade = settle::barrier) {
    return {std::move(name), stage, call_moments::pivot, grade, 1, true, false};
}
/// A call at commit.
inline call_model notice(std::string name, settle::stage_number stage,
                         settle::receiver_grade grade = settle::barrier) {
    return {std::move(name), stage, call_moments::confirm_only, grade};
}
/// A call that uses no result.
inline call_model independent(call_model call) {
    call.uses = 0;
    return call;
}
/// A call that uses the result of one earlier call, by its number.
inline call_model using_result(call_model call, unsigned of) {
    call.uses = static_cast<std::uint8_t>(1U << of);
    return call;
}
inline call_model in_order(call_model call) {
    call.in_order = true;
    return call;
}
inline call_model graded(call_model call, settle::receiver_grade grade) {
    call.grade = grade;
    return call;
}

inline auto const purchases = settle::type<purchase_type>;
inline auto const payer = starts(accounts, account("A", 100));
inline auto const buys = runs("t1", purchase{"A", 60});
/// The second stage queries a price, and the third stage books at this price.
inline auto const price_then_seat = calls("t1", query("price", 1), booking("seat", 2));

/// A part that a database prepares beside the payer's account.
inline auto const books_too = prepares("t1", prepared_model{"ledger"});

/// A person rolls back any prepared name.
inline bounds by_hand(bounds bounds) {
    bounds.by_hand = true;
    return bounds;
}

/// Transactions may run in one phase, beside transactions in two phases.
inline bounds in_one_phase(bounds bounds) {
    bounds.one_phase = true;
    return bounds;
}

/// A call may join its first part to its commit: the record is in the log's own store.
inline bounds joined(bounds bounds, std::uint32_t own_parts = 1) {
    bounds.own_parts = own_parts;
    return bounds;
}

/// A call may begin before it has an entry. The parts of `own_parts` are in the log's own store.
inline bounds late(bounds bounds, std::uint32_t own_parts = 1) {
    bounds.late_entries = true;
    return joined(bounds, own_parts);
}

/// Calls are answered at their commit, and the store of the parts elsewhere stops at any moment, so
/// often: it loses any writes since its last forced one.
inline bounds answered_at_commit(bounds bounds, std::size_t store_crashes = 1) {
    bounds.store_crashes = store_crashes;
    return bounds;
}

/// A batch may requeue a transaction that has applied.
inline bounds in_a_batch(bounds bounds) {
    bounds.requeues = true;
    return bounds;
}

/// Entries expire at any moment, and are then purged.
inline bounds aging(bounds bounds) {
    bounds.ages = true;
    return bounds;
}

/// A person closes calls that were not confirmed or compensated.
inline bounds with_persons(bounds bounds) {
    bounds.resolves = true;
    return bounds;
}
/// Operators cancel, retry and resolve. Calls, and the writes of those who resolve, are late.
inline bounds operated(std::size_t workers, std::size_t late_writes) {
    bounds bounds = with_persons(canceling(workers, late_writes));
    bounds.only_calls_late = true;
    return bounds;
}
/// They say of a pivot what they like.
inline bounds guessed(std::size_t workers, std::size_t late_writes) {
    bounds bounds = operated(workers, late_writes);
    bounds.guesses = true;
    return bounds;
}
/// Checks that the answers of readers are in one order.
inline bounds comparing(bounds bounds) {
    bounds.compares_readers = true;
    return bounds;
}
inline bounds without_crashes(bounds bounds) {
    bounds.crashes = false;
    return bounds;
}
inline call_model never_busy(call_model call) {
    call.busy = false;
    return call;
}

/// A purchase with these calls.
template <typename Protocol = shipped_protocol, typename... Calls>
exploration saga(bounds const& all, Calls const&... calls_of_saga) {
    return explore<Protocol>(purchases, payer, buys, calls("t1", calls_of_saga...), never_below,
                             all);
}
inline void right_saga(exploration const& exploration) {
    MESSAGE(exploration);
    CHECK_MESSAGE(exploration, exploration);
}
inline void wrong_saga(exploration const& exploration, std::string const& text) {
    MESSAGE(exploration);
    CHECK(!exploration.right);
    CHECK_MESSAGE(exploration.trace.find(text) != std::string::npos, exploration);
}
/// Shape:   steps - the length of the shortest wrong run
inline void wrong_saga(exploration const& exploration, std::string const& text, std::size_t steps) {
    wrong_saga(exploration, text);
    CHECK(exploration.steps == steps);
}

/// Searches, prints the figures, and checks that all runs are correct.
template <typename Protocol = shipped_protocol, typename... Clauses>
void right(Clauses const&... clauses) {
    auto const seen = explore<Protocol>(clauses...);
    MESSAGE(seen);
    CHECK(seen);
}

} // namespace explored
