// SPDX-License-Identifier: BSL-1.0
// A bad network in front of a genuine server: every message of a transaction is lost, cut or late,
// in each of its steps. The reported outcome agrees with the log, and sums are exact.
#include "record_scene.hpp"
#include "transfer_scene.hpp"

namespace settle_test {

TEST_CASE("lost messages: messages of a transfer are lost or late on a single server") {
    lose_every_message<transfer_scene>({standalone}, lost_or_late, false);
}
TEST_CASE("lost messages: messages of a transfer in one phase are lost or late") {
    lose_every_message<transfer_scene>({one_phase}, lost_or_late, false);
}
TEST_CASE("lost messages: messages of two transfers in a wave are lost or late") {
    lose_every_message<transfer_scene>({together}, lost_or_late, false);
}

TEST_CASE("long: lost messages: every network fault at every message of a transfer" *
          doctest::test_suite("many callers")) {
    lose_every_message<transfer_scene>(
        {standalone, member, one_phase, together, one_phase_together}, every_fault, true);
}
TEST_CASE("long: lost messages: every network fault at every message of a canceled transfer" *
          doctest::test_suite("many callers")) {
    lose_every_message<transfer_scene>(
        {standalone_canceled, member_canceled, one_phase_canceled, together_canceled}, every_fault,
        true);
}
TEST_CASE("long: lost messages: every message of a later call on a transfer is lost or late" *
          doctest::test_suite("many callers")) {
    lose_every_message<transfer_scene>(later_actions(), lost_or_late, false);
}
TEST_CASE("exhaustive: lost messages: every network fault at every later call on a transfer") {
    lose_every_message<transfer_scene>(later_actions(), every_fault, true);
}

TEST_CASE("lost messages: messages that create, erase or assign are lost or late") {
    lose_every_message<record_scene>(record_changes({standalone, one_phase}), lost_or_late, false);
}
TEST_CASE("long: lost messages: every network fault at every create, erase and assign message" *
          doctest::test_suite("many callers")) {
    lose_every_message<record_scene>(record_changes({standalone, member, one_phase}), every_fault,
                                     true);
}

} // namespace settle_test
