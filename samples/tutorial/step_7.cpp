// SPDX-License-Identifier: BSL-1.0
// Step 7: stuck transactions, found and settled.
#include "bank.hpp"

#include <settle/memory.hpp>

#include <chrono>
#include <iostream>

struct letter {
    std::string buyer;
};

inline constexpr settle::service<letter, settle::nothing, "post", settle::remembers_keys> post;

inline constexpr auto order_type = settle::transaction<transfer, "order">(
    settle::participant<"buyer">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    settle::participant<"shop">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>),
    settle::participant<"receipt">(post).confirm(call(param<&transfer::source>)));

int main() {
    bool is_open = false;
    auto const deliver = [&](letter const&, settle::service_call const&) -> settle::reply<> {
        if (is_open) return settle::nothing{};
        return settle::service_answer::unavailable("the post is closed");
    };
    settle::memory::database db;
    settle::engine engine{db, settle::type<order_type>, settle::bind(post, deliver)};
    for (char const* id : {"anna", "shop"}) engine.create(accounts, {id, 100}).value();

    std::chrono::milliseconds const patience{300};
    for (char const* id : {"order-1", "order-2"}) {
        auto const ended = engine.run(id, transfer{"anna", "shop", 30}, {.deadline = patience});
        std::cout << id << (ended.done() ? " is paid" : " is not paid")
                  << (ended.finished ? "\n" : ", and waits for its receipt\n");
    }
    for (settle::entry const& entry : engine.stuck(std::chrono::milliseconds{0}).value()) {
        std::cout << entry.id << " is stuck: " << name_of(entry.state) << '\n';
    }
    std::cout << engine.resolve("order-1", "receipt", "handed over in person") << '\n';
    is_open = true;
    std::cout << engine.retry("order-2") << '\n';
    std::cout << engine.stuck(std::chrono::milliseconds{0}).value().size() << " stuck\n";
}
