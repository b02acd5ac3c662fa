// SPDX-License-Identifier: BSL-1.0
// Several workers on one store, each in its own thread. A seed chooses the worker that makes the
// next call: every interleaving can occur, and its seed repeats it.
#include "scene.hpp"

#include <condition_variable>
#include <thread>

namespace settle_test {
namespace {

/// Lets one worker at a time continue, chosen at random at every call.
class baton {
public:
    baton(std::size_t workers, std::uint64_t seed) : here_(workers, true), chance_(seed) {
        choose();
    }

    /// Passes the turn on and waits until it is this worker's turn again.
    void at_call(std::size_t worker) {
        std::unique_lock lock{mutex_};
        if (started_[worker]) choose();
        started_[worker] = true;
        alarm_.notify_all();
        alarm_.wait(lock, [&] { return turn_ == worker; });
    }
    void leave(std::size_t worker) {
        std::lock_guard const guard{mutex_};
        here_[worker] = false;
        choose();
        alarm_.notify_all();
    }
    /// Only for the worker that has the turn.
    [[nodiscard]] std::uint64_t draw() { return chance_(); }

private:
    void choose() {
        std::vector<std::size_t> left;
        for (std::size_t i = 0; i < here_.size(); ++i) {
            if (here_[i]) left.push_back(i);
        }
        if (!left.empty()) turn_ = left[chance_() % left.size()];
    }

    std::mutex mutex_;
    std::condition_variable alarm_;
    std::vector<bool> here_;
    std::vector<bool> started_ = std::vector<bool>(here_.size());
    std::mt19937_64 chance_;
    std::size_t turn_ = 0;
};

template <typename Database>
struct stage {
    std::uint64_t seed;
    Database& db;
    manual_environment time;
    onlooker<Database> watch;
    baton turns;

    stage(std::uint64_t given_seed, Database& database, std::size_t workers)
        : seed(given_seed), db(database), time(given_seed), watch(database),
          turns(workers, given_seed) {}

    /// The life of one worker: it makes calls in its turn, and some calls fail.
    template <typename Act>
    void live(std::size_t worker, std::uint64_t percent, Act const& act) {
        faulty fragile{db};
        fault_source& own = fragile.source();
        auto const faults =
            random_faults(seed * 16 + worker, percent,
                          {fault_kind::unavailable, fault_kind::unknown_before,
                           fault_kind::unknown_after, fault_kind::late, fault_kind::late,
                           fault_kind::crash_before, fault_kind::crash_after});
        fragile.plan([&](call const& call) {
            turns.at_call(worker);
            watch.look();
            if (turns.draw() % 8 == 0) own.deliver_one();
            if (turns.draw() % 8 == 0) time.advance(60ms);
            return faults(call);
        });
        turns.at_call(worker);
        {
            auto engine = engine_on(fragile, time);
            try {
                act(engine);
            } catch (crash const&) {
            }
            fragile.plan({});
        }
        // Writes in flight land while the other workers continue.
        while (own.late() != 0) {
            turns.at_call(worker);
            own.deliver_one();
        }
        turns.leave(worker);
    }
};

/// The action of one worker, chosen by a seed.
template <typename Engine>
void act(Engine& engine, std::uint64_t choice, std::size_t worker, std::vector<outcome>& outcomes) {
    std::string const own = "w" + std::to_string(worker);
    switch (choice % 10) {
    case 0:
    case 1: outcomes.push_back(engine.run("shared", move{"A", "B", 30})); break;
    case 2: outcomes.push_back(engine.run(own, move{"B", "A", 70})); break;
    case 3: outcomes.push_back(engine.run(own, move{"A", "C", 90})); break;
    case 4: outcomes.push_back(engine.run(own, rewrite{first_card(), second_card()})); break;
    case 5: outcomes.push_back(engine.run(own, withdraw{"c", true})); break;
    case 6: outcomes.push_back(engine.run(own, issue{new_card()})); break;
    case 7: outcomes.push_back(engine.cancel("shared")); break;
    case 8: engine.recover(of_any_age()); break;
    default: engine.sweep(); break;
    }
}

template <typename Database>
void play(std::uint64_t seed, std::uint64_t percent, Database& db) {
    INFO("seed ", seed, ", ", percent, " faults in a hundred calls");
    constexpr std::size_t workers = 4;
    stage<Database> stage{seed, db, workers};
    auto plain = engine_on(db, stage.time);
    open_records(plain);
    std::vector<std::vector<outcome>> outcomes(workers);
    {
        std::vector<std::jthread> threads;
        for (std::size_t worker = 0; worker < workers; ++worker) {
            threads.emplace_back([&, worker] {
                std::uint64_t const choice = settle::hash_mix(worker, seed);
                stage.live(worker, percent, [&](auto& engine) {
                    // The first worker always has work that other workers can interleave with.
                    act(engine, worker == 0 ? 0 : choice, worker, outcomes[worker]);
                    act(engine, choice >> 8U, worker, outcomes[worker]);
                });
            });
        }
    }
    stage.time.advance(1s);
    CHECK(plain.recover(of_any_age()).skipped.empty());
    CHECK(plain.sweep().problem.empty());
    std::vector<outcome> all_outcomes;
    for (auto const& some : outcomes)
        all_outcomes.insert(all_outcomes.end(), some.begin(), some.end());
    std::erase_if(all_outcomes, [](outcome const& outcome) {
        return outcome.problem.code == settle::errc::unknown_id;
    });
    check_settled(plain, all_outcomes);
    std::int64_t sum = 0;
    for (ledger const& one : plain.template scan_page<ledgers_type>(std::nullopt, 100).value()) {
        sum += one.balance;
    }
    CHECK(sum == opening_sum);
}

void play_all(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        memory_database db;
        play(seed, seed % 3 == 0 ? 0 : 2 + seed % 9, db);
    }
}

} // namespace

TEST_CASE("schedule: four workers interleave at random, with random faults") { play_all(1, 250); }
TEST_CASE("long: schedule: four workers interleave at random, with random faults") {
    play_all(10001, 14000);
}

} // namespace settle_test
