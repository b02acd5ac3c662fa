// SPDX-License-Identifier: BSL-1.0
// A bank on a server that is disturbed: threads transfer money, alone, in batches and as workers
// of a queue, in one phase and in two. In the end each outcome that a caller got is in the log, and
// each balance is the sum of the transfers that are done. Place gives
//
//   database, server                  The types: the store, a server that may be killed.
//   bank_limits()                     Limits that a busy machine keeps, and that end soon.
//   ask(address, sql)                 The rows of a query of another program.
//   end_sessions(address)             Ends the sessions of settle there.
#pragma once

#include "server_process.hpp"

#include <settle/settle.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace settle_test {

inline constexpr int bank_accounts = 8;
inline constexpr std::int64_t bank_opening = 1000;

using namespace std::chrono_literals;

/// Shape:   patience - how long a call tries to reach the server
template <typename Database>
auto bank_engine(Database& database, settle::phases how, settle::time_limit patience = 5s) {
    settle::options limits;
    limits.takeover = 500ms;
    limits.patience = patience;
    return settle::engine{database, limits, how, settle::type<bank::transfer_type>};
}
template <typename Database>
using bank_teller = decltype(bank_engine(std::declval<Database&>(), settle::phases::one));

/// The outcomes that callers got.
template <typename Place>
class basic_bank_story {
    using database = typename Place::database;
    using teller_type = bank_teller<database>;

public:
    /// Makes the accounts "0", "1" and so on.
    static void open(std::string const& address) {
        database database{address};
        auto teller = bank_engine(database, settle::phases::one);
        for (int i = 0; i < bank_accounts; ++i) {
            teller.create(bank::accounts, {std::to_string(i), bank_opening, bank_opening}).value();
        }
    }

    void note(settle::outcome const& outcome) {
        std::lock_guard const guard{mutex_};
        outcomes_[outcome.id] = outcome.verdict;
        if (outcome.done()) ++done_;
        CHECK_MESSAGE(outcome.verdict != settle::verdict::refused, outcome.text());
    }
    void note_submitted(settle::outcome const& outcome) {
        std::lock_guard const guard{mutex_};
        if (outcome.problem.empty()) submitted_.push_back(outcome.id);
    }
    /// Another program has added to a balance.
    void note_added(std::string const& account, std::int64_t amount) { added_[account] += amount; }

    [[nodiscard]] std::size_t done() {
        std::lock_guard const guard{mutex_};
        return done_;
    }

    /// Settles everything, and compares the outcomes and the balances with the log.
    void check(std::string const& address) {
        database opened{address};
        auto teller = bank_engine(opened, settle::phases::two);
        // A statement of a client that is gone may take effect until the server's limits end it.
        bool const settled = wait_until(30s, [&] {
            auto const worked = teller.work();
            auto const recovered = teller.recover({.older_than = 0ms});
            auto const swept = teller.sweep();
            return worked.problem.empty() && recovered.problem.empty() && swept.problem.empty() &&
                   recovered.undecided == 0 && teller.marks().value() == 0;
        });
        CHECK(settled);
        auto balances = added_;
        for (int i = 0; i < bank_accounts; ++i) balances[std::to_string(i)] += bank_opening;
        auto const ends = read_log(teller, balances);
        std::size_t undecided = 0;
        for (auto const& [id, verdict] : outcomes_) {
            if (verdict == settle::verdict::undecided) {
                ++undecided;
                continue;
            }
            // clang 14 takes no structured binding in a message.
            std::string const name = id;
            int const state = ends.contains(name) ? static_cast<int>(ends.at(name)) : -1;
            INFO("outcome of ", name, ", whose state in the log is ", state);
            auto const expected =
                verdict == settle::verdict::done ? settle::state::done : settle::state::canceled;
            CHECK((ends.contains(name) && ends.at(name) == expected));
        }
        for (auto const& id : submitted_) CHECK_MESSAGE(ends.contains(id), id);
        MESSAGE(outcomes_.size(), " outcomes, ", done_, " done, ", undecided, " undecided; ",
                submitted_.size(), " submitted");
        auto const rows = Place::ask(address, "SELECT id, balance FROM accounts");
        CHECK(rows.size() == balances.size());
        for (auto const& row : rows) {
            INFO("account ", row[0]);
            CHECK(row[1] == std::to_string(balances[row[0]]));
        }
    }

private:
    /// The end of each entry. Adds the transfers that are done to the balances.
    static std::map<std::string, settle::state>
    read_log(teller_type& teller, std::map<std::string, std::int64_t>& balances) {
        constexpr std::size_t page_size = 1000;
        std::map<std::string, settle::state> ends;
        for (std::string last;;) {
            auto const page = teller.page({}, last, page_size).value();
            for (auto const& entry : page) {
                CHECK_MESSAGE(settle::is_final(entry.state), entry.id);
                ends[entry.id] = entry.state;
                if (entry.state != settle::state::done) continue;
                auto const given = settle::decode_json<bank::transfer>(entry.parameters).value();
                balances[given.source] -= given.amount;
                balances[given.destination] += given.amount;
            }
            if (page.size() < page_size) return ends;
            last = page.back().id;
        }
    }

    std::mutex mutex_;
    std::map<std::string, settle::verdict> outcomes_;
    std::vector<std::string> submitted_;
    std::map<std::string, std::int64_t> added_;
    std::size_t done_ = 0;
};

/// Threads that share two engines, of one phase and of two, and call them until they are stopped.
template <typename Place>
class basic_tellers {
    using database = typename Place::database;
    using teller_type = bank_teller<database>;

public:
    using clock = std::chrono::steady_clock;

    /// Shape:   address - of a database where basic_bank_story::open() was called; count - of
    /// threads
    explicit basic_tellers(std::string const& address, unsigned count = 4)
        : at_{address, Place::bank_limits()}, one_{bank_engine(at_, settle::phases::one)},
          two_{bank_engine(at_, settle::phases::two)}, begun_(count) {
        for (auto& one : begun_) one = clock::now();
        for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this, i] { live(i); });
    }
    basic_tellers(basic_tellers const&) = delete;
    basic_tellers& operator=(basic_tellers const&) = delete;
    ~basic_tellers() { stop(); }

    void stop() {
        stopping_ = true;
        for (auto& one : threads_) {
            if (one.joinable()) one.join();
        }
    }
    /// Waits until so many more transfers were done.
    [[nodiscard]] bool progress(std::size_t count = 20) {
        auto const before = story.done();
        return wait_until(60s, [&] { return story.done() >= before + count; });
    }
    /// The longest time of a call so far, also of a call that has not ended.
    [[nodiscard]] clock::duration longest() const {
        auto found = longest_.load();
        for (auto const& one : begun_) found = std::max(found, clock::now() - one.load());
        return found;
    }

    basic_bank_story<Place> story;

private:
    void live(unsigned thread) {
        std::mt19937 chance{thread};
        int number = 0;
        auto const next = [&] {
            auto const from = chance() % bank_accounts;
            auto const to = (from + 1 + chance() % (bank_accounts - 1)) % bank_accounts;
            return std::pair{std::to_string(thread) + "-" + std::to_string(number++),
                             bank::transfer{std::to_string(from), std::to_string(to),
                                            1 + static_cast<std::int64_t>(chance() % 300)}};
        };
        while (!stopping_) {
            begun_[thread] = clock::now();
            auto& engine = chance() % 2 == 0 ? one_ : two_;
            if (thread % 4 == 3) submit_and_work(engine, next());
            else if (thread % 4 == 2) run_several(engine, next);
            else run_one(engine, next());
            note_time(clock::now() - begun_[thread].load());
        }
    }
    void note_time(clock::duration took) {
        auto known = longest_.load();
        while (known < took && !longest_.compare_exchange_weak(known, took)) {
        }
    }
    void run_one(teller_type& engine, std::pair<std::string, bank::transfer> const& given) {
        auto const outcome = engine.run(given.first, given.second);
        story.note(outcome);
        // A server without room answers at once.
        if (!outcome.done()) std::this_thread::sleep_for(1ms);
    }
    template <typename Next>
    void run_several(teller_type& engine, Next const& next) {
        std::vector<std::pair<std::string, bank::transfer>> several(10);
        for (auto& one : several) one = next();
        for (auto const& outcome : engine.run_all(several)) story.note(outcome);
    }
    void submit_and_work(teller_type& engine, std::pair<std::string, bank::transfer> const& given) {
        story.note_submitted(engine.submit(given.first, given.second));
        static_cast<void>(engine.work());
    }

    database at_;
    teller_type one_;
    teller_type two_;
    std::atomic<bool> stopping_ = false;
    std::atomic<clock::duration> longest_ = clock::duration{};
    std::vector<std::atomic<clock::time_point>> begun_; ///< of each thread's last call
    std::vector<std::thread> threads_;
};

} // namespace settle_test
