// SPDX-License-Identifier: BSL-1.0
// Searches of prepared parts with a rule switched off alone are wrong, and correct with the rule.
#include "switched_rules.hpp"

using namespace explored;

namespace {

/// The same at a database without receipts. A rule that receipts make needless is needed there.
template <typename... Clauses>
exploration needs_without_receipts(bool& rule, Clauses const&... clauses) {
    switched::receipts = false;
    auto found = needs(rule, clauses...);
    switched::receipts = true;
    return found;
}

} // namespace

TEST_CASE("rule: only the name with the committed epoch is committed") {
    needs_without_receipts(switched::commits_committed_name, purchases, payer, buys, books_too,
                           canceling(1, 1));
}

TEST_CASE("rule: a lower name does not count as prepared") {
    needs(switched::adopts_no_name, purchases, payer, buys, books_too, within(2, 0));
    needs_without_receipts(switched::adopts_no_name, purchases, payer, buys, books_too,
                           within(2, 0));
}

TEST_CASE("rule: an unknown prepare is repeated under a new epoch only") {
    needs_without_receipts(switched::unknown_claims, purchases, payer, buys, books_too,
                           within(1, 1));
}

TEST_CASE("rule: a worker that backs off rolls back exactly its own name") {
    needs(switched::undo_is_exact, purchases, payer, buys,
          prepares("t1", prepared_model{"ledger", false, true}), within(2, 0));
}

TEST_CASE("rule: an absent name was committed only if its receipt says so") {
    needs(switched::finish_reads_receipt, purchases, payer, buys, books_too,
          by_hand(canceling(1, 0)));
}

TEST_CASE("rule: prepares and cancels write receipts") {
    needs(switched::receipts, purchases, payer, buys, books_too, by_hand(canceling(1, 0)));
}

TEST_CASE("rule: a prepared name contains its log") {
    needs(switched::names_contain_logs, purchases, payer, buys, books_too, within(2, 0));
}

TEST_CASE("rule: a prepared name without an entry is stray") {
    needs(switched::sweeps_unlogged, purchases, payer, buys, books_too, aging(within(1, 1)));
}

TEST_CASE("rule: a sweeper lists the prepared names before it reads their entries") {
    bounds anew = aging(within(2, 0));
    anew.resubmits = true;
    needs_without_receipts(switched::lists_first, purchases, payer, buys, books_too, anew);
}

TEST_CASE("rule: beside a record, a call and a pivot, each rule of prepared parts is needed") {
    auto const part = prepares("t1", prepared_model{"ledger", false, false});
    auto const seat_and_card = calls("t1", never_busy(booking("seat", 1)), pivot("card", 2));
    auto const wrong_without = [&](bool& rule, bounds const& within) {
        needs(rule, purchases, payer, buys, part, seat_and_card, never_below, within);
    };
    wrong_without(switched::adopts_no_name, without_crashes(within(2, 0)));
    wrong_without(switched::finish_reads_receipt, by_hand(canceling(1, 0)));
    wrong_without(switched::receipts, by_hand(canceling(1, 0)));
    wrong_without(switched::names_contain_logs, without_crashes(within(2, 0)));
    wrong_without(switched::sweeps_unlogged, aging(within(1, 1)));
    auto const without_receipts = [&](bool& rule, bounds const& within) {
        needs_without_receipts(rule, purchases, payer, buys, part, seat_and_card, never_below,
                               within);
    };
    without_receipts(switched::commits_committed_name, canceling(1, 1));
    without_receipts(switched::unknown_claims, within(1, 1));
}

TEST_CASE("rule: a lower name that is not rolled back keeps its part busy, and is no wrong end") {
    without const it{switched::clears_lower_names};
    right<protocol>(purchases, payer, buys, books_too, canceling(1, 1));
}
