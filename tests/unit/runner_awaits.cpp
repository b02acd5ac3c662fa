// SPDX-License-Identifier: BSL-1.0
// The ways to wait for a transaction of a runner: coroutines, Boost.Asio, senders.
#include "engine_types.hpp"
#include "later_client.hpp"
#include "small_senders.hpp"

#include <contains.hpp>

#define SETTLE_EXECUTION small_senders
#include <settle/asio.hpp>
#include <settle/coroutine.hpp>
#include <settle/execution.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#if BOOST_ASIO_VERSION >= 102000
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#endif

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace awaits_test {

using namespace engine_test;
using namespace waiting_test;
using namespace std::chrono_literals;
using testing::contains;
namespace asio = boost::asio;

namespace {

/// A coroutine that starts at once, and whose end nobody waits for.
struct task {
    struct promise_type {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

struct office {
    settle::memory::database accounts_at{};
    later_client client{};
    decltype(make_engine(std::declval<settle::memory::database&>(),
                         std::declval<later_client&>())) engine = make_engine(accounts_at, client);
    settle::runner<decltype(engine)> runner;

    explicit office(settle::runner_options options = {}) : runner(engine, std::move(options)) {
        open_accounts(engine, {{"A", 1000}});
    }
    /// Fills a runner that has one place in its queue.
    void fill() {
        client.keeps = [](auto const&) { return true; };
        std::ignore = runner.start<order_type>("first", order{"A", 1}, [](auto const&) {});
        while (client.kept() == 0) std::this_thread::sleep_for(1ms);
        std::ignore = runner.start<order_type>("second", order{"A", 1}, [](auto const&) {});
    }
};

// g++ 12 destroys a braced temporary in a co_await expression twice, so orders are variables.

template <typename Office, typename Executor>
task three_orders(Office& fixture, Executor executor, std::promise<std::string>& ended) {
    std::string text;
    order const ten{"A", 10};
    for (auto const* id : {"o1", "o2", "o1"}) {
        settle::outcome const outcome =
            co_await settle::co_run<order_type>(fixture.runner, executor, id, ten);
        text += outcome.done() ? "done " : "not done ";
    }
    ended.set_value(text);
}

} // namespace

TEST_CASE("a coroutine awaits transactions, and its executor resumes it") {
    office fixture;
    asio::thread_pool pool{1};
    std::promise<std::string> ended;
    std::atomic<int> resumed = 0;
    auto const executor = [&](std::coroutine_handle<> waiting) {
        ++resumed;
        asio::post(pool, waiting);
    };
    three_orders(fixture, executor, ended);
    CHECK(ended.get_future().get() == "done done done ");
    CHECK(resumed == 3);
    CHECK(balance_of(fixture.engine, "A") == 980);
    pool.join();
}

TEST_CASE("an awaited transaction that the runner does not take has its outcome at once") {
    office fixture{{.in_flight = 1, .queue = 1}};
    fixture.fill();
    std::promise<settle::outcome> promise;
    auto const caller = std::this_thread::get_id();
    [](office& used_office, std::promise<settle::outcome>& to, std::thread::id own) -> task {
        order const one{"A", 1};
        auto const resume = [](std::coroutine_handle<> waiting) { waiting(); };
        auto outcome = co_await settle::co_run<order_type>(used_office.runner, resume, "o1", one);
        CHECK(std::this_thread::get_id() == own);
        to.set_value(std::move(outcome));
    }(fixture, promise, caller);
    auto const outcome = promise.get_future().get();
    CHECK(outcome.verdict == settle::verdict::undecided);
    CHECK(outcome.problem.code == settle::errc::runner_full);
    fixture.client.answer_kept();
}

TEST_CASE("an executor that fails leaves the transaction as it is") {
    std::promise<std::exception_ptr> seen;
    office fixture{
        {.on_exception = [&](std::exception_ptr const& thrown) { seen.set_value(thrown); }}};
    std::coroutine_handle<> left;
    [](office& used_office, std::coroutine_handle<>& waiting) -> task {
        auto const gone = [&](std::coroutine_handle<> handle) {
            waiting = handle;
            throw std::runtime_error{"the executor is gone"};
        };
        order const one{"A", 1};
        std::ignore = co_await settle::co_run<order_type>(used_office.runner, gone, "o1", one);
    }(fixture, left);
    CHECK_THROWS_WITH(std::rethrow_exception(seen.get_future().get()), "the executor is gone");
    left.destroy();
    CHECK(fixture.engine.run<order_type>("o1", order{"A", 1}).done());
    CHECK(balance_of(fixture.engine, "A") == 999);
}

TEST_CASE("completion tokens of Asio: futures, callbacks and coroutines") {
    office fixture;
    asio::io_context context;
    auto future =
        settle::async_run<order_type>(fixture.runner, "o1", order{"A", 1}, asio::use_future);
    CHECK(future.get().done());

    std::thread::id called_on;
    settle::async_run<order_type>(fixture.runner, "o2", order{"A", 1},
                                  asio::bind_executor(context, [&](settle::outcome const& ended) {
                                      called_on = std::this_thread::get_id();
                                      CHECK(ended.done());
                                  }));
    // The handler counts as work, so run() waits for it.
    context.run();
    CHECK(called_on == std::this_thread::get_id());

    CHECK(balance_of(fixture.engine, "A") == 998);
}

#ifdef BOOST_ASIO_HAS_CO_AWAIT // clang 14 has coroutines, and Asio 1.18 does not know it
TEST_CASE("a coroutine of Asio awaits a transaction") {
    office fixture;
    asio::io_context context;
    bool ended = false;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            order const one{"A", 1};
            auto const outcome = co_await settle::async_run<order_type>(fixture.runner, "o1", one,
                                                                        asio::use_awaitable);
            CHECK(outcome.done());
            ended = true;
        },
        asio::detached);
    context.run();
    CHECK(ended);
    CHECK(balance_of(fixture.engine, "A") == 999);
}
#endif

TEST_CASE("a token of Asio gets the outcome of a transaction that the runner does not take") {
    office fixture{{.in_flight = 1, .queue = 1}};
    fixture.fill();
    auto const outcome =
        settle::async_run<order_type>(fixture.runner, "o1", order{"A", 1}, asio::use_future).get();
    CHECK(outcome.problem.code == settle::errc::runner_full);
    fixture.client.answer_kept();
}

#if BOOST_ASIO_VERSION >= 102000
TEST_CASE("a cancellation of Asio is a stop request") {
    office fixture;
    fixture.client.keeps = [](auto const&) { return true; };
    asio::cancellation_signal signal;
    std::promise<settle::outcome> promise;
    settle::async_run<order_type>(
        fixture.runner, "o1", order{"A", 1},
        asio::bind_cancellation_slot(
            signal.slot(), [&](settle::outcome ended) { promise.set_value(std::move(ended)); }));
    while (fixture.client.kept() == 0) std::this_thread::sleep_for(1ms);
    signal.emit(asio::cancellation_type::total);
    auto const outcome = promise.get_future().get();
    CHECK(contains(outcome.problem.text, "a stop request ended the wait"));
    fixture.client.answer_kept();
}
#endif

TEST_CASE("a sender completes with the outcome, also after a stop request") {
    office fixture;
    auto first = small_senders::sync_wait(
        settle::run_sender<order_type>(fixture.runner, "o1", order{"A", 1}), {});
    CHECK(first.done());
    fixture.client.keeps = [](auto const&) { return true; };
    std::stop_source stop;
    std::jthread const asks{[&] {
        while (fixture.client.kept() == 0) std::this_thread::sleep_for(1ms);
        stop.request_stop();
    }};
    auto const second = small_senders::sync_wait(
        settle::run_sender<order_type>(fixture.runner, "o2", order{"A", 1}), stop.get_token());
    CHECK(second.verdict == settle::verdict::undecided);
    CHECK(contains(second.problem.text, "a stop request ended the wait"));
    fixture.client.answer_kept();
}

} // namespace awaits_test
