// SPDX-License-Identifier: BSL-1.0
// Owners that are gone, and the ids and epochs that a process draws.
#include "ended_process.hpp"

#include <settle/base/environment.hpp>
#include <settle/protocol/fresh.hpp>
#include <settle/running/calls/ids.hpp>

#include <algorithm>
#include <random>
#include <thread>
#include <unordered_set>

namespace owner_test {
namespace {

/// The five parts of an owner, to be changed one at a time.
std::string rebuilt(std::string const& owner, std::size_t part, std::string const& value) {
    auto const parts = settle::detail::split(owner, '/');
    REQUIRE(parts.size() == 5);
    std::string new_owner;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) new_owner += '/';
        new_owner += i == part ? value : std::string{parts[i]};
    }
    return new_owner;
}

TEST_CASE("owner: a running process is not gone") {
    std::string const self = settle::this_process();
    CHECK_FALSE(settle::is_gone(self));
    CHECK(self == settle::this_process());
    ended_process::child other;
    CHECK_FALSE(settle::is_gone(other.owner()));
    CHECK(other.owner() != self);
}

TEST_CASE("owner: an ended process is gone, even before its parent waits for it") {
    ended_process::child other;
    other.stop();
    CHECK(settle::is_gone(other.owner()));
    other.end();
    CHECK(settle::is_gone(other.owner()));
}

TEST_CASE("owner: the id of a process alone proves nothing") {
    std::string const self = settle::this_process();
    // The same id at another start was another process.
    CHECK(settle::is_gone(rebuilt(self, 2, "1")));
    CHECK_FALSE(settle::is_gone(rebuilt(self, 2, "")));
}

TEST_CASE("owner: a process of another machine, boot or namespace never counts as gone") {
    std::string const gone = ended_process::owner();
    REQUIRE(settle::is_gone(gone));
    // A host may be renamed while it runs; its boot and namespace show that it is the same host.
    CHECK(settle::is_gone(rebuilt(gone, 0, "renamed")));
    CHECK_FALSE(settle::is_gone(rebuilt(gone, 3, "00000000-0000-0000-0000-000000000000")));
    CHECK_FALSE(settle::is_gone(rebuilt(gone, 3, "")));
    CHECK_FALSE(settle::is_gone(rebuilt(gone, 4, "pid:[1]")));
    CHECK_FALSE(settle::is_gone(rebuilt(gone, 4, "")));
}

TEST_CASE("owner: text that names no process is not a dead owner") {
    std::string const gone = ended_process::owner();
    for (char const* const pid : {"", "0", "-1", "1x", " 1", "99999999999999999999", "one", "+1"}) {
        CAPTURE(pid);
        CHECK_FALSE(settle::is_gone(rebuilt(gone, 1, pid)));
    }
    for (char const* const text : {"", "/", "////", "//////", "somebody", "a/b/c/d/e"}) {
        CAPTURE(text);
        CHECK_FALSE(settle::is_gone(text));
    }
    CHECK_FALSE(settle::is_gone(gone + "/more"));
    CHECK_FALSE(settle::is_gone(gone.substr(0, gone.rfind('/'))));
}

/// A clock and entropy that a test sets.
struct fixed_environment {
    settle::timestamp time{};
    std::uint64_t chance = 0;

    [[nodiscard]] settle::timestamp now() const { return time; }
    [[nodiscard]] std::uint64_t random() const { return chance; }
};

settle::timestamp at(std::int64_t milliseconds_since_1970) {
    return settle::timestamp{std::chrono::milliseconds{milliseconds_since_1970}};
}

TEST_CASE("ids: they have fifteen plain characters and sort by time") {
    std::int64_t const begin = 1735689600000; // the first moment of 2025
    std::vector<std::string> ids;
    for (std::int64_t const later :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{31}, std::int64_t{32}, std::int64_t{1023},
          std::int64_t{1024}, std::int64_t{60'000}, std::int64_t{86'400'000},
          std::int64_t{31'536'000'000}, std::int64_t{3'153'600'000'000}}) {
        // The time decides the order, whatever the random part.
        for (std::uint64_t const chance : {std::uint64_t{0}, ~std::uint64_t{0}}) {
            ids.push_back(settle::fresh_id(fixed_environment{at(begin + later), chance}));
        }
    }
    CHECK(std::is_sorted(ids.begin(), ids.end()));
    CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
    for (auto const& id : ids) {
        CHECK(id.size() == 15);
        CHECK(settle::check_id(id).empty());
    }
}

TEST_CASE("ids: a thousand draws within a millisecond give a thousand ids") {
    std::mt19937_64 chance{1};
    std::unordered_set<std::string> ids;
    for (int i = 0; i < 1000; ++i) {
        ids.insert(settle::fresh_id(fixed_environment{at(1800000000000), chance()}));
    }
    CHECK(ids.size() == 1000);
}

TEST_CASE("environment: a thread draws each number once, and nearly as many ids") {
    settle::system_environment const world;
    std::unordered_set<std::uint64_t> drawn;
    std::unordered_set<std::string> ids;
    for (int i = 0; i < 1000; ++i) {
        auto const number = world.random();
        drawn.insert(number);
        ids.insert(settle::fresh_id(fixed_environment{at(1800000000000), number}));
    }
    CHECK(drawn.size() == 1000);
    // An id has 30 random bits. In 2,000 runs two ids are equal once; for five such pairs it takes
    // 10^18 runs.
    CHECK(ids.size() >= 996);
}

TEST_CASE("epochs: they are above 0 and exact in a double for any clock") {
    for (std::int64_t const time : {std::int64_t{0}, std::int64_t{1735689599999},
                                    std::int64_t{1735689600000}, std::int64_t{1735689600001},
                                    std::int64_t{1800000000000}, std::int64_t{5'000'000'000'000}}) {
        for (std::uint64_t const chance : {std::uint64_t{0}, ~std::uint64_t{0}}) {
            auto const epoch = settle::fresh_epoch(fixed_environment{at(time), chance});
            CAPTURE(time);
            CHECK(epoch > 0);
            CHECK(epoch < settle::epoch_limit);
            CHECK(static_cast<settle::epoch>(static_cast<double>(epoch)) == epoch);
        }
    }
    auto const earlier = settle::fresh_epoch(fixed_environment{at(1800000000000), 0x7ff});
    auto const later = settle::fresh_epoch(fixed_environment{at(1800000000001), 0});
    CHECK(earlier < later);
}

TEST_CASE("environment: a pause ends with a stop request, and never before its time without one") {
    settle::system_environment const world;
    auto const begun = world.elapsed();
    world.pause(std::chrono::milliseconds{20}, {});
    CHECK(world.elapsed() - begun >= std::chrono::milliseconds{20});

    std::stop_source source;
    std::jthread const stopper{[&] { source.request_stop(); }};
    world.pause(std::chrono::hours{1}, source.get_token());
    CHECK(world.elapsed() - begun < std::chrono::minutes{1});
}

TEST_CASE("environment: threads draw their own numbers") {
    settle::system_environment const world;
    std::uint64_t theirs = 0;
    std::jthread{[&] { theirs = world.random(); }}.join();
    CHECK(theirs != world.random());
}

TEST_CASE("ids: a user's id is checked") {
    std::vector<std::string> const good_ids{
        "1",           "order 7/2",    "/",          "reverse",  "a/reversed",         "a/reverse/",
        "a/reverse/x", "a/reverse/2x", "a/reverse2", "\xc3\xa4", std::string(200, 'x')};
    for (auto const& good : good_ids) {
        CAPTURE(good);
        CHECK(settle::check_id(good).empty());
    }
    for (std::string const& bad :
         {std::string{}, std::string(201, 'x'), std::string{"a\0b", 3}, std::string{"\xff"},
          std::string{"a/reverse"}, std::string{"/reverse"}, std::string{"a/reverse/2"},
          std::string{"a/reverse/17"}}) {
        CAPTURE(bad);
        CHECK(settle::check_id(bad).code == settle::errc::bad_text);
    }
    CHECK(settle::reversal_id("a", 1) == "a/reverse");
    CHECK(settle::reversal_id("a", 2) == "a/reverse/2");
    CHECK(settle::is_reversal_id(settle::reversal_id("a", 12)));
}

} // namespace
} // namespace owner_test
