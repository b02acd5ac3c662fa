// SPDX-License-Identifier: BSL-1.0
// A runner: outcomes by calls, limits of each caller, a full queue, and its end.
#include "engine_types.hpp"
#include "later_client.hpp"

#include <contains.hpp>
#include <settle/runner.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace runner_test {

using namespace engine_test;
using namespace waiting_test;
using namespace std::chrono_literals;
using testing::contains;

namespace {

/// Keeps the outcome that a runner gives.
class kept_outcome {
public:
    auto taker() {
        return [this](settle::outcome given) { promise_.set_value(std::move(given)); };
    }
    settle::outcome get() { return promise_.get_future().get(); }

private:
    std::promise<settle::outcome> promise_;
};

struct office {
    settle::memory::database accounts_at{};
    later_client client{};
    decltype(make_engine(std::declval<settle::memory::database&>(),
                         std::declval<later_client&>())) engine = make_engine(accounts_at, client);
    settle::runner<decltype(engine)> runner;

    explicit office(settle::runner_options options = {}) : runner(engine, std::move(options)) {
        open_accounts(engine, {{"A", 1'000'000}});
    }
};

} // namespace

TEST_CASE("a runner gives each caller what run() returns") {
    office office;
    kept_outcome first;
    kept_outcome again;
    kept_outcome other;
    kept_outcome own_id;
    CHECK(office.runner.start<order_type>("o1", order{"A", 5}, first.taker()).has_value());
    CHECK(first.get().done());
    std::ignore = office.runner.start<order_type>("o1", order{"A", 5}, again.taker());
    CHECK(again.get().done());
    std::ignore = office.runner.start<order_type>("o1", order{"A", 6}, other.taker());
    CHECK(other.get().problem.code == settle::errc::id_in_use);
    std::ignore = office.runner.start<order_type>("o1/reverse", order{"A", 6}, own_id.taker());
    CHECK(own_id.get().problem.code == settle::errc::bad_text);
    CHECK(balance_of(office.engine, "A") == 999'995);
    CHECK(office.runner.size() == 0);
}

TEST_CASE("transactions of a runner do not wait for each other") {
    office office;
    office.client.keeps = [](auto const& call) { return call.transaction == "slow"; };
    kept_outcome slow;
    std::ignore = office.runner.start<order_type>("slow", order{"A", 1}, slow.taker());
    while (office.client.kept() == 0) std::this_thread::sleep_for(1ms);
    for (int count = 0; count < 20; ++count) {
        kept_outcome quick;
        std::ignore = office.runner.start<order_type>("quick-" + std::to_string(count),
                                                      order{"A", 1}, quick.taker());
        CHECK(quick.get().done());
    }
    CHECK(office.runner.size() == 1);
    office.client.answer_kept();
    CHECK(slow.get().done());
}

TEST_CASE("transactions that wait for the next try of a call leave their room to others") {
    office office{{.in_flight = 2, .queue = 6}};
    std::atomic<std::size_t> asked = 0;
    office.client.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (!call.transaction.starts_with("away")) return std::nullopt;
        ++asked;
        auto away = service_answer::unavailable("away");
        away.retry_after = 1h;
        return away;
    };
    std::vector<kept_outcome> outcomes(6);
    std::stop_source stop;
    for (std::size_t number = 0; number < outcomes.size(); ++number) {
        CHECK(office.runner
                  .start<order_type>("away" + std::to_string(number), order{"A", 1},
                                     outcomes[number].taker(),
                                     {.deadline = 2h, .stop = stop.get_token()})
                  .has_value());
        while (asked <= number) std::this_thread::sleep_for(1ms);
    }
    kept_outcome healthy;
    std::ignore = office.runner.start<order_type>("healthy", order{"A", 1}, healthy.taker());
    CHECK(healthy.get().done());
    stop.request_stop();
    for (auto& each : outcomes) CHECK(each.get().verdict == settle::verdict::undecided);
}

TEST_CASE("each caller of a runner has a deadline and a stop request of its own") {
    office office;
    office.client.keeps = [](auto const&) { return true; };
    kept_outcome late;
    kept_outcome stopped;
    kept_outcome patient;
    std::stop_source stop;
    std::ignore = office.runner.start<order_type>("o3", order{"A", 1}, patient.taker());
    std::ignore =
        office.runner.start<order_type>("o1", order{"A", 1}, late.taker(), {.deadline = 100ms});
    std::ignore = office.runner.start<order_type>("o2", order{"A", 1}, stopped.taker(),
                                                  {.stop = stop.get_token()});
    auto const end = late.get();
    CHECK(end.verdict == settle::verdict::undecided);
    CHECK(contains(end.problem.text, "the deadline of the engine's caller ended the wait"));
    stop.request_stop();
    auto const asked = stopped.get();
    CHECK(asked.verdict == settle::verdict::undecided);
    CHECK(contains(asked.problem.text, "a stop request ended the wait"));
    CHECK(office.runner.size() == 1);
    office.client.answer_kept();
    CHECK(patient.get().done());
    // The callers can ask again.
    for (auto const* id : {"o1", "o2"}) {
        kept_outcome again;
        std::ignore = office.runner.start<order_type>(id, order{"A", 1}, again.taker());
        CHECK(again.get().done());
    }
    CHECK(balance_of(office.engine, "A") == 999'997);
}

TEST_CASE("a stop request that comes while a transaction is started ends it, too") {
    office office{{.in_flight = 1}};
    office.client.keeps = [](auto const&) { return true; };
    kept_outcome first;
    std::ignore = office.runner.start<order_type>("o0", order{"A", 1}, first.taker());
    while (office.client.kept() == 0) std::this_thread::sleep_for(1ms);
    // The runner has no room, so each of these is in its queue when the request comes, or after it.
    for (int round = 0; round < 300; ++round) {
        std::stop_source stop;
        std::vector<kept_outcome> outcomes(3);
        {
            std::vector<std::jthread> starters;
            for (std::size_t number = 0; number < outcomes.size(); ++number) {
                starters.emplace_back([&, number] {
                    auto const id = "o" + std::to_string(round) + "-" + std::to_string(number);
                    std::ignore = office.runner.start<order_type>(
                        id, order{"A", 1}, outcomes[number].taker(), {.stop = stop.get_token()});
                });
            }
            stop.request_stop();
        }
        for (auto& each : outcomes) CHECK(each.get().verdict == settle::verdict::undecided);
    }
    office.client.answer_kept();
    CHECK(first.get().done());
}

TEST_CASE("a runner that ends takes no start of its own completions") {
    settle::memory::database accounts_at;
    later_client client;
    client.keeps = [](auto const&) { return true; };
    auto engine = make_engine(accounts_at, client);
    open_accounts(engine, {{"A", 1000}});
    std::atomic<int> refused = 0;
    {
        settle::runner runner{engine, {.in_flight = 1, .drain = 0s}};
        auto const start_another = [&](settle::outcome const&) {
            auto const begun =
                runner.start<order_type>("o9", order{"A", 1}, [](settle::outcome const&) {});
            if (begun.problem().code == settle::errc::stopped) ++refused;
        };
        std::ignore = runner.start<order_type>("o1", order{"A", 1}, start_another);
        while (client.kept() == 0) std::this_thread::sleep_for(1ms);
        std::ignore = runner.start<order_type>("o2", order{"A", 1}, start_another);
    }
    CHECK(refused == 2);
}

TEST_CASE("a start beyond the queue is refused, and nothing of it begins") {
    office office{{.in_flight = 1, .queue = 2}};
    office.client.keeps = [](auto const&) { return true; };
    std::vector<kept_outcome> outcomes(3);
    std::ignore = office.runner.start<order_type>("o0", order{"A", 1}, outcomes[0].taker());
    while (office.client.kept() == 0) std::this_thread::sleep_for(1ms);
    for (int number : {1, 2}) {
        CHECK(office.runner
                  .start<order_type>("o" + std::to_string(number), order{"A", 1},
                                     outcomes[static_cast<std::size_t>(number)].taker())
                  .has_value());
    }
    auto const refused = office.runner.start<order_type>(
        "o3", order{"A", 1}, [](settle::outcome const&) { FAIL("called"); });
    CHECK(refused.problem().code == settle::errc::runner_full);
    CHECK(refused.problem().code == settle::condition::retryable);
    office.client.answer_kept();
    for (auto& each : outcomes) CHECK(each.get().done());
    CHECK_FALSE(office.engine.find("o3").value().has_value());
}

TEST_CASE("the limits of a caller hold while its transaction waits for another one") {
    // For a place in the window, for an earlier transaction with its id, or for a shared record.
    enum class wait : std::uint8_t { in_queue, behind_twin, behind_record };
    for (auto const why : {wait::in_queue, wait::behind_twin, wait::behind_record}) {
        CAPTURE(static_cast<int>(why));
        office office{{.in_flight = why == wait::in_queue ? std::size_t{1} : std::size_t{10}}};
        open_accounts(office.engine, {{"B", 2}});
        office.client.keeps = [](auto const&) { return true; };
        order const two{"B", 2};
        kept_outcome first;
        kept_outcome late;
        kept_outcome stopped;
        std::stop_source stop;
        std::ignore = office.runner.start<quote_type>("o1", two, first.taker());
        while (office.client.kept() == 0) std::this_thread::sleep_for(1ms);
        bool const has_twin = why == wait::behind_twin;
        // Each quote makes a call first, so a third has the record already.
        std::ignore = office.runner.start<quote_type>(has_twin ? "o1" : "o2", two, late.taker(),
                                                      {.deadline = 100ms});
        std::ignore = office.runner.start<quote_type>(has_twin ? "o1" : "o3", two, stopped.taker(),
                                                      {.stop = stop.get_token()});
        CHECK(late.get().verdict == settle::verdict::undecided);
        stop.request_stop();
        CHECK(stopped.get().verdict == settle::verdict::undecided);
        CHECK(office.runner.size() == 1);
        office.client.answer_kept();
        CHECK(first.get().done());
    }
}

TEST_CASE("a runner in a forked child refuses each start, and its end hangs nowhere") {
    office office;
    auto const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(20);
        bool good = false;
        {
            auto const refused =
                office.runner.start<order_type>("o1", order{"A", 1}, [](settle::outcome const&) {});
            good = refused.problem().code == settle::errc::forked;
            office.runner.~runner();
        }
        ::_exit(good ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("a runner that ends completes every transaction, and loses none") {
    settle::memory::database db;
    later_client client;
    auto engine = make_engine(db, client);
    open_accounts(engine, {{"A", 100}});
    client.keeps = [](auto const&) { return true; };
    kept_outcome under_way;
    kept_outcome waiting;
    {
        settle::runner runner{engine, {.in_flight = 1, .drain = 20ms}};
        std::ignore = runner.start<order_type>("o0", order{"A", 1}, under_way.taker());
        while (client.kept() == 0) std::this_thread::sleep_for(1ms);
        std::ignore = runner.start<order_type>("o1", order{"A", 1}, waiting.taker());
    }
    CHECK(contains(under_way.get().problem.text, "a stop request ended the wait"));
    CHECK(waiting.get().verdict == settle::verdict::undecided);
    CHECK(engine.find("o0").value().has_value());
    CHECK_FALSE(engine.find("o1").value().has_value());
    client.answer_kept();
    CHECK(engine.recover({.older_than = 0ms}).done == 1);
    CHECK(balance_of(engine, "A") == 99);
}

TEST_CASE("exceptions of completions are reported and affect nothing") {
    std::promise<std::exception_ptr> seen;
    office office{{.on_exception = [&](std::exception_ptr const& thrown) {
        seen.set_value(thrown);
        throw std::runtime_error{"of the handler"};
    }}};
    std::ignore = office.runner.start<order_type>(
        "o0", order{"A", 1}, [](settle::outcome const&) { throw std::runtime_error{"of mine"}; });
    CHECK_THROWS_WITH(std::rethrow_exception(seen.get_future().get()), "of mine");
    kept_outcome next;
    std::ignore = office.runner.start<order_type>("o1", order{"A", 1}, next.taker());
    CHECK(next.get().done());
}

TEST_CASE("wrong options of a runner are refused") {
    settle::memory::database db;
    later_client client;
    auto engine = make_engine(db, client);
    using runner = settle::runner<decltype(engine)>;
    CHECK_THROWS_WITH_AS((runner{engine, {.threads = 0}}),
                         "settle: runner_options::threads or runner_options::queue is 0. Give at "
                         "least 1. See runner#options",
                         settle::failure);
    CHECK_THROWS_AS((runner{engine, {.queue = 0}}), settle::failure);
}

TEST_CASE("many threads start transactions, and each gets its own outcome") {
    for (std::size_t const threads : {1U, 3U}) {
        CAPTURE(threads);
        office office{{.in_flight = 50, .threads = threads}};
        office.client.run(7);
        std::atomic<int> done = 0;
        std::vector<std::jthread> callers;
        for (int caller = 0; caller < 8; ++caller) {
            callers.emplace_back([&, caller] {
                for (int number = 0; number < 50; ++number) {
                    auto const id = std::to_string(caller) + "-" + std::to_string(number);
                    kept_outcome mine;
                    std::ignore = office.runner.start<order_type>(id, order{"A", 1}, mine.taker());
                    auto const outcome = mine.get();
                    if (outcome.done() && outcome.id == id) ++done;
                }
            });
        }
        callers.clear();
        CHECK(done == 400);
        CHECK(balance_of(office.engine, "A") == 999'600);
    }
}

} // namespace runner_test
