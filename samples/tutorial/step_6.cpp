// SPDX-License-Identifier: BSL-1.0
// Step 6: many at a time, and from a server.
#include "bank.hpp"

#include <settle/coroutine.hpp>
#include <settle/memory.hpp>
#include <settle/runner.hpp>

#include <algorithm>
#include <coroutine>
#include <exception>
#include <iostream>
#include <latch>
#include <string>
#include <utility>
#include <vector>

struct request { // what a framework for servers calls a task
    struct promise_type {
        request get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

template <typename Runner>
request serve(Runner& runner, std::string id, transfer parameters, bool& is_done,
              std::latch& answered) {
    auto const resume = [](std::coroutine_handle<> waiting) { waiting.resume(); };
    settle::outcome const ended = co_await settle::co_run(runner, resume, id, parameters);
    is_done = ended.done();
    answered.count_down();
}

int main() {
    settle::memory::database db;
    settle::engine engine{db, settle::type<transfer_type>};
    engine.create(accounts, {"anna", 600}).value();
    engine.create(accounts, {"bert", 0}).value();

    std::vector<std::pair<std::string, transfer>> orders;
    for (int number = 0; number < 1000; ++number) {
        orders.emplace_back("order-" + std::to_string(number), transfer{"anna", "bert", 1});
    }
    auto const outcomes = engine.run_all(orders);
    auto const is_done = [](settle::outcome const& ended) { return ended.done(); };
    std::cout << std::count_if(outcomes.begin(), outcomes.end(), is_done) << " of 1000 done\n";

    settle::runner runner{engine};
    bool first = false, second = false;
    std::latch answered{2};
    serve(runner, "request-1", {"bert", "anna", 50}, first, answered);
    serve(runner, "request-2", {"bert", "anna", 5000}, second, answered);
    answered.wait();
    std::cout << "request-1 " << (first ? "200 OK" : "409 Conflict") << ", request-2 "
              << (second ? "200 OK" : "409 Conflict") << '\n';
}
