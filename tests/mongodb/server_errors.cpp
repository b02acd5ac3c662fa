// SPDX-License-Identifier: BSL-1.0
// A server replies with the errors of a changed role, a shutdown or a timeout, and of other
// versions: in place of the requested action, and after it. Every message of a transaction gets
// such a reply; the reported outcome agrees with the log, and sums are exact.
#include "server_answers.hpp"
#include "transfer_scene.hpp"

#include <settle/running/calls/listing.hpp>

#include <set>

namespace settle_test {
namespace {

/// Shape:   every - n: of the errors of all messages, each nth is sent; 1: each error
void answer_every_message(std::vector<circumstances> const& all, std::size_t every = 1) {
    std::atomic<std::size_t> number = 0;
    every_message<transfer_scene>(all, [&](auto const& of, std::string const& command, int nth) {
        // A member's two phases are native transactions only where several go in a wave.
        auto answers = every_answer(of.how == settle::phases::one || of.beside, command, nth);
        std::erase_if(answers, [&](message_fault const&) { return number++ % every != 0; });
        return answers;
    });
}

struct code_case {
    int code;
    settle::condition expected;
};

/// A code of the driver, as an error of settle holds it.
constexpr int by_driver(int domain, int code) { return -(domain * 100'000 + code); }

TEST_CASE("server errors: every code of the server and driver is retryable, permanent or unknown") {
    using enum settle::condition;
    std::vector<code_case> cases{{112, retryable}, {999'999, unknown}};
    // Errors that exclude an effect, now and later.
    for (int const code :
         {2,   9,   11,  13,  14,  15,  18,   20,    22,    26,    28,    31,    48,   52,  56,
          57,  59,  61,  66,  67,  72,  73,   85,    86,    115,   121,   123,   148,  166, 167,
          171, 257, 263, 322, 323, 334, 8000, 10334, 11000, 14031, 17280, 17419, 17420}) {
        cases.push_back({code, permanent});
    }
    // Errors that may occur during the work, or that are temporary.
    for (int const code :
         {1,   6,   7,   24,  46,  50,  64,  79,   89,    91,    100,   189,   202,   246,
          251, 262, 267, 290, 317, 358, 384, 9001, 10107, 11600, 11602, 13388, 13435, 13436}) {
        cases.push_back({code, unknown});
    }
    cases.push_back({by_driver(MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE), permanent});
    cases.push_back({by_driver(MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_NOT_READY), unknown});
    cases.push_back(
        {by_driver(MONGOC_ERROR_PROTOCOL, MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION), permanent});
    cases.push_back(
        {by_driver(MONGOC_ERROR_PROTOCOL, MONGOC_ERROR_PROTOCOL_INVALID_REPLY), unknown});
    cases.push_back({by_driver(MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_SOCKET), unknown});
    cases.push_back(
        {by_driver(MONGOC_ERROR_SERVER_SELECTION, MONGOC_ERROR_SERVER_SELECTION_FAILURE), unknown});
    for (int const domain : {MONGOC_ERROR_BSON, MONGOC_ERROR_COMMAND, MONGOC_ERROR_NAMESPACE,
                             MONGOC_ERROR_SASL, MONGOC_ERROR_SCRAM, MONGOC_ERROR_TRANSACTION}) {
        cases.push_back({by_driver(domain, 1), permanent});
    }
    for (auto const& one : cases) {
        CAPTURE(one.code);
        CHECK(std::error_code{one.code, settle::mongodb::mongodb_category()} == one.expected);
    }
}

TEST_CASE("server errors: a hosting service's refusal is advised by its text") {
    struct hosted_case {
        char const* text;
        char const* advice;
    };
    for (auto const& hosted : {
             hosted_case{"bad auth : Authentication failed", "Check the name, the password"},
             hosted_case{"user is not allowed to do action [update] on [bank.accounts]", "rights"},
             hosted_case{"user is not allowed to do action [update] on [shop.quotas]", "rights"},
             hosted_case{"you are over your space quota, using 512 MB of 512 MB", "Make room"},
             hosted_case{"setFeatureCompatibilityVersion is not allowed in this atlas tier",
                         "The hosted cluster's tier"},
             hosted_case{"no SNI name sent", "its text says why"},
         }) {
        bson_error_t problem{};
        bson_set_error(&problem, MONGOC_ERROR_SERVER, 8000, "%s", hosted.text);
        auto const told = settle::mongodb::detail::describe(problem, "change records").text;
        INFO(told);
        CHECK(told.find(hosted.text) < told.find(hosted.advice));
        CHECK(told.find(hosted.advice) != std::string::npos);
        CHECK((told.find("password") != std::string::npos) ==
              (told.find("bad auth") != std::string::npos));
    }
}

TEST_CASE("server errors: a permanent refusal is reported at once, and a later call succeeds") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        for (int const code : {13, 59, 8000, 14031}) {
            CAPTURE(how);
            CAPTURE(code);
            fresh_database const own{replica_set_address};
            proxy between{own.port()};
            settle::mongodb::database db{between.address(own.name(), disturbed_waits)};
            settle::options limits;
            limits.takeover = std::chrono::milliseconds{1};
            auto engine = bank_on(db, how, limits);
            engine.create(ledgers, {"A", opening, 0, ""}).value();
            engine.create(ledgers, {"B", opening, 0, ""}).value();
            for (auto const* const command : {"insert", "update"}) {
                between.add({.command = command,
                             .times = 1000,
                             .what = fault::refuse,
                             .answer = failed(code)});
            }
            auto const began = std::chrono::steady_clock::now();
            auto const outcome = engine.run("t", transfer{"A", "B", enough});
            CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{10});
            INFO(outcome);
            CHECK(outcome.verdict == settle::verdict::undecided);
            CHECK(outcome.problem.code == settle::condition::permanent);
            CHECK(outcome.problem.text.find(std::to_string(code)) != std::string::npos);
            between.clear_rules();
            CHECK(engine.run("t", transfer{"A", "B", enough}).done());
        }
    }
}

} // namespace

TEST_CASE("server errors: a single server answers messages of a transfer with errors") {
    answer_every_message({standalone}, 11);
}
TEST_CASE("server errors: messages of a transfer in one phase are answered with errors") {
    answer_every_message({one_phase}, 7);
}
TEST_CASE("long: server errors: every message of a transfer is answered with every error" *
          doctest::test_suite("many callers")) {
    answer_every_message({standalone, member, one_phase, together, one_phase_together});
}
TEST_CASE("long: server errors: every message of a canceled transfer gets every error" *
          doctest::test_suite("many callers")) {
    answer_every_message({standalone_canceled, one_phase_canceled, together_canceled});
}

TEST_CASE("long: server errors: later calls on a transfer are answered with errors" *
          doctest::test_suite("many callers")) {
    answer_every_message(later_actions(), 7);
}
TEST_CASE("exhaustive: server errors: every message of a later call on a transfer gets every "
          "error") {
    answer_every_message(later_actions());
}

TEST_CASE("server errors: an unknown commit is sent again, and no effect is repeated") {
    // The server's own reply carries a label; the reply of another version, or of a program in
    // between, may carry none.
    for (std::string const& reply : {failed(91), failed(91, "UnknownTransactionCommitResult")}) {
        for (fault const how : {fault::refuse, fault::replace_reply}) {
            fresh_database const own{replica_set_address};
            proxy between{own.port()};
            settle::mongodb::database db{between.address(own.name(), disturbed_waits)};
            auto engine = bank_on(db);
            engine.create(ledgers, {"A", opening, 0, ""}).value();
            engine.create(ledgers, {"B", opening, 0, ""}).value();
            between.reset_counts();
            between.add({.command = "commitTransaction", .what = how, .answer = reply});
            INFO(reply);
            CHECK(engine.run("t", transfer{"A", "B", enough}).done());
            CHECK(between.requests("commitTransaction") == 2);
            CHECK(between.requests("insert") == 1);
        }
    }
}

TEST_CASE("server errors: a call that only reads goes on after a stepdown and after a lost reply") {
    fresh_database const own{replica_set_address};
    proxy between{own.port()};
    settle::mongodb::database db{between.address(own.name(), disturbed_waits)};
    auto engine = bank_on(db, settle::phases::two, patient_limits());
    std::vector<ledger> many;
    for (int i = 1000; i < 1600; ++i) many.push_back({std::to_string(i), 1, 0, ""});
    CHECK(engine.create_all(ledgers, many).created == many.size());
    for (char const* const id : {"a", "b", "c"}) {
        CHECK(engine.submit(id, transfer{"1000", "1001", 1}).problem.empty());
    }
    for (auto const what :
         {fault::refuse, fault::drop_request, fault::drop_reply, fault::cut_reply}) {
        CAPTURE(static_cast<int>(what));
        auto const disturb = [&] {
            between.clear_rules();
            for (auto const* const command : {"find", "getMore", "aggregate"}) {
                between.add(
                    {.command = command, .times = 2, .what = what, .answer = failed(10107)});
            }
        };
        disturb();
        CHECK(engine.find("a").value()->state == settle::state::initial);
        disturb();
        CHECK(engine.read(ledgers, "1000").value()->balance == 1);
        disturb();
        CHECK(engine.page({}, {}, 10).value().size() == 3);
        disturb();
        CHECK(engine.stuck().value().empty());
        disturb();
        CHECK(engine.marks().value() == 0);
        disturb();
        std::multiset<std::string> ids;
        for (ledger const& one : engine.scan(ledgers)) ids.insert(one.id);
        CHECK(ids.size() == many.size());
        CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == many.size());
        between.clear_rules();
    }
}

} // namespace settle_test
