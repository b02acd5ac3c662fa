// SPDX-License-Identifier: BSL-1.0
// The databases of the payments, each with the checks of its sums.
#pragma once

#include "payments.hpp"

#include "conformance/fixtures.hpp"
#include "mariadb/backend.hpp"
#include "postgresql/backend.hpp"
#include "prepared_suite.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace payments_test {

using namespace settle_test;

using killed = settle::testing::crash;
inline watcher kill_after(settle::step last) {
    return [last](settle::event const& seen) {
        if (seen.taken == last) throw killed{};
    };
}

struct banks {
    static constexpr int count = 8;              ///< of the accounts, and of the rows of a load
    static constexpr std::int64_t funds = 30000; ///< of each account

    banks(std::string const& left_address, std::string const& right_address)
        : left(left_address), right(right_address) {
        auto const engine = make();
        for (int index = 0; index < count; ++index) {
            auto const number = std::to_string(index);
            engine->create({"p" + number, funds});
            auto const insert = "INSERT INTO sums VALUES ('r" + number + "', 0)";
            left.beside.ask(insert);
            right.beside.ask(insert);
        }
    }

    [[nodiscard]] std::unique_ptr<payments> make() {
        return make_payments(records, left.books, right.books, watch);
    }

    /// The names of this log that the servers list.
    [[nodiscard]] std::vector<std::string> in_doubt() {
        auto const prefix = settle::prepared_prefix(make()->log());
        psql_session session{left.at};
        mariadb_session two{right.at};
        std::vector<std::string> own;
        for (auto const& names :
             {postgresql_backend::prepared_names(session), mariadb_backend::prepared_names(two)}) {
            std::copy_if(names.begin(), names.end(), std::back_inserter(own),
                         [&](std::string const& name) { return name.starts_with(prefix); });
        }
        return own;
    }

    /// Everything has its end; the sums are the sums of the transactions that are done.
    /// Shape:   done - how many there are; nothing: as many as the log says
    void check_settled(std::optional<std::int64_t> done = {}) {
        auto const engine = make();
        std::int64_t in_log = 0;
        for (auto const& one : engine->list(false)) {
            CHECK((one.state == settle::state::done || one.state == settle::state::canceled));
            in_log += one.state == settle::state::done ? 1 : 0;
        }
        if (done) CHECK(in_log == *done);
        CHECK(engine->balances() == count * funds - 3 * in_log);
        CHECK(psql_session{left.at}.ask_one("SELECT SUM(n) FROM sums") == std::to_string(in_log));
        CHECK(mariadb_session{right.at}.ask_one("SELECT SUM(n) FROM sums") ==
              std::to_string(2 * in_log));
        CHECK(engine->marks() == 0);
        CHECK(in_doubt() == std::vector<std::string>{});
    }

    /// Recovers and sweeps until nothing is unfinished; fails if that does not end.
    void settle_all() {
        auto const engine = make();
        settle::error last;
        bool const ended = wait_until(std::chrono::minutes{2}, [&] {
            last = engine->recover().problem;
            auto const swept = engine->sweep();
            if (last.empty()) last = swept.problem;
            return engine->list(true).empty() && engine->marks() == 0;
        });
        INFO(last);
        CHECK(ended);
    }

    scratch_file file{};
    settle::sqlite::database records{file.path()};
    prepared_scene<postgresql_backend> left;
    prepared_scene<mariadb_backend> right;
    watcher watch{};
};

/// Threads that pay until they are stopped.
class load {
public:
    load(payments& engine, unsigned threads) {
        for (unsigned seed = 0; seed < threads; ++seed) {
            threads_.emplace_back([this, &engine, seed] {
                std::minstd_rand random{seed + 1};
                while (!stopping_) {
                    auto const outcome = engine.run(payment_of(static_cast<unsigned>(random())));
                    done_ += outcome.done() ? 1 : 0;
                    if (!outcome.done()) std::this_thread::sleep_for(std::chrono::milliseconds{5});
                }
            });
        }
    }
    load(load const&) = delete;
    load& operator=(load const&) = delete;
    ~load() { stop(); }

    void stop() {
        stopping_ = true;
        for (auto& one : threads_) {
            if (one.joinable()) one.join();
        }
    }
    /// Waits until so many more are done.
    [[nodiscard]] bool progress(int count) {
        int const before = done_;
        return wait_until(std::chrono::minutes{1}, [&] { return done_ >= before + count; });
    }

private:
    std::atomic<bool> stopping_ = false;
    std::atomic<int> done_ = 0;
    std::vector<std::thread> threads_;
};

} // namespace payments_test
