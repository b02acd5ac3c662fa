// SPDX-License-Identifier: BSL-1.0
// Several programs transfer money in a replica set of three servers, while its primary is killed,
// frozen and stepped down, and while the whole set is stopped. Everything settles, sums are exact,
// and the outcomes that each program printed agree with the log.
#include "bank.hpp"
#include "commands.hpp"
#include "servers.hpp"

#include <kill_settings.hpp>
#include <program.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

namespace settle_test {
namespace {

using namespace std::chrono_literals;
using settle::mongodb::database;

constexpr std::uint64_t accounts = 12;
constexpr std::int64_t each_opening = 1000;

std::string account(std::uint64_t number) { return "account-" + std::to_string(number % accounts); }

/// One program until it is killed or its parent has ended: transfers, single or in batches, in one
/// phase or in two; with `how` "alone", all single and in two phases. It prints each outcome.
void work(std::string const& address, std::string const& name, std::string const& how,
          std::uint64_t seed) {
    settle::options limits;
    limits.takeover = 1s;
    database db{address};
    auto one_phase_engine = bank_on(db, settle::phases::one, limits);
    auto two_phase_engine = bank_on(db, settle::two_phases, limits);
    std::mt19937_64 chance{seed};
    auto const print = [](settle::outcome const& outcome) {
        // In one piece, since the program may be killed while it writes.
        std::ostringstream line;
        line << "outcome " << outcome.id << ' ' << name_of(outcome.verdict) << '\n';
        std::cout << line.str() << std::flush;
    };
    int number = 0;
    auto const next = [&] {
        auto const from = chance();
        auto const to = from + 1 + chance() % (accounts - 1);
        return std::pair{
            name + "-" + std::to_string(number++),
            transfer{account(from), account(to), static_cast<std::int64_t>(chance() % 700)}};
    };
    while (::getppid() != 1) {
        bool const alone = how == "alone";
        auto& engine = !alone && chance() % 2 == 0 ? one_phase_engine : two_phase_engine;
        if (!alone && chance() % 2 == 0) {
            std::vector<std::pair<std::string, transfer>> some(1 + chance() % 30);
            for (auto& each : some) each = next();
            engine.run_all(some,
                           [&](std::size_t, settle::outcome const& outcome) { print(outcome); });
        } else {
            auto const [id, parameters] = next();
            print(engine.run(id, parameters));
        }
    }
}

/// Id and verdict of each outcome that programs have printed.
using verdicts = std::map<std::string, std::string>;

std::size_t count_of(verdicts const& reported, std::string const& verdict) {
    return static_cast<std::size_t>(
        std::count_if(reported.begin(), reported.end(),
                      [&](auto const& each) { return each.second == verdict; }));
}

/// The programs at work on one set; each is a worker of this test program.
class workers {
public:
    workers(replica_set const& set, std::size_t count, std::string how)
        : folder_("mongodb-load"), set_(&set), how_(std::move(how)) {
        for (std::size_t i = 0; i < count; ++i) start(i);
    }

    /// Kills one program at any step, and starts another in its place.
    void kill(std::size_t number) {
        auto const index = number % running_.size();
        running_[index]->signal(SIGKILL);
        note(running_[index]->wait());
        start(index);
    }
    [[nodiscard]] verdicts reported_so_far() const {
        auto all = reported_;
        for (auto const& one : running_) read(one->printed(), all);
        return all;
    }
    verdicts end() {
        for (auto& one : running_) one->signal(SIGKILL);
        for (auto& one : running_) note(one->wait());
        running_.clear();
        return std::move(reported_);
    }

private:
    void start(std::size_t index) {
        auto const name = "worker" + std::to_string(++started_);
        // Longer than an election; a frozen primary is to be noticed sooner than by default.
        auto const address = set_->address("bank") +
                             "&socketTimeoutMS=3000&connectTimeoutMS=1000"
                             "&serverSelectionTimeoutMS=10000&heartbeatFrequencyMS=1000";
        ::setenv("SETTLE_WORKER", (address + " " + name + " " + how_).c_str(), 1);
        auto worker = std::make_unique<testing::program>(
            folder_, std::vector<std::string>{"/proc/self/exe", "--no-skip",
                                              "--test-case=set under load: worker"});
        ::unsetenv("SETTLE_WORKER");
        if (index < running_.size()) running_[index] = std::move(worker);
        else running_.push_back(std::move(worker));
    }
    void note(testing::ended const& how) {
        CHECK_MESSAGE(how.signal == SIGKILL, how.out.substr(0, 2000) << how.err.substr(0, 2000));
        read(how.out, reported_);
    }
    static void read(std::string const& printed, verdicts& to) {
        std::istringstream lines{printed};
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words{line};
            std::string first;
            std::string id;
            std::string verdict;
            // An incomplete last line is ignored.
            if (words >> first >> id >> verdict && first == "outcome" && !lines.eof()) {
                to[id] = verdict;
            }
        }
    }

    testing::scratch_folder folder_;
    replica_set const* set_;
    std::string how_;
    std::size_t started_ = 0;
    std::vector<std::unique_ptr<testing::program>> running_;
    verdicts reported_;
};

/// The marks that are left, each with its entry.
std::string marks_and_entries(replica_set const& set) {
    return run_command(set.address("bank"),
                       R"({"aggregate": "suite_ledgers", "pipeline": [)"
                       R"({"$unwind": "$pendingTransactions"}, {"$lookup": {"from": )"
                       R"("settle_entries", "localField": "pendingTransactions.id", )"
                       R"("foreignField": "_id", "as": "entry"}}], "cursor": {}})")
        .json();
}

/// Waits until the servers have finished the requests of the ended programs, which may take effect
/// long after their programs, on a busy machine.
void wait_until_idle(replica_set const& set) {
    CHECK(wait_until(60s, [&] {
        auto const reply =
            run_command(set.address("admin"), R"({"currentOp": 1, "active": true, "ns": )"
                                              R"({"$regex": "^bank[.]"}})");
        return reply.ok && reply.json().find("\"inprog\" : [  ]") != std::string::npos;
    }));
}

/// The log, the records and the printed outcomes agree.
void check_story(replica_set const& set, verdicts const& reported) {
    wait_until_idle(set);
    database db{set.address("bank")};
    auto engine = bank_on(db);
    // A killed program leaves its native transaction to the server, which lets it hold its records
    // for 60 s: until then transactions on these records stay undecided.
    auto const until = std::chrono::steady_clock::now() + 90s;
    while (engine.recover(of_any_age()).undecided != 0) {
        if (std::chrono::steady_clock::now() > until) break;
    }
    settle_all(engine);
    // The requests of a killed program may wait in the server for such a native transaction, too,
    // and are stray when they take effect.
    std::this_thread::sleep_for(1s);
    settle_all(engine);
    CHECK_MESSAGE(engine.marks().value() == 0, marks_and_entries(set));
    std::map<std::string, std::int64_t> expected;
    for (std::uint64_t i = 0; i < accounts; ++i) expected[account(i)] = each_opening;
    std::map<std::string, std::string> ends;
    std::string last;
    for (;;) {
        auto const page = engine.page({}, last, 1000).value();
        for (auto const& entry : page) {
            INFO("entry " << entry.id);
            CHECK(settle::is_final(entry.state));
            ends[entry.id] = entry.state == settle::state::done ? "done" : "canceled";
            if (entry.state != settle::state::done) continue;
            auto const given = settle::decode_json<transfer>(entry.parameters).value();
            expected[given.source] -= given.amount;
            expected[given.destination] += given.amount;
        }
        if (page.size() < 1000) break;
        last = page.back().id;
    }
    std::size_t done = 0;
    std::size_t undecided = 0;
    for (auto const& each : reported) {
        // clang 14 takes no structured binding in a message.
        std::string const& id = each.first;
        std::string const& verdict = each.second;
        if (verdict == "undecided") {
            ++undecided;
            continue;
        }
        INFO("outcome of " << id);
        CHECK(ends[id] == verdict);
        if (verdict == "done") ++done;
    }
    MESSAGE(ends.size() << " entries, " << reported.size() << " outcomes reported, " << done
                        << " done, " << undecided << " undecided");
    CHECK(done > 50);
    // Few transactions run while a primary changes, compared with the transactions that run under a
    // primary.
    CHECK(undecided * 5 <= reported.size());
    std::int64_t sum = 0;
    for (auto const& one : engine.scan_page<settle::testing::ledgers_type>({}, 1000).value()) {
        INFO(one.id);
        CHECK(one.balance == expected[one.id]);
        CHECK(one.balance >= 0);
        sum += one.balance;
    }
    CHECK(sum == static_cast<std::int64_t>(accounts) * each_opening);
}

/// The fault of the set, while programs are at work.
template <typename Disaster>
void under_load(Disaster const& disaster, std::string const& how = "mixed") {
    replica_set set;
    {
        database db{set.address("bank")};
        auto engine = bank_on(db);
        for (std::uint64_t i = 0; i < accounts; ++i) {
            engine.create(ledgers, {account(i), each_opening, 0, ""}).value();
        }
    }
    workers running{set, 3, how};
    CHECK(wait_until(120s, [&] { return count_of(running.reported_so_far(), "done") > 50; }));
    disaster(set, running);
    set.wait_until_whole();
    // The programs make progress again. The last batch of each program may still end undecided.
    auto const earlier = count_of(running.reported_so_far(), "done");
    CHECK(wait_until(120s, [&] {
        auto const reported = running.reported_so_far();
        return count_of(reported, "done") > earlier + 50 &&
               (count_of(reported, "undecided") + 90) * 5 <= reported.size();
    }));
    check_story(set, running.end());
}

} // namespace

TEST_CASE("set under load: worker" * doctest::skip()) {
    std::istringstream words{std::getenv("SETTLE_WORKER") ? std::getenv("SETTLE_WORKER") : ""};
    std::string address;
    std::string name;
    std::string how;
    if (!(words >> address >> name >> how)) return;
    while (::getppid() != 1) {
        try {
            work(address, name, how, std::random_device{}());
        } catch (settle::failure const&) {
            // A call without a primary is refused, and may be repeated.
        }
    }
}

TEST_CASE("long: set under load: the primary is killed repeatedly" *
          doctest::test_suite("three servers")) {
    under_load([](replica_set& set, workers& running) {
        std::mt19937 chance{std::random_device{}()};
        auto const kills = testing::kills(20);
        for (std::size_t i = 0; i < kills; ++i) {
            INFO("kill " << i);
            auto const killed = set.kill_primary();
            if (i % 5 == 4) running.kill(i);
            std::this_thread::sleep_for(std::chrono::milliseconds{chance() % 1500});
            set.restart(killed);
            set.wait_until_whole();
            std::this_thread::sleep_for(std::chrono::milliseconds{chance() % 800});
        }
    });
}

TEST_CASE("long: set under load: the primary is frozen and steps down" *
          doctest::test_suite("three servers")) {
    under_load([](replica_set& set, workers& running) {
        for (std::size_t i = 0; i < 4; ++i) {
            auto const frozen = set.freeze_primary();
            set.wait_for_primary();
            std::this_thread::sleep_for(1500ms);
            if (i == 2) running.kill(i);
            // A frozen server now finishes the requests that it had received, or finds that it may
            // not.
            set.thaw(frozen);
            set.wait_until_whole();
            std::this_thread::sleep_for(500ms);
            set.step_down();
            set.wait_until_whole();
            std::this_thread::sleep_for(500ms);
        }
    });
}

/// On a new primary, the state known to a majority may be older than the acknowledged writes of its
/// predecessor. A single transaction reads that state first.
TEST_CASE("long: set under load: elections follow each other while transactions run alone" *
          doctest::test_suite("three servers")) {
    auto const disaster = [](replica_set& set, workers&) {
        for (std::size_t i = 0; i < testing::setting("SETTLE_ELECTIONS", 20); ++i) {
            auto const frozen = set.freeze_primary();
            set.wait_for_primary();
            set.thaw(frozen);
            set.wait_until_whole();
            std::this_thread::sleep_for(200ms);
        }
    };
    under_load(disaster, "alone");
}

TEST_CASE("long: set under load: all three servers stop for a minute" *
          doctest::test_suite("three servers")) {
    under_load([](replica_set& set, workers&) {
        set.stop_all();
        std::this_thread::sleep_for(60s);
        set.start_all();
        // All are killed at once, so that no member hands over.
        for (std::size_t i = 0; i < set.size(); ++i) set.member(i).kill();
        std::this_thread::sleep_for(2s);
        set.start_all();
    });
}

} // namespace settle_test
