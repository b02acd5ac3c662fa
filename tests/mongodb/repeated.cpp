// SPDX-License-Identifier: BSL-1.0
// A settled batch runs again: the requests that the server then receives.
#include "another_member.hpp"
#include "bank.hpp"
#include "fixtures.hpp"
#include "proxy.hpp"
#include "servers.hpp"

#include <settle/testing/manual_environment.hpp>

#include <doctest/doctest.h>

#include <map>
#include <mutex>
#include <vector>

namespace {

using namespace settle_test;
using transfer_list = std::vector<std::pair<std::string, transfer>>;

/// Counts the requests that a server receives.
class sight {
public:
    void note(wire_message const& request) {
        std::lock_guard const alone{guard_};
        if (is_greeting(request.command)) return;
        ++requests_[request.command];
        std::string const bytes{request.bytes.begin(), request.bytes.end()};
        if (bytes.find("linearizable") != std::string::npos) ++requests_["linearizable"];
    }
    /// The requests since the last call of this function, by their commands.
    [[nodiscard]] std::map<std::string, int> requests() {
        std::lock_guard const alone{guard_};
        return std::exchange(requests_, {});
    }

private:
    std::mutex guard_;
    std::map<std::string, int> requests_;
};

std::string name(int number) { return "account " + std::to_string(number); }

/// Transfers into one account; every seventh amount exceeds the balance of the source.
transfer_list into_one(int count, int from = 0) {
    transfer_list list;
    for (int i = from; i < from + count; ++i) {
        list.emplace_back("t" + std::to_string(1000 + i),
                          transfer{name(1 + i % 9), name(0), i % 7 == 6 ? 1000 : 1});
    }
    return list;
}

/// Calls `function(engine, sight)` in both ways.
template <typename Function>
void in_one_phase_and_two(Function&& function) {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        INFO(std::string{how == settle::phases::one ? "one phase" : "two phases"});
        sight seen;
        fresh_database const own{replica_set_address};
        proxy between{own.port()};
        between.on_request([&](wire_message& request) { seen.note(request); });
        between.on_reply(name_another_member);
        settle::mongodb::database db{between.address(own.name())};
        settle::testing::manual_environment const time;
        settle::engine engine{db, how, settle::type<settle::testing::move_type>,
                              settle::with_environment(time)};
        for (int i = 0; i < 10; ++i) engine.create(ledgers, {name(i), opening, 0, ""}).value();
        function(engine, seen);
        CHECK(time.pauses() == 0);
        CHECK(engine.marks().value() == 0);
    }
}

} // namespace

TEST_CASE("repeated: a settled batch costs one find a window, which waits for no majority") {
    in_one_phase_and_two([](auto& engine, sight& seen) {
        auto const transfers = into_one(200);
        auto const first = engine.run_all(transfers, {100, {}, {}});
        std::ignore = seen.requests();
        CHECK(engine.run_all(transfers, {100, {}, {}}) == first);
        // The first id is looked up alone, before any request is sent for the others.
        CHECK(seen.requests() == std::map<std::string, int>{{"find", 3}});
        CHECK(engine.run(transfers[0].first, transfers[0].second) == first[0]);
        CHECK(seen.requests()["linearizable"] == 0);
    });
}

TEST_CASE("repeated: a batch that is half settled is read in waves, and its rest runs") {
    in_one_phase_and_two([](auto& engine, sight& seen) {
        auto const settled = into_one(60);
        auto const before = engine.run_all(settled, {1000, {}, {}});
        auto const fresh = into_one(60, 100);
        transfer_list mixed;
        for (std::size_t i = 0; i < settled.size(); ++i) {
            mixed.push_back(settled[i]);
            mixed.push_back(fresh[i]);
        }
        std::ignore = seen.requests();
        auto const outcomes = engine.run_all(mixed, {1000, {}, {}});
        for (std::size_t i = 0; i < settled.size(); ++i) CHECK(outcomes[2 * i] == before[i]);
        CHECK(seen.requests()["linearizable"] == 0);
        // Of each sixty transfers, eight exceed a balance.
        CHECK(balance(engine, name(0)) == opening + 2 * 52);
    });
}

TEST_CASE("repeated: an id that comes twice in a window runs once and has two equal outcomes") {
    in_one_phase_and_two([](auto& engine, sight&) {
        transfer_list transfers;
        for (auto const& one : into_one(30)) {
            transfers.push_back(one);
            transfers.push_back(one);
        }
        transfers.emplace_back(transfers[0].first, transfer{name(1), name(2), 1});
        auto const outcomes = engine.run_all(transfers, {1000, {}, {}});
        for (std::size_t i = 0; i < 60; i += 2) {
            CHECK((outcomes[i].done() || outcomes[i].canceled()));
            CHECK(outcomes[i] == outcomes[i + 1]);
        }
        CHECK(outcomes[60].problem.code == settle::errc::id_in_use);
        CHECK(balance(engine, name(0)) == opening + 26);
    });
}

TEST_CASE("repeated: unfinished entries of a window are read by quorum with one wait") {
    in_one_phase_and_two([](auto& engine, sight& seen) {
        auto const transfers = into_one(40);
        for (auto const& [id, one] : transfers) {
            CHECK(engine.submit(id, one).problem.empty());
        }
        std::ignore = seen.requests();
        for (auto const& one : engine.run_all(transfers, {1000, {}, {}})) {
            CHECK((one.done() || one.canceled()));
        }
        CHECK(seen.requests()["linearizable"] == 2);
    });
}
