// SPDX-License-Identifier: BSL-1.0
// A native transaction of another program holds a record: a transaction on that record waits until
// its own deadline and then reports the hold. Other transactions run.
#include "bank_documents.hpp"
#include "caller_actions.hpp"
#include "foreign_holder.hpp"

#include <algorithm>
#include <thread>

namespace settle_test {
namespace {

using namespace std::chrono_literals;

/// A bank on a replica set whose callers give up soon.
struct held_bank : documents {
    explicit held_bank(settle::phases how, std::chrono::milliseconds patience = 600ms)
        : documents(replica_set_address), db(own.address()),
          engine(bank_on(db, how, limits_of(patience))), other(own.address()) {}

    static settle::options limits_of(std::chrono::milliseconds patience) {
        auto limits = short_limits();
        limits.patience = patience;
        return limits;
    }
    void open(std::string const& id) { engine.create(ledgers, {id, opening, 0, ""}).value(); }

    settle::mongodb::database db;
    decltype(bank_on(std::declval<settle::mongodb::database&>())) engine;
    foreign_holder other;
};

void check_held(settle::error const& problem, std::string const& what) {
    INFO(problem.text);
    CHECK(problem.text.starts_with("settle: " + what + " is held by another native transaction"));
    CHECK(problem.code == settle::condition::retryable);
}

/// Transfers between separate accounts: the transfer of this number uses the held account.
std::vector<std::pair<std::string, transfer>> transfers(held_bank& bank, int count) {
    std::vector<std::pair<std::string, transfer>> requests;
    for (int number = 0; number < count; ++number) {
        auto const name = std::to_string(number);
        bank.open("from" + name);
        bank.open("to" + name);
        requests.push_back({"t" + name, {"from" + name, "to" + name, 1}});
    }
    return requests;
}

} // namespace

TEST_CASE("held records: a record held by a native transaction delays only its own transaction") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        CAPTURE(static_cast<int>(how));
        held_bank bank{how};
        auto requests = transfers(bank, 51);
        bank.other.hold("suite_ledgers", "to20");
        auto began = std::chrono::steady_clock::now();
        std::size_t ended = 0;
        bank.engine.run_all(requests, [&](std::size_t number, settle::outcome const& outcome) {
            INFO(outcome.text());
            ++ended;
            if (number != 20) {
                CHECK(outcome.done());
                return;
            }
            CHECK(outcome.verdict == settle::verdict::undecided);
            check_held(outcome.problem, "the record 'to20' of 'suite_ledgers'");
        });
        CHECK(ended == 51);
        auto const whole = std::chrono::steady_clock::now() - began;
        CHECK(whole >= 600ms);
        // The server ends the holder after a minute.
        CHECK(whole < 50s);
        bank.other.end();
        CHECK(bank.engine.run(requests[20].first, requests[20].second).done());

        // The record becomes free when all others are done. If they wait for its transaction, they
        // wait until the server ends the holder, after a minute.
        for (auto& [id, parameters] : requests) id += "-again";
        auto patient = bank_on(bank.db, how, held_bank::limits_of(90s));
        foreign_holder other{bank.own.address()};
        other.hold("suite_ledgers", "to20");
        std::size_t others_done = 0;
        ended = 0;
        began = std::chrono::steady_clock::now();
        patient.run_all(requests, [&](std::size_t number, settle::outcome const& outcome) {
            INFO(outcome.text());
            ++ended;
            CHECK(outcome.done());
            if (number == 20) CHECK(others_done == 50);
            else if (++others_done == 50) other.end();
        });
        CHECK(ended == 51);
        CHECK(std::chrono::steady_clock::now() - began < 60s);
        settle_all(bank.engine);
        CHECK(bank.engine.marks().value() == 0);
    }
}

TEST_CASE("held records: a caller learns at its own deadline that its record is held") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        CAPTURE(static_cast<int>(how));
        held_bank bank{how, 90s};
        auto const requests = transfers(bank, 1);
        bank.other.hold("suite_ledgers", "from0");
        settle::call_options call;
        call.deadline = 300ms;
        auto const began = std::chrono::steady_clock::now();
        auto const outcome = bank.engine.run("t0", requests[0].second, call);
        // Updates outside of a native transaction wait in the server, which ends them after 2 s.
        CHECK(std::chrono::steady_clock::now() - began < 50s);
        CHECK(outcome.verdict == settle::verdict::undecided);
        INFO(outcome.text());
        CHECK(outcome.problem.text.find("the record 'from0' of 'suite_ledgers'") !=
              std::string::npos);
        CHECK(outcome.problem.text.find("another native transaction") != std::string::npos);
        bank.other.end();
        CHECK(bank.engine.run("t0", requests[0].second).done());
        settle_all(bank.engine);
        CHECK(balance(bank.engine, "from0") == opening - 1);
    }
}

TEST_CASE("held records: a caller learns soon after its deadline that its entry is held") {
    held_bank bank{settle::phases::two, 90s};
    auto const requests = transfers(bank, 1);
    leave(bank.db, "t0", requests[0].second, left_at::applied);
    bank.other.hold("settle_entries", "t0");
    settle::call_options call;
    call.deadline = 300ms;
    auto const began = std::chrono::steady_clock::now();
    auto const outcome = bank.engine.run("t0", requests[0].second, call);
    CHECK(std::chrono::steady_clock::now() - began < 50s);
    INFO(outcome.text());
    CHECK(outcome.verdict == settle::verdict::undecided);
    CHECK(outcome.problem.text.find("the entry 't0' of 'settle_entries'") != std::string::npos);
    CHECK(outcome.problem.text.find("another native transaction") != std::string::npos);
    bank.other.end();
    CHECK(bank.engine.run("t0", requests[0].second).done());
    CHECK(balance(bank.engine, "from0") == opening - 1);
}

TEST_CASE("held records: a caller continues as soon as its record is released") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        held_bank bank{how, 90s};
        auto const requests = transfers(bank, 1);
        bank.other.hold("suite_ledgers", "to0");
        std::jthread const ends{[&] {
            std::this_thread::sleep_for(300ms);
            bank.other.end();
        }};
        CHECK(bank.engine.run("t0", requests[0].second).done());
    }
}

TEST_CASE("held records: threads with free records run beside a thread with a held record") {
    held_bank bank{settle::phases::one};
    auto const requests = transfers(bank, 8);
    bank.other.hold("suite_ledgers", "from3");
    std::vector<settle::outcome> outcomes(requests.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t number = 0; number < requests.size(); ++number) {
            threads.emplace_back([&, number] {
                outcomes[number] = bank.engine.run(requests[number].first, requests[number].second);
            });
        }
    }
    for (std::size_t number = 0; number < outcomes.size(); ++number) {
        INFO(outcomes[number].text());
        if (number != 3) CHECK(outcomes[number].done());
        else check_held(outcomes[number].problem, "the record 'from3' of 'suite_ledgers'");
    }
}

TEST_CASE("held records: an entry held by a native transaction delays no other entry") {
    SUBCASE("a new entry, in one phase") {
        held_bank bank{settle::phases::one};
        auto const all = transfers(bank, 5);
        bank.other.hold_new("settle_entries", "t2");
        auto const outcomes = bank.engine.run_all(all);
        for (std::size_t number = 0; number < outcomes.size(); ++number) {
            INFO(outcomes[number].text());
            if (number != 2) CHECK(outcomes[number].done());
            else check_held(outcomes[number].problem, "the entry 't2' of 'settle_entries'");
        }
    }
    SUBCASE("unfinished entries that are taken over") {
        held_bank bank{settle::phases::two};
        auto const all = transfers(bank, 5);
        for (auto const& [id, parameters] : all) leave(bank.db, id, parameters, left_at::applied);
        bank.other.hold("settle_entries", "t2");
        auto const report = bank.engine.recover(of_any_age());
        CHECK(report.done == 4);
        CHECK(report.undecided == 1);
        check_held(report.problem, "the entry 't2' of 'settle_entries'");
        bank.other.end();
        settle_all(bank.engine);
        CHECK(bank.engine.find("t2").value()->state == settle::state::done);
    }
}

TEST_CASE("held records: recover reports records held by a vanished client") {
    held_bank bank{settle::phases::two};
    auto const all = transfers(bank, 4);
    for (auto const& [id, parameters] : all) leave(bank.db, id, parameters, left_at::inserted);
    for (int number = 0; number < 3; ++number) {
        bank.other.hold("suite_ledgers", "from" + std::to_string(number));
    }
    auto const report = bank.engine.recover(of_any_age());
    CHECK(report.done == 1);
    CHECK(report.undecided == 3);
    // Whichever of them ends first.
    INFO(report.problem.text);
    CHECK(report.problem.text.starts_with("settle: the record 'from"));
    CHECK(report.problem.text.find("is held by another native transaction") != std::string::npos);
    bank.other.end();
    CHECK(bank.engine.recover(of_any_age()).done == 3);
    CHECK(bank.engine.marks().value() == 0);
}

} // namespace settle_test
