// SPDX-License-Identifier: BSL-1.0
// A server that hangs: its connections stay open, and nothing answers.
#pragma once

#include "bank_story_suite.hpp"

#include <chrono>
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

} // namespace settle_test
