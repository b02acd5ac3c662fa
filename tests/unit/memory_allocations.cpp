// SPDX-License-Identifier: BSL-1.0
// What a transaction on memory asks of the heap: nothing, once there is room.
#include "counted_new.hpp"
#include "engine_types.hpp"

#include <array>

namespace {

using namespace engine_test;

/// A bank for one thread, with room for the entries that a test makes.
class bank {
public:
    explicit bank(std::size_t room) {
        database_.reserve<accounts>(keys.size());
        database_.reserve_entries<transfer_type>(room);
        for (auto const& key : keys) engine_.create(accounts, {key, 1000}).value();
        for (int i = 0; i < 8; ++i) run(1);
    }

    /// Calls of the heap for one round of transfers between all neighbours.
    std::size_t run(std::int64_t amount) {
        transfer one{keys.back(), {}, amount};
        std::size_t calls = 0;
        for (auto const& key : keys) {
            one.destination = key;
            auto const before = counted_new::calls();
            auto const told = engine_.run(one);
            calls += counted_new::calls() - before;
            REQUIRE(told.verdict == (amount > 1000 ? verdict::canceled : verdict::done));
            one.source = key;
        }
        return calls;
    }

    std::size_t run_under(std::string id, std::string source) {
        transfer const one{std::move(source), keys[1], 1};
        auto const before = counted_new::calls();
        auto const told = engine_.run(std::move(id), one);
        REQUIRE(told.done());
        return counted_new::calls() - before;
    }

    auto& engine() { return engine_; }

private:
    std::array<std::string, 4> const keys{"A", "B", "C", "fifteen letters"};
    settle::memory::basic_database<settle::memory::no_lock> database_;
    settle::engine<settle::memory::basic_database<settle::memory::no_lock>,
                   settle::type_tag<transfer_type>>
        engine_{database_, settle::type<transfer_type>};
};

} // namespace

TEST_CASE("memory: a transaction with short keys asks nothing of the heap") {
    bank here{1000};
    std::size_t calls = 0;
    for (int i = 0; i < 100; ++i) calls += here.run(1);
    CHECK(calls == 0);
    SUBCASE("nor one that is canceled") {
        static_cast<void>(here.run(2000));
        CHECK(here.run(2000) == 0);
    }
    SUBCASE("nor one with an id of the caller's") {
        CHECK(here.run_under("a short id", "A") == 0);
    }
}

TEST_CASE("memory: what does ask something of the heap is seen") {
    bank here{1000};
    CHECK(here.run_under("an id that is too long to stand in its string", "A") > 0);
    here.engine().create(accounts, {"an account with a long name", 1000}).value();
    CHECK(here.run_under("t", "an account with a long name") > 0);
    // Entries stay, so that those for which nobody reserved room ask for it now and then.
    bank narrow{0};
    std::size_t calls = 0;
    for (int i = 0; i < 500; ++i) calls += narrow.run(1);
    CHECK(calls > 0);
    CHECK(calls < 40);
}
