// SPDX-License-Identifier: BSL-1.0
// Errors of a server after its collections were checked: a validator that was added later, and
// errors with their own codes, which compare with settle's conditions.
#include "bank_documents.hpp"
#include "proxy.hpp"
#include "server_answers.hpp"

namespace settle_test {
namespace {

/// An error with the server's code, and its condition.
void check_native(settle::error const& problem, int code, settle::condition expected,
                  std::string const& reply) {
    INFO(problem.text);
    CHECK(problem.code == std::error_code{code, settle::mongodb::mongodb_category()});
    using enum settle::condition;
    for (auto const one : {retryable, conflict, permanent, unknown}) {
        CHECK((problem.code == one) == (one == expected));
    }
    CHECK(problem.text.starts_with("settle: MongoDB could not "));
    CHECK(problem.text.find(reply + " (code " + std::to_string(code) + "). ") != std::string::npos);
}

} // namespace

TEST_CASE("foreign refusals: a later validator cancels only the transactions that it refuses") {
    on_every_server<bank_documents>([](bank_documents& documents) {
        for (char const* const id : {"A", "B", "C"}) {
            documents.put_ledger(id, R"("balance": 100, "units": 0, "label": "")");
        }
        auto const set = documents.shell.run(
            R"({"collMod": "suite_ledgers", "validator": {"balance": {"$gte": 80}}})");
        REQUIRE_MESSAGE(set.ok, set.error);
        auto const check_refused = [&](settle::outcome const& outcome) {
            INFO(outcome.text());
            CHECK(outcome.canceled());
            CHECK(outcome.why == settle::reason::record_unusable);
            check_native(outcome.problem, 121, settle::condition::permanent,
                         "Document failed validation");
            check_outcome(documents.engine, outcome);
        };
        check_refused(documents.engine.run("alone", transfer{"C", "A", 30}));
        std::vector<std::pair<std::string, transfer>> const wave{
            {"1", {"A", "B", 5}}, {"2", {"C", "B", 30}}, {"3", {"B", "A", 2}}};
        auto const outcomes = documents.engine.run_all(wave);
        CHECK_MESSAGE(outcomes[0].done(), outcomes[0]);
        check_refused(outcomes[1]);
        CHECK_MESSAGE(outcomes[2].done(), outcomes[2]);
        CHECK(balance(documents.engine, "A") == 97);
        CHECK(balance(documents.engine, "B") == 103);
        CHECK(balance(documents.engine, "C") == 100);
        CHECK(documents.engine.marks().value() == 0);
        // A record that is not there yet, too.
        check_native(documents.engine.create(ledgers, {"D", 79, 0, ""}).problem(), 121,
                     settle::condition::permanent, "Document failed validation");
    });
}

TEST_CASE("foreign refusals: a server's error keeps its code and its condition") {
    fresh_database const own{standalone_address};
    proxy between{own.port()};
    settle::mongodb::database db{between.address(own.name(), short_waits)};
    auto engine = bank_on(db);
    using enum settle::condition;
    for (auto const& [code, expected] : {std::pair{13, permanent},
                                         {18, permanent},
                                         {121, permanent},
                                         {112, retryable},
                                         {999'999, unknown}}) {
        between.clear_rules();
        between.add({.command = "find", .what = fault::refuse, .answer = failed(code)});
        auto const account = engine.read(ledgers, "A");
        // The engine tries again what may succeed later.
        CHECK(account.has_value() == (expected != permanent));
        if (!account.has_value()) {
            check_native(account.problem(), code, expected, "as the test wants it");
        }
        // The engine's constructor can only throw.
        between.add({.command = "listCollections", .what = fault::refuse, .answer = failed(code)});
        try {
            auto const another = bank_on(db);
            FAIL_CHECK("an engine was built");
        } catch (settle::failure const& caught) {
            check_native(caught.problem(), code, expected, "as the test wants it");
        }
    }
}

} // namespace settle_test
