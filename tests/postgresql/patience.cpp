// SPDX-License-Identifier: BSL-1.0
// Sessions that an administrator ends between and during the calls that only read: each call goes
// on with another session, and sees each row once.
#include "bank_story.hpp"
#include "hanging_server.hpp"

#include <settle/running/calls/listing.hpp>

#include <set>

namespace settle_test {
namespace {

/// A bank in a schema of its own, and the end of its sessions.
struct ended_sessions {
    ended_sessions() {
        std::vector<bank::account> records;
        for (std::size_t i = 0; i < count; ++i) {
            records.push_back({std::to_string(10'000 + i), 100, 100});
        }
        CHECK(teller.create_all(bank::accounts, records).created == count);
        for (int i = 0; i < 300; ++i) {
            CHECK(teller.submit(std::to_string(i), bank::transfer{"10000", "10001", 1})
                      .problem.empty());
        }
    }
    void end_all() const {
        ask(own.address(), "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE "
                           "application_name = '" +
                               own.name() + "'");
    }
    [[nodiscard]] std::size_t records() {
        std::set<std::string> ids;
        std::size_t seen = 0;
        for (bank::account const& one : teller.scan(bank::accounts)) {
            ids.insert(one.id);
            ++seen;
        }
        CHECK(ids.size() == seen);
        return seen;
    }
    [[nodiscard]] std::size_t entries() {
        std::size_t seen = 0;
        for ([[maybe_unused]] settle::entry const& one : teller.list()) ++seen;
        return seen;
    }

    static constexpr std::size_t count = 2000;
    fresh_schema own{};
    pg::database here{own.address("application_name=" + own.name()), bank_limits()};
    bank_teller<pg::database> teller = bank_engine(here, settle::phases::two, 60s);
};

TEST_CASE("patience: a session that was ended before a call delays the call") {
    ended_sessions sessions;
    auto& teller = sessions.teller;
    sessions.end_all();
    CHECK(teller.read(bank::accounts, "10000").value()->balance == 100);
    sessions.end_all();
    CHECK(teller.find("7").value()->state == settle::state::initial);
    sessions.end_all();
    CHECK(teller.page({}, {}, 5).value().size() == 5);
    sessions.end_all();
    CHECK(teller.stuck().value().empty());
    sessions.end_all();
    CHECK(teller.marks().value() == 0);
    sessions.end_all();
    CHECK(sessions.records() == sessions.count);
    sessions.end_all();
    CHECK(sessions.entries() == 300);
    sessions.end_all();
    CHECK(teller.cancel("7").canceled());
    sessions.end_all();
    CHECK(teller.recover().problem.empty());
    sessions.end_all();
    CHECK(teller.sweep().problem.empty());
    sessions.end_all();
    CHECK(teller.purge().problem.empty());
    sessions.end_all();
    // The answer of a create can be lost.
    auto const created = teller.create(bank::accounts, {"new", 1, 1});
    CHECK((created.has_value() || created.problem().code == settle::condition::unknown));
}

TEST_CASE("patience: sessions that are ended during calls delay them, and rows are counted once") {
    ended_sessions sessions;
    std::atomic<bool> stopping = false;
    std::atomic<int> ended = 0;
    std::thread administrator{[&] {
        while (!stopping) {
            sessions.end_all();
            ++ended;
            std::this_thread::sleep_for(20ms);
        }
    }};
    for (int round = 0; round < 5 || ended < 20; ++round) {
        CHECK(sessions.records() == sessions.count);
        CHECK(sessions.entries() == 300);
        CHECK(sessions.teller.marks().value() == 0);
        CHECK(sessions.teller.read(bank::accounts, "11999").value()->balance == 100);
        CHECK(sessions.teller.stuck().value().empty());
    }
    stopping = true;
    administrator.join();
}

TEST_CASE("patience: a deadline or a stop request ends a wait for a server that hangs") {
    postgresql_server server;
    pg::database_options limits;
    limits.answer_timeout = limits.connect_timeout = 10min;
    pg::database here{server.address(), limits};
    check_limits_at_hanging(server, here);
}

TEST_CASE("patience: a server that hangs holds up no transaction without a part in it") {
    postgresql_server server;
    pg::database database{server.address()};
    check_others_beside_hanging(server, database);
}

} // namespace
} // namespace settle_test
