// SPDX-License-Identifier: BSL-1.0
// Waves beside other sessions: held rows, readers, and transactions of several programs. Fixture is
// an sql_fixture with
//
//   waiting(place)   how many other sessions wait
#pragma once

#include "own_ends.hpp"
#include "server_process.hpp"

#include <settle/settle.hpp>
#include <settle/testing/requests.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <limits>
#include <thread>

namespace settle_test::races {

using namespace std::chrono_literals;
using settle::field;
using settle::param;
using settle::participant;

struct account {
    BOOST_HANA_DEFINE_STRUCT(account, (std::string, id), (std::int64_t, balance));
};
inline constexpr settle::collection<account, "accounts", &account::id> accounts;
using accounts_type = std::remove_const_t<decltype(accounts)>;

struct transfer {
    BOOST_HANA_DEFINE_STRUCT(transfer, (std::string, source), (std::string, destination),
                             (std::int64_t, amount));
};
inline constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

struct setting {
    BOOST_HANA_DEFINE_STRUCT(setting, (std::string, id), (std::int64_t, balance));
};
inline constexpr auto setting_type = settle::transaction<setting, "setting">(
    participant<"account">(accounts, param<&setting::id>)
        .confirm(field<&account::balance> = param<&setting::balance>));

/// Waits until so many other sessions wait.
template <typename Fixture>
void wait_for_waiters(typename Fixture::place const& own, int count) {
    REQUIRE(wait_until(30s, [&] { return std::stoi(Fixture::waiting(own)) >= count; }));
    std::this_thread::sleep_for(100ms);
}

template <typename Fixture>
void check_held_row() {
    typename Fixture::place const own;
    auto short_waits = Fixture::patient_limits();
    short_waits.lock_timeout = 1s;
    {
        // Other tests create tables at the same time, and only one session of a database may.
        typename Fixture::database patient{own.address(), Fixture::patient_limits()};
        auto session = patient.template bind<accounts_type>(patient.bind_log().name());
        for (char const* id : {"a", "b", "c", "d", "e"}) {
            REQUIRE(session.template create<accounts_type>({id, 10}).has_value());
        }
    }
    typename Fixture::database db{own.address(), short_waits};
    auto session = db.template bind<accounts_type>(db.bind_log().name());
    typename Fixture::session holder{own.address()};
    holder.ask("BEGIN; SELECT * FROM accounts WHERE id = 'c' FOR UPDATE");
    settle::testing::part_wave applied{settle::step::apply};
    for (char const* id : {"a", "b", "c", "d"}) {
        applied.add<settle::forward<transfer_type>>(id, {id, "e", 1}, 6);
    }
    applied.send(session);
    CHECK(applied.answers(0) == "applied, applied");
    CHECK(applied.answers(1) == "applied, applied");
    CHECK(applied.answers(2) == "unavailable, applied");
    CHECK(applied.answers(3) == "applied, applied");
    holder.ask("COMMIT");
    CHECK(session.marks(std::nullopt, 10).value().size() == 7);
}

template <typename Fixture>
void check_concurrent_create() {
    typename Fixture::place const own;
    typename Fixture::database db{own.address(), Fixture::patient_limits()};
    auto session = db.template bind<accounts_type>(db.bind_log().name());
    typename Fixture::session holder{own.address()};
    holder.ask("BEGIN; INSERT INTO accounts VALUES ('a', 5)");
    auto creation = std::async(std::launch::async,
                               [&] { return session.template create<accounts_type>({"a", 1}); });
    wait_for_waiters<Fixture>(own, 1);
    holder.ask("COMMIT");
    auto const answer = creation.get();
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.problem().code == settle::errc::record_exists);
    CHECK(session.template read<accounts_type>("a").value()->balance == 5);
}

template <typename Fixture>
void check_shared_database() {
    typename Fixture::place const own;
    constexpr int count = 6;
    constexpr std::int64_t opening = 1000;
    {
        typename Fixture::database db{own.address()};
        auto session = db.template bind<accounts_type>(db.bind_log().name());
        for (int i = 0; i < count; ++i) {
            REQUIRE(
                session.template create<accounts_type>({std::to_string(i), opening}).has_value());
        }
    }
    std::atomic<int> wrong = 0;
    auto const work = [&](unsigned number, settle::phases how) {
        typename Fixture::database db{own.address()};
        settle::engine engine{db, settle::type<transfer_type>, settle::type<setting_type>, how};
        std::vector<std::pair<std::string, transfer>> transfers;
        for (unsigned i = 0; i < 60; ++i) {
            auto const from = (i * 7 + number) % count;
            auto const to = (from + 1 + i % (count - 1)) % count;
            transfers.emplace_back(std::to_string(number) + "-" + std::to_string(i),
                                   transfer{std::to_string(from), std::to_string(to), 1 + i % 5});
        }
        for (auto const& one : engine.run_all(transfers, settle::batch_options{.window = 20})) {
            wrong += one.done() ? 0 : 1;
        }
        for (unsigned i = 0; i < 10; ++i) {
            auto const [id, given] = transfers[i];
            wrong += engine.run(id + "x", given).done() ? 0 : 1;
        }
    };
    std::atomic<bool> stopping = false;
    std::atomic<int> reads = 0;
    // In one phase the sum is there at each moment; in two phases what is under way is missing.
    std::jthread reader{[&] {
        typename Fixture::session person{own.address()};
        while (!stopping) {
            auto const sum = std::stoll(person.ask_one("SELECT SUM(balance) FROM accounts"));
            wrong += sum <= count * opening && sum > 0 ? 0 : 1;
            ++reads;
        }
    }};
    {
        std::vector<std::jthread> all;
        for (unsigned thread = 0; thread < 4; ++thread) {
            all.emplace_back(work, thread,
                             thread % 2 == 0 ? settle::phases::one : settle::phases::two);
        }
    }
    stopping = true;
    reader.join();
    CHECK(reads > 0);
    CHECK(wrong == 0);
    typename Fixture::database db{own.address()};
    settle::engine engine{db, settle::type<transfer_type>};
    CHECK(engine.marks().value() == 0);
    CHECK(own.ask_one("SELECT SUM(balance) FROM accounts") == std::to_string(count * opening));
    CHECK(own.ask_one("SELECT COUNT(*) FROM settle_entries WHERE state = 'done'") == "280");
}

template <typename Fixture>
void check_ids_of_batches() {
    typename Fixture::place const own;
    typename Fixture::database first{own.address()};
    typename Fixture::database second{own.address()};
    using settle::testing::move_type;
    settle::engine batches{first, settle::type<move_type>, settle::phases::one, without_limits()};
    settle::engine singles{second, settle::type<move_type>, settle::phases::one, without_limits()};
    check_taken_ids(batches, singles);
}

template <typename Fixture>
void check_round_trips() {
    typename Fixture::place const own;
    typename Fixture::database db{own.address()};
    settle::engine one_phase_engine{db, settle::type<transfer_type>, settle::phases::one};
    settle::engine two_phase_engine{db, settle::type<transfer_type>, settle::phases::two};
    one_phase_engine.create(accounts, account{"a", 1'000}).value();
    one_phase_engine.create(accounts, account{"b", 1'000}).value();
    auto const trips = [&](auto& engine, std::vector<transfer> const& all) {
        auto const run = [&] {
            for (auto const& each : engine.template run_all<transfer_type>(all)) {
                CHECK_MESSAGE(each.done(), each.text());
            }
        };
        // A connection prepares each of its statements once. On a busy machine a wave can meet a
        // connection that has not prepared them.
        auto least = std::numeric_limits<std::uint64_t>::max();
        for (int repetition = 0; repetition < 4; ++repetition) {
            auto const before = db.round_trips();
            run();
            least = std::min<std::uint64_t>(least, db.round_trips() - before);
        }
        return least;
    };
    for (std::size_t const count : {1U, 40U}) {
        CAPTURE(count);
        std::vector<transfer> const all(count, {"a", "b", 1});
        CHECK(trips(one_phase_engine, all) == 1);
        // Insert, apply, commit, confirm and close.
        CHECK(trips(two_phase_engine, all) == 5);
    }
}

} // namespace settle_test::races
