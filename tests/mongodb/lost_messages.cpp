// SPDX-License-Identifier: BSL-1.0
// A bad network before a genuine server: every message of a transaction is lost, cut or late, in
// each of a transaction's steps. What the caller is told is what the log says, and sums are exact.
#include "record_scene.hpp"
#include "transfer_scene.hpp"

namespace settle_test {

TEST_CASE("a transfer whose messages are lost or late, on a single server") {
    lose_every_message<transfer_scene>({standalone}, lost_or_late, false);
}
TEST_CASE("a transfer in one phase whose messages are lost or late") {
    lose_every_message<transfer_scene>({one_phase}, lost_or_late, false);
}
TEST_CASE("two transfers in a wave whose messages are lost or late") {
    lose_every_message<transfer_scene>({together}, lost_or_late, false);
}

TEST_CASE("long: every message of a transfer meets every fault of a network" *
          doctest::test_suite("many callers")) {
    lose_every_message<transfer_scene>(
        {standalone, member, one_phase, together, one_phase_together}, every_fault, true);
}
TEST_CASE("long: every message of a transfer that is canceled meets every fault of a network" *
          doctest::test_suite("many callers")) {
    lose_every_message<transfer_scene>(
        {standalone_canceled, member_canceled, one_phase_canceled, together_canceled}, every_fault,
        true);
}
TEST_CASE("long: every message of what is done with a transfer later is lost or late" *
          doctest::test_suite("many callers")) {
    lose_every_message<transfer_scene>(later_deeds(), lost_or_late, false);
}
TEST_CASE("exhaustive: what is done with a transfer later meets every fault of a network") {
    lose_every_message<transfer_scene>(later_deeds(), every_fault, true);
}

TEST_CASE("records are created, erased and assigned, and messages are lost or late") {
    lose_every_message<record_scene>(record_changes({standalone, one_phase}), lost_or_late, false);
}
TEST_CASE("long: every message of what creates, erases or assigns meets every fault" *
          doctest::test_suite("many callers")) {
    lose_every_message<record_scene>(record_changes({standalone, member, one_phase}), every_fault,
                                     true);
}

} // namespace settle_test
