// SPDX-License-Identifier: BSL-1.0
// A server that says what it does when its role changes, it is shut down or its time is over, and
// what other versions say: in place of what was asked, and after it was done. Every message of a
// transaction is answered so; what the caller is told is what the log says, and sums are exact.
#include "server_answers.hpp"
#include "transfer_scene.hpp"

namespace settle_test {
namespace {

/// Shape:   every - of so many answers a message gets one, each message others
void answer_every_message(std::vector<circumstances> const& all, std::size_t every = 1) {
    std::atomic<std::size_t> number = 0;
    every_message<transfer_scene>(all, [&](auto const& of, std::string const& command, int nth) {
        // A member's two phases are native transactions only where several go in a wave.
        auto answers = every_answer(of.how == settle::phases::one || of.beside, command, nth);
        std::erase_if(answers, [&](mishap const&) { return number++ % every != 0; });
        return answers;
    });
}

} // namespace

TEST_CASE("a transfer whose messages are answered with errors, on a single server") {
    answer_every_message({standalone}, 11);
}
TEST_CASE("a transfer in one phase whose messages are answered with errors") {
    answer_every_message({one_phase}, 7);
}
TEST_CASE("long: every message of a transfer is answered with every error" *
          doctest::test_suite("many callers")) {
    answer_every_message({standalone, member, one_phase, together, one_phase_together});
}
TEST_CASE("long: every message of a transfer that is canceled is answered with every error" *
          doctest::test_suite("many callers")) {
    answer_every_message({standalone_canceled, one_phase_canceled, together_canceled});
}

TEST_CASE("long: what is done with a transfer later is answered with errors" *
          doctest::test_suite("many callers")) {
    answer_every_message(later_deeds(), 7);
}
TEST_CASE("exhaustive: every message of what is done with a transfer later gets every error") {
    answer_every_message(later_deeds());
}

TEST_CASE("a commit that may have failed is asked for again, and nothing is done anew") {
    // What the server would say of its own carries a label; what another version or a program
    // between says may carry none.
    for (std::string const& said : {failed(91), failed(91, "UnknownTransactionCommitResult")}) {
        for (fault const how : {fault::refuse, fault::answer_so}) {
            fresh_database const own{replica_set_address};
            proxy between{own.port()};
            settle::mongodb::database db{between.address(own.name(), disturbed_waits)};
            auto engine = bank_on(db);
            engine.create(ledgers, {"A", opening, 0, ""}).value();
            engine.create(ledgers, {"B", opening, 0, ""}).value();
            between.reset_counts();
            between.add({.command = "commitTransaction", .what = how, .answer = said});
            INFO(said);
            CHECK(engine.run("t", transfer{"A", "B", enough}).done());
            CHECK(between.requests("commitTransaction") == 2);
            CHECK(between.requests("insert") == 1);
        }
    }
}

} // namespace settle_test
