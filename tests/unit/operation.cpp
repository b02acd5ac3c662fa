// SPDX-License-Identifier: BSL-1.0
// Transactions that their owner drives step by step.
#include "engine_types.hpp"

#include "later_client.hpp"
#include "two_files.hpp"

#include <settle/running/calls/operation.hpp>

#include <contains.hpp>

#include <utility>

namespace operation_test {

using namespace two_files_test;
using namespace std::chrono_literals;

/// The steps of a transaction that rests only while a store takes long.
template <typename Operation>
std::string steps_of(Operation& operation) {
    std::string steps;
    auto last = settle::step::end;
    while (!operation.is_over()) {
        auto const next = operation.next();
        if (std::exchange(last, next) != next) steps.append(name_of(next)).append(" ");
        operation.wait();
        operation.advance();
    }
    CHECK(operation.next() == settle::step::end);
    return steps;
}

TEST_CASE("operation: each call of advance() takes one step, and begin() takes none") {
    two_files files;
    auto const run = [&](auto engine, std::string const& id) {
        auto operation = engine.begin(id, deposit{"A", "V", 10});
        CHECK(!engine.find(id).value().has_value());
        auto steps = steps_of(operation);
        CHECK(operation.outcome().done());
        operation.advance();
        CHECK(operation.outcome().id == id);
        return steps;
    };
    CHECK(run(files.make(), "late") == "apply decide confirm close ");
    CHECK(run(files.make(settle::early_entries), "early") == "insert apply commit confirm close ");
    CHECK(run(files.make(settle::two_phases), "both") == "insert apply commit confirm close ");
    CHECK(files.sums() == "70+30");

    settle::sqlite::database sole{files.own.file("sole")};
    settle::engine one_phase{sole, settle::type<transfer_type>};
    open_accounts(one_phase, {{"A", 100}, {"B", 0}});
    auto operation = one_phase.begin(transfer{"A", "B", 10});
    CHECK(steps_of(operation) == "one phase ");
    CHECK(entry_of(one_phase, operation.id()).state == settle::state::done);
}

TEST_CASE("operation: what is destroyed after any step is as after a kill, and recovers") {
    auto const check = [](auto const&... how) {
        for (int steps = 0; steps < 6; ++steps) {
            CAPTURE(steps);
            two_files files;
            {
                auto engine = files.make(how...);
                auto operation = engine.begin("t", deposit{"A", "V", 10});
                for (int taken = 0; taken < steps; ++taken) operation.advance();
            }
            files.world.time += 1h;
            auto engine = files.make(how...);
            std::ignore = engine.recover();
            std::ignore = engine.sweep();
            CHECK(files.marks() == "0+0");
            bool const is_done = engine.run("t", deposit{"A", "V", 10}).done();
            CHECK(files.sums() == (is_done ? "90+10" : "100+0"));
        }
    };
    check();
    check(settle::early_entries);
    check(settle::two_phases);
}

TEST_CASE("operation: it rests until a pause is over, and asks nobody before") {
    two_files files;
    auto engine = files.make(settle::early_entries);
    auto holder = files.make(settle::two_phases);
    auto other = holder.begin("c", correction{"A", "V", 70});
    while (other.next() != settle::step::commit) other.advance();
    auto operation = engine.begin("t", deposit{"A", "V", 10}, {.deadline = 10s});
    for (int taken = 0; taken < 20 && operation.rest() == 0ns; ++taken) operation.advance();
    auto const rest = operation.rest();
    REQUIRE(rest.has_value());
    REQUIRE(*rest > 0ns);
    CHECK(operation.next() == settle::step::pause);
    auto const drawn = files.world.drawn;
    operation.advance();
    CHECK(files.world.drawn == drawn);
    CHECK(operation.rest() == rest);
    while (!other.is_over()) other.advance();
    CHECK(other.outcome().done());
    while (!operation.is_over()) {
        operation.wait();
        operation.advance();
    }
    CHECK(operation.outcome().done());
}

TEST_CASE("operation: it waits for a service while others go on, up to its deadline") {
    settle::memory::database db;
    waiting_test::later_client client;
    client.keeps = [](settle::service_call const& call) { return call.transaction == "kept"; };
    auto engine = waiting_test::make_engine(db, client);
    open_accounts(engine, {{"A", 100}});
    waiting_test::order const asked{"A", 10};
    auto kept = engine.begin<waiting_test::order_type>("kept", asked);
    auto late = engine.begin<waiting_test::order_type>("kept too", asked, {.deadline = 20ms});
    while (kept.rest() == 0ns) kept.advance();
    CHECK(!kept.rest().has_value());
    CHECK(client.kept() == 1);
    kept.advance();
    CHECK(client.kept() == 1);

    auto other = engine.begin<waiting_test::order_type>("other", asked);
    while (!other.is_over()) other.advance();
    CHECK(other.outcome().done());

    client.keeps = [](settle::service_call const&) { return true; };
    std::stop_source stop;
    auto stopped = engine.begin<waiting_test::order_type>("stopped", asked, {{}, stop.get_token()});
    while (stopped.rest() == 0ns) stopped.advance();
    stop.request_stop();
    for (auto* const ending : {&late, &stopped}) {
        while (!ending->is_over()) {
            if (ending->rest() == 0ns) ending->advance();
            else ending->wait();
        }
        CHECK(ending->outcome().verdict == settle::verdict::undecided);
    }

    std::jthread const answers{[&] {
        std::this_thread::sleep_for(20ms);
        client.answer_kept();
    }};
    while (!kept.is_over()) {
        kept.wait();
        kept.advance();
    }
    CHECK(kept.outcome().done());
}

TEST_CASE("operation: what cannot begin is over at once, with run()'s outcome") {
    two_files files;
    auto engine = files.make();
    auto const check = [&](std::string const& id, deposit const& parameters, auto const& call) {
        auto const operation = engine.begin(id, parameters, call);
        CHECK(operation.is_over());
        auto const ran = engine.run(id, parameters, call);
        CHECK(operation.outcome().verdict == ran.verdict);
        CHECK(operation.outcome().problem.text == ran.problem.text);
        CHECK(!ran.done());
    };
    settle::call_options const none;
    check("", deposit{"A", "V", 10}, none);
    check("ends/reverse", deposit{"A", "V", 10}, none);
    check("t", deposit{"A", "V", -10}, none);
    check("t", deposit{"A", "V", 10}, settle::call_options{.deadline = 0s});
    check("t", deposit{"A", "V", 10}, settle::call_options{.traceparent = "no"});
}

} // namespace operation_test
