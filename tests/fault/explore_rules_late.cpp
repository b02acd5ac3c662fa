// SPDX-License-Identifier: BSL-1.0
// Searches that lack one rule of late entries, and so end wrong.
#include "switched_rules.hpp"

using namespace explored;

namespace {

auto const one = runs("t1", sixty);

struct repaint {
    BOOST_HANA_DEFINE_STRUCT(repaint, (std::string, id), (std::string, colour));
};
constexpr auto repaint_type = settle::transaction<repaint, "repaint">(
    participant<"flag">(flags, param<&repaint::id>)
        .apply(field<&flag::colour> = param<&repaint::colour>)
        .compensate(settle::inverse));

bounds called_again(bounds bounds) {
    bounds.calls_again = 1;
    return bounds;
}

} // namespace

TEST_CASE("rule: a mark with a birth is of that birth alone") {
    needs(switched::births_stand_alone, transfers, two_accounts, one, money,
          called_again(late(within(2, 0))));
}

TEST_CASE("rule: an unknown apply of a birth is not repeated under it") {
    needs(switched::births_apply_once, transfers, two_accounts, one, money, late(within(1, 1)));
}

TEST_CASE("rule: a call without an entry starts over under a new birth") {
    needs(switched::births_are_fresh, transfers, two_accounts, one, money,
          late(in_a_batch(within(1, 1))));
}

TEST_CASE("rule: an unknown late entry is not sent again") {
    bounds calm = late(within(2, 1));
    calm.crashes = false;
    needs(switched::late_entries_sent_once, settle::type<paint_type>, settle::type<repaint_type>,
          starts(flags, flag{"A", "white"}, flag{"B", "white"}), runs("t1", paint{"A", "B", "red"}),
          runs("t2", repaint{"A", "blue"}), calm);
}

TEST_CASE("rule: a late entry expires") {
    needs(switched::late_entries_expire, transfers, two_accounts, one, money,
          aging(late(within(2, 0))));
}

TEST_CASE("rule: a late entry is closed after its confirms") {
    needs(switched::late_entries_stay_open, transfers, two_accounts, one, money,
          late(within(1, 0)));
}

TEST_CASE("rule: an entry is closed after a forced write behind its confirms") {
    needs(switched::closes_wait_for_disk, transfers, two_accounts, one, money,
          answered_at_commit(late(within(1, 0))));
}

TEST_CASE("rule: a takeover of a committed entry forces its stores") {
    needs(switched::takeovers_force, transfers, two_accounts, one, money,
          answered_at_commit(late(within(1, 0))));
}

TEST_CASE("rule: a forced write keeps only the confirms of its own session") {
    needs(switched::one_session_forces, transfers, two_accounts, one, money,
          answered_at_commit(late(within(1, 0))));
}

TEST_CASE("rule: a refusal without an entry is written before it is told") {
    needs(switched::refusals_are_written, transfers, two_accounts, one, money,
          called_again(late(within(1, 0), 2)));
}

TEST_CASE("rule: marks of another call are undone under an entry alone") {
    needs(switched::others_wait_for_entries, transfers, two_accounts, one, money,
          called_again(late(within(2, 0))));
}

TEST_CASE("rule: a sweeper bars a birth before it undoes its mark") {
    needs(switched::bars_first, transfers, two_accounts, one, money, late(within(2, 0)));
}

TEST_CASE("rule: no late entry takes effect over a bar of its birth") {
    needs(switched::bars_hold, transfers, two_accounts, one, money, late(within(2, 0)));
}

TEST_CASE("rule: a bar is purged like a final entry") {
    needs(switched::bars_stay, transfers, two_accounts, one, money, aging(late(within(2, 0))));
}
