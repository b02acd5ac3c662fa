// SPDX-License-Identifier: BSL-1.0
// Servers that restart, are killed and are away for long while threads share an engine. Place is as
// in bank_story_suite.hpp.
#pragma once

#include "bank_story_suite.hpp"

namespace settle_test {

/// A server with the accounts of a bank.
template <typename Place>
struct bank_server {
    bank_server() { basic_bank_story<Place>::open(server.address()); }

    typename Place::server server{};
};

/// A server is disturbed under load, and the load goes on. Nothing is lost.
template <typename Place, typename Disturb>
void check_outage(Disturb&& disturb) {
    bank_server<Place> server;
    basic_tellers<Place> load{server.server.address()};
    CHECK(load.progress());
    disturb(server.server, load);
    CHECK(load.progress());
    load.stop();
    load.story.check(server.server.address());
}

template <typename Place>
void check_restart() {
    check_outage<Place>([](auto& server, auto&) {
        server.stop();
        server.start();
    });
}

template <typename Place>
void check_ended_sessions() {
    check_outage<Place>([](auto& server, auto& load) {
        for (int i = 0; i < 10; ++i) {
            CHECK(load.progress(5));
            Place::end_sessions(server.address());
        }
    });
}

template <typename Place>
void check_killed_servers() {
    bank_server<Place> server;
    basic_tellers<Place> load{server.server.address()};
    for (int i = 0; i < 6; ++i) {
        CHECK(load.progress());
        server.server.kill();
        std::this_thread::sleep_for(std::chrono::milliseconds{i * 100});
        server.server.start();
    }
    CHECK(load.progress());
    // The programs end with the server, and others settle what they have begun.
    server.server.kill();
    load.stop();
    server.server.start();
    load.story.check(server.server.address());
}

template <typename Place>
void check_server_away() {
    check_outage<Place>([](auto& server, auto& load) {
        server.kill();
        std::this_thread::sleep_for(40s);
        // Two calls, each with a patience of 5 s and the limits of its last try.
        CHECK(load.longest() < 30s);
        server.start();
    });
}

template <typename Place>
void check_frozen_server() {
    check_outage<Place>([](auto& server, auto& load) {
        server.freeze();
        std::this_thread::sleep_for(40s);
        CHECK(load.longest() < 35s);
        server.thaw();
    });
}

} // namespace settle_test
