// SPDX-License-Identifier: BSL-1.0
// Calls whose answers come later: they delay their own transaction and no other one.
#include "engine_types.hpp"

#include "later_client.hpp"

#include <contains.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace waiting_test {

using testing::contains;

namespace {

std::vector<std::pair<std::string, order>> orders(std::size_t count) {
    std::vector<std::pair<std::string, order>> requests;
    for (std::size_t at = 0; at < count; ++at)
        requests.emplace_back("o" + std::to_string(at), order{"A", 1});
    return requests;
}

[[nodiscard]] bool is_of(service_call const& call, std::string_view id) {
    return call.transaction == id;
}

} // namespace

TEST_CASE("a call without an answer delays its own transaction and no other") {
    for (std::size_t const window : {std::size_t{0}, std::size_t{2}}) {
        CAPTURE(window);
        settle::memory::database db;
        later_client client;
        client.keeps = [](service_call const& call) { return is_of(call, "o3"); };
        auto engine = make_engine(db, client);
        open_accounts(engine, {{"A", 1000}});
        std::vector<std::string> ended;
        auto const report = [&](std::size_t number, settle::outcome const& outcome) {
            CHECK(outcome.done());
            ended.push_back("o" + std::to_string(number));
            // All others have ended: now each call of this one gets its answer.
            if (ended.size() == 19) {
                client.answer_kept();
            }
        };
        CHECK(engine.run_all<order_type>(orders(20), report, {.window = window}).problem.empty());
        REQUIRE(ended.size() == 20);
        CHECK(ended.back() == "o3");
        CHECK(balance_of(engine, "A") == 980);
    }
}

TEST_CASE("transactions that share a record keep their order while calls are under way") {
    settle::memory::database db;
    later_client client;
    client.keeps = [](service_call const& call) { return is_of(call, "o0"); };
    auto engine = make_engine(db, client);
    open_accounts(engine, {{"A", 25}, {"B", 25}});
    std::vector<std::pair<std::string, order>> const quotes{
        {"o0", {"A", 20}}, {"o1", {"A", 10}}, {"o2", {"B", 10}}};
    std::vector<std::string> ended;
    std::jthread const answers{[&] {
        // o2 goes on meanwhile; o1 shares a record with o0, which its range has first.
        while (client.kept() == 0) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(50ms);
        client.answer_kept();
    }};
    auto const report = [&](std::size_t number, settle::outcome const& outcome) {
        ended.push_back("o" + std::to_string(number) + (outcome.done() ? " done" : " not done"));
    };
    std::ignore = engine.run_all<quote_type>(quotes, report);
    CHECK(ended.front() == "o2 done");
    std::sort(ended.begin(), ended.end());
    CHECK(ended == std::vector<std::string>{"o0 done", "o1 not done", "o2 done"});
    CHECK(balance_of(engine, "A") == 5);
}

TEST_CASE("a deadline and a stop request end the wait for an answer") {
    for (bool const has_deadline : {true, false}) {
        CAPTURE(has_deadline);
        settle::memory::database db;
        later_client client;
        client.keeps = [](service_call const&) { return true; };
        auto engine = make_engine(db, client);
        open_accounts(engine, {{"A", 10}});
        std::stop_source stop;
        settle::call_options limits;
        if (has_deadline) limits.deadline = 100ms;
        else limits.stop = stop.get_token();
        std::jthread const asks{[&] {
            while (client.kept() == 0) std::this_thread::sleep_for(1ms);
            if (!has_deadline) stop.request_stop();
        }};
        auto const outcome = engine.run<order_type>("o0", order{"A", 1}, limits);
        CHECK(outcome.verdict == settle::verdict::undecided);
        CHECK(contains(outcome.problem.text,
                       has_deadline ? "was not asked for the apply of 'goods': the deadline of "
                                      "the engine's caller ended the wait"
                                    : "was not asked for the apply of 'goods': a stop request "
                                      "ended the wait"));
        // Nobody waits for the call any more, so it must not be made.
        CHECK_FALSE(client.begin_kept());
        client.answer_kept();
        CHECK(client.services.calls.empty());
        CHECK(engine.run<order_type>("o0", order{"A", 1}).done());
        CHECK(balance_of(engine, "A") == 9);
    }
}

TEST_CASE("the outcome of a call that had begun is unknown at the deadline, and it is made again") {
    settle::memory::database db;
    later_client client;
    client.keeps = [](service_call const&) { return true; };
    auto engine = make_engine(db, client);
    open_accounts(engine, {{"A", 10}});
    std::jthread const begins{[&] {
        while (client.kept() == 0) std::this_thread::sleep_for(1ms);
        CHECK(client.begin_kept());
    }};
    auto const outcome = engine.run<order_type>("o0", order{"A", 1}, {.deadline = 200ms});
    CHECK(contains(outcome.problem.text, "gave no answer to the apply of 'goods'"));
    client.answer_kept();
    CHECK(engine.run<order_type>("o0", order{"A", 1}).done());
    CHECK(client.services.called() == "apply goods, apply parcel");
}

TEST_CASE("a client that fails, forgets or repeats answers loses nothing") {
    settle::memory::database db;
    struct careless_client {
        receiver services{};
        int starts = 0;
        std::vector<call_pointer> held{};

        void send(std::span<service_call const>, std::span<service_answer>) {}
        void start(settle::calls_to_start calls) {
            switch (++starts) {
            case 1: return; // forgets all
            case 2: throw std::runtime_error{"no connection"};
            case 3: throw 3;
            case 4: held.assign(calls.begin(), calls.end()); throw std::runtime_error{"too late"};
            default:
                for (auto const& each : calls) {
                    service_answer made;
                    services.send({&each->call(), 1}, {&made, 1});
                    each->answer(std::move(made));
                    each->answer(service_answer::refused("again"));
                }
            }
        }
    };
    careless_client client;
    std::vector<std::string> problems;
    settle::engine engine{db, settle::bind(shop, client), settle::bind(courier, client),
                          settle::type<order_type>,
                          settle::observed_by([&](settle::event const& seen) {
                              if (seen.failed_answer == settle::answer::unknown)
                                  problems.emplace_back(seen.problem);
                          })};
    open_accounts(engine, {{"A", 10}});
    CHECK(engine.run("o0", order{"A", 1}).done());
    CHECK(client.services.called() == "apply goods, apply parcel");
    REQUIRE(problems.size() == 4);
    CHECK(contains(problems[0], "the client has dropped the call"));
    CHECK(contains(problems[1], "no connection"));
    CHECK(contains(problems[2], "an exception"));
    CHECK(contains(problems[3], "too late"));
    // Answers for which nobody waits.
    for (auto const& each : client.held) each->answer(service_answer::refused("late"));
    auto const counts = engine.statistics().calls;
    CHECK(counts.front() == settle::call_counts{"shop", 1, 0, 0, 4});
}

TEST_CASE("answers in any order, with faults, end every transaction and keep the sums") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        settle::memory::database db;
        later_client client;
        std::mt19937 random{seed};
        client.services.decide = [&](service_call const&) {
            return random() % 8 == 0 ? service_answer::refused("sold out")
                                     : service_answer::ok("{}");
        };
        client.services.loses = [&](service_call const&) { return random() % 8 == 0; };
        client.services.before = [&](service_call const&) -> std::optional<service_answer> {
            if (random() % 8 != 0) return std::nullopt;
            return service_answer::unavailable("away");
        };
        client.run(seed);
        settle::options limits;
        limits.call_first_pause = limits.call_longest_pause = 1ms;
        settle::engine engine{db, settle::bind(shop, client), settle::bind(courier, client),
                              settle::type<order_type>, limits};
        open_accounts(engine, {{"A", 1000}});
        std::int64_t done = 0;
        auto const outcomes = engine.run_all(orders(200), {.window = 64});
        for (auto const& outcome : outcomes) {
            CHECK((outcome.done() || outcome.canceled()));
            if (outcome.done()) ++done;
        }
        CHECK(balance_of(engine, "A") == 1000 - done);
        CHECK(engine.marks().value() == 0);
        auto const stands = [](auto const& each) {
            return each.second.now == receiver::row::status::applied;
        };
        auto const& rows = client.services.rows;
        CHECK(std::count_if(rows.begin(), rows.end(), stands) == 2 * done);
    }
}

} // namespace waiting_test
