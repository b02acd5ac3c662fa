// SPDX-License-Identifier: BSL-1.0
// A bad network before a genuine server: every message of a transaction is lost, cut or late, in
// each of a transaction's steps. What the caller is told is what the log says, and sums are exact.
#include "transfer_scene.hpp"

namespace settle_test {
namespace {

/// Every message meets every one of these. A late one comes when all is over.
/// Shape:   thorough - it also comes before the recovery, and some callers never get an answer
void lose_every_message(std::vector<circumstances> const& places, std::vector<fault> const& faults,
                        bool thorough) {
    every_message<transfer_scene>(places, [&](auto const&, std::string const& command, int nth) {
        std::vector<mishap> all;
        for (fault const what : faults) {
            all.push_back({{.command = command, .nth = nth, .what = what}, true});
            if (!thorough || !all.back().is_late()) continue;
            all.push_back({{.command = command, .nth = nth, .what = what}, false});
        }
        if (thorough && nth == 1) {
            all.push_back({{.command = command, .times = 10'000, .what = fault::drop_reply}});
        }
        return all;
    });
}

std::vector<fault> const lost_or_late{fault::drop_reply, fault::hold_request};
std::vector<fault> const every_fault{fault::drop_request, fault::drop_reply, fault::cut_reply,
                                     fault::hold_reply, fault::hold_request};

} // namespace

TEST_CASE("a transfer whose messages are lost or late, on a single server") {
    lose_every_message({standalone}, lost_or_late, false);
}
TEST_CASE("a transfer in one phase whose messages are lost or late") {
    lose_every_message({one_phase}, lost_or_late, false);
}
TEST_CASE("two transfers in a wave whose messages are lost or late") {
    lose_every_message({together}, lost_or_late, false);
}

TEST_CASE("long: every message of a transfer meets every fault of a network" *
          doctest::test_suite("many callers")) {
    lose_every_message({standalone, member, one_phase, together, one_phase_together}, every_fault,
                       true);
}
TEST_CASE("long: every message of a transfer that is canceled meets every fault of a network" *
          doctest::test_suite("many callers")) {
    lose_every_message({standalone_canceled, member_canceled, one_phase_canceled,
                        together_canceled},
                       every_fault, true);
}
TEST_CASE("long: every message of what is done with a transfer later is lost or late" *
          doctest::test_suite("many callers")) {
    lose_every_message(later_deeds(), lost_or_late, false);
}
TEST_CASE("exhaustive: what is done with a transfer later meets every fault of a network") {
    lose_every_message(later_deeds(), every_fault, true);
}

} // namespace settle_test
