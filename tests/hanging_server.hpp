// SPDX-License-Identifier: BSL-1.0
// A server that hangs: its connections stay open, and nothing answers. Limits end each wait for it,
// and transactions without a part in it go on.
#pragma once

#include "bank_story_suite.hpp"

#include <settle/memory.hpp>
#include <settle/runner.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

namespace settle_test {

/// A deadline or a stop request ends each wait for the server.
/// Shape:   Server - has freeze() and thaw(); database - of this server, with its accounts A and B
template <typename Server, typename Database>
void check_limits_at_hanging(Server& server, Database& database) {
    auto teller = bank_engine(database, settle::phases::two, 10min);
    CHECK(teller.create(bank::accounts, {"A", 100, 100}).has_value());
    CHECK(teller.create(bank::accounts, {"B", 100, 100}).has_value());
    for (bool const has_deadline : {true, false}) {
        CAPTURE(has_deadline);
        // A connection of the pool is open, and its server does not answer.
        CHECK(teller.read(bank::accounts, "A").has_value());
        server.freeze();
        std::stop_source stop;
        settle::call_options call{{}, stop.get_token()};
        if (has_deadline) call.deadline = 200ms;
        std::jthread const stops{[&] {
            std::this_thread::sleep_for(200ms);
            if (!has_deadline) stop.request_stop();
        }};
        auto const id = std::to_string(has_deadline ? 1 : 2);
        auto const begun = std::chrono::steady_clock::now();
        auto const ended = teller.run(id, bank::transfer{"A", "B", 1}, call);
        CHECK(ended.verdict == settle::verdict::undecided);
        CHECK_FALSE(teller.find(id, call).has_value());
        // Without the limits the server's own limit ends the wait, after minutes.
        CHECK(std::chrono::steady_clock::now() - begun < 1min);
        server.thaw();
        CHECK(teller.run(id, bank::transfer{"A", "B", 1}).done());
    }
}

/// Pays from an account beside the log into an account of the server.
struct payout {
    std::string source, destination;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(payout, source, destination, amount);
inline constexpr settle::collection<bank::account, "far_accounts", &bank::account::id> far_accounts;
inline constexpr auto payout_type = settle::transaction<payout, "payout">(
    settle::participant<"source">(bank::accounts, settle::param<&payout::source>)
        .require(settle::field<&bank::account::balance> >= settle::param<&payout::amount>)
        .apply(settle::field<&bank::account::balance> -= settle::param<&payout::amount>)
        .compensate(settle::inverse),
    settle::participant<"destination">(far_accounts, settle::param<&payout::destination>)
        .confirm(settle::field<&bank::account::balance> += settle::param<&payout::amount>));

/// A runner's transactions without a part in the server end while it hangs.
/// Shape:   as above
template <typename Server, typename Database>
void check_others_beside_hanging(Server& server, Database& database) {
    settle::memory::database near;
    settle::engine engine{near, settle::bind(far_accounts, database),
                          settle::type<bank::transfer_type>, settle::type<payout_type>};
    for (auto const* id : {"A", "B", "C"})
        CHECK(engine.create(bank::accounts, {id, 100, 100}).has_value());
    CHECK(engine.create(far_accounts, {"F", 0, 0}).has_value());
    settle::runner runner{engine};
    auto const start = [&](std::string id, auto const& parameters) {
        auto promise = std::make_shared<std::promise<settle::outcome>>();
        auto outcome = promise->get_future();
        auto const keep = [promise](settle::outcome ended) {
            promise->set_value(std::move(ended));
        };
        CHECK(runner.start(std::move(id), parameters, keep).has_value());
        return outcome;
    };
    CHECK(start("first", payout{"A", "F", 1}).get().done());
    server.freeze();
    auto held = start("held", payout{"A", "F", 2});
    for (int number = 0; number < 20; ++number) {
        CHECK(start(std::to_string(number), bank::transfer{"B", "C", 1}).get().done());
    }
    CHECK(held.wait_for(0s) == std::future_status::timeout);
    server.thaw();
    CHECK(held.get().done());
    CHECK(engine.at(far_accounts, "F").balance == 3);
}

} // namespace settle_test
