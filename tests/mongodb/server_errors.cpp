// SPDX-License-Identifier: BSL-1.0
// A server that says what it does when its role changes, it is shut down or its time is over, and
// what other versions say: in place of what was asked, and after it was done. Every message of a
// transaction is answered so; what the caller is told is what the log says, and sums are exact.
#include "mishaps.hpp"

#include <string_view>

namespace settle_test {
namespace {

/// What says that the work may have been done or not.
/// Source:  src/mongo/base/error_codes.yml of MongoDB 6.0; the last is of no version
constexpr int unsure_codes[]{50, 91, 189, 262, 10107, 11600, 13435, 999'999};
/// What says that it was not.
constexpr int undone_codes[]{112, 251};
/// What befalls a write that was done.
constexpr int concern_codes[]{64, 91};

constexpr std::string_view transient = "TransientTransactionError";

std::string failed(int code, std::string_view label = "") {
    std::string text = R"({"ok": 0, "errmsg": "as the test wants it", "code": )";
    text += std::to_string(code);
    if (!label.empty()) text.append(R"(, "errorLabels": [")").append(label).append("\"]");
    return text + "}";
}
std::string statement_failed(int code) {
    return R"({"ok": 1, "n": 0, "nModified": 0, "writeErrors": [{"index": 0, "errmsg":
               "as the test wants it", "code": )" + std::to_string(code) + "}]}";
}
std::string not_lasting(int code) {
    return R"({"writeConcernError": {"errmsg": "as the test wants it", "code": )" +
           std::to_string(code) + "}}";
}

/// Every error that a message is answered with.
std::vector<mishap> every_answer(circumstances const& of, std::string const& command, int nth) {
    std::vector<mishap> all;
    auto const say = [&](fault how, std::string answer) {
        all.push_back({{.command = command, .nth = nth, .what = how, .answer = std::move(answer)}});
    };
    bool const commits = command == "commitTransaction";
    bool const writes = command == "insert" || command == "update" || command == "delete";
    // A member's two phases are native transactions only where several go in a wave.
    bool const in_transaction = of.how == settle::phases::one || of.beside;
    for (int const code : unsure_codes) {
        say(fault::refuse, failed(code));
        say(fault::answer_so, failed(code));
        if (writes) say(fault::refuse, statement_failed(code));
        if (writes) say(fault::answer_so, statement_failed(code));
        if (commits) say(fault::answer_so, failed(code, "UnknownTransactionCommitResult"));
        else if (in_transaction) say(fault::refuse, failed(code, transient));
        else say(fault::answer_so, failed(code, "RetryableWriteError"));
    }
    for (int const code : undone_codes) {
        say(fault::refuse, failed(code));
        if (in_transaction) say(fault::refuse, failed(code, transient));
    }
    for (int const code : concern_codes) {
        if (commits || (writes && !in_transaction)) say(fault::add_to_reply, not_lasting(code));
    }
    // Before codes there were texts alone.
    say(fault::refuse, R"({"ok": 0, "errmsg": "not master"})");
    return all;
}

/// Shape:   every - of so many answers a message gets one, each message others
void answer_every_message(circumstances const& of, std::size_t every = 1) {
    std::size_t number = 0;
    every_message(of, [&](std::string const& command, int nth) {
        auto all = every_answer(of, command, nth);
        std::erase_if(all, [&](mishap const&) { return number++ % every != 0; });
        return all;
    });
}

} // namespace

TEST_CASE("a transfer whose messages are answered with errors, on a single server") {
    answer_every_message(standalone, 11);
}
TEST_CASE("a transfer in one phase whose messages are answered with errors") {
    answer_every_message(one_phase, 7);
}
TEST_CASE("long: every message of a transfer is answered with every error") {
    for (auto const& one : {standalone, member, one_phase, together, one_phase_together}) {
        answer_every_message(one);
    }
}
TEST_CASE("long: every message of a transfer that is canceled is answered with every error") {
    for (auto const& one : {standalone_canceled, one_phase_canceled, together_canceled}) {
        answer_every_message(one);
    }
}

TEST_CASE("a commit that may have failed is asked for again, and nothing is done anew") {
    // What the server would say of its own carries a label; what another version or a program
    // between says may carry none.
    for (std::string const& said : {failed(91), failed(91, "UnknownTransactionCommitResult")}) {
        for (fault const how : {fault::refuse, fault::answer_so}) {
            fresh_database const own{replica_set_address};
            proxy between{own.port()};
            settle::mongodb::database db{between.address(own.name(), looks_often)};
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
