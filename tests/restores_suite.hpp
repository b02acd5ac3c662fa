// SPDX-License-Identifier: BSL-1.0
// A backup of one moment, taken while callers transfer money, is restored: recover and sweep end
// every transaction, and each caller finds the outcome that it was told.
#pragma once

#include <settle/settle.hpp>
#include <settle/testing/faults.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace settle_test {

inline constexpr std::int64_t opened_accounts = 10;
inline constexpr std::int64_t opened_with = 1000;

inline std::string account_name(std::int64_t number) {
    return "account-" + std::to_string(number % opened_accounts);
}

/// The parameters of a transfer; one in eleven is more than any account can have.
inline bank::transfer numbered_transfer(std::int64_t number) {
    auto const distance = 1 + number / 50 % (opened_accounts - 1);
    auto const too_much = opened_accounts * opened_with + 1;
    return {account_name(number), account_name(number + distance),
            number % 11 == 10 ? too_much : 1 + number / 10 % 5};
}
inline std::string transfer_id(std::int64_t number) { return "transfer-" + std::to_string(number); }

/// Runs a function in a thread again and again, with numbers from 0, until the object ends.
class repeated_call {
public:
    explicit repeated_call(std::function<void(std::int64_t)> call)
        : call_{std::move(call)}, thread_{[this](std::stop_token const& stop) {
              for (std::int64_t number = 0; !stop.stop_requested(); ++number) {
                  call_(number);
                  ++count_;
              }
          }} {}

    /// Waits until the function has returned so many further times.
    void wait_for(std::int64_t more) const {
        auto const last = count_ + more;
        auto const deadline = std::chrono::steady_clock::now() + std::chrono::minutes{2};
        while (count_ < last) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    [[nodiscard]] std::int64_t count() const { return count_; }

private:
    std::function<void(std::int64_t)> call_;
    std::atomic<std::int64_t> count_ = 0;
    std::jthread thread_;
};

/// Brings every transaction of a restored log to its end.
template <typename Engine>
settle::recovery_report settle_all(Engine& engine) {
    auto const recovered = engine.recover({.older_than = std::chrono::milliseconds{0}});
    CHECK_MESSAGE(recovered.problem.empty(), recovered.problem);
    CHECK(recovered.skipped.empty());
    auto const swept = engine.sweep();
    CHECK_MESSAGE(swept.problem.empty(), swept.problem);
    CHECK(swept.skipped.empty());
    for (settle::entry const& entry : engine.list()) {
        CHECK_MESSAGE(settle::is_final(entry.state), entry.id);
    }
    return recovered;
}

template <typename Database>
struct restores {
    using told = std::map<std::int64_t, settle::verdict>;

    /// The balances are those of the log's transfers that are done.
    template <typename Engine>
    static void check_balances(Engine& engine) {
        std::map<std::string, std::int64_t> by_log;
        for (std::int64_t number = 0; number < opened_accounts; ++number) {
            by_log[account_name(number)] = opened_with;
        }
        for (settle::entry const& entry : engine.list()) {
            if (entry.state != settle::state::done) continue;
            auto const moved = nlohmann::json::parse(entry.parameters);
            auto const amount = moved.at("amount").get<std::int64_t>();
            by_log.at(moved.at("source").get<std::string>()) -= amount;
            by_log.at(moved.at("destination").get<std::string>()) += amount;
        }
        std::int64_t sum = 0;
        for (bank::account const& account : engine.scan(bank::accounts)) {
            CHECK_MESSAGE(account.balance == by_log.at(account.id), account.id);
            sum += account.balance;
        }
        CHECK(sum == opened_accounts * opened_with);
    }

    /// Shape:   back_up - makes a backup of the database and restores it; returns its address
    static void check_one_moment(std::string const& address,
                                 std::function<std::string()> const& back_up) {
        Database db{address};
        settle::engine engine{db, settle::type<bank::transfer_type>, settle::two_phases};
        for (std::int64_t number = 0; number < opened_accounts; ++number) {
            engine.create(bank::accounts, {account_name(number), opened_with, opened_with}).value();
        }
        // Its worker ended after the apply, so each backup has a transaction to recover.
        auto const open_number = std::int64_t{0};
        leave_open(db, open_number);

        std::mutex mutex;
        told outcomes;
        std::string restored;
        told told_before;
        {
            auto const run = [&](std::int64_t number) {
                auto const outcome = engine.run(transfer_id(number), numbered_transfer(number));
                std::lock_guard const lock{mutex};
                outcomes.emplace(number, outcome.verdict);
            };
            repeated_call const odd{[&](std::int64_t turn) { run(2 * turn + 1); }};
            repeated_call const even{[&](std::int64_t turn) { run(2 * turn + 2); }};
            odd.wait_for(50);
            {
                std::lock_guard const lock{mutex};
                told_before = outcomes;
            }
            restored = back_up();
            even.wait_for(20);
        }
        check_restored(restored, open_number, told_before, outcomes);
    }

private:
    static void leave_open(Database& db, std::int64_t number) {
        namespace st = settle::testing;
        st::faulty<Database> with_faults{db};
        settle::engine engine{with_faults, settle::type<bank::transfer_type>, settle::two_phases};
        with_faults.plan([](st::call const& call) {
            return st::fault{call.what == "commit" ? st::fault_kind::crash_before
                                                   : st::fault_kind::none};
        });
        CHECK_THROWS_AS(std::ignore = engine.run(transfer_id(number), numbered_transfer(number)),
                        st::crash);
    }

    static void check_restored(std::string const& address, std::int64_t open_number,
                               told const& told_before, told const& outcomes) {
        Database db{address};
        CHECK(settle::accept_moved_log(db).has_value());
        settle::engine engine{db, settle::type<bank::transfer_type>, settle::two_phases};
        CHECK(settle_all(engine).done >= 1);
        CHECK(engine.marks().value() == 0);
        check_balances(engine);
        CHECK(engine.find(transfer_id(open_number)).value()->state == settle::state::done);
        for (auto const& [number, verdict] : told_before) {
            auto const entry = engine.find(transfer_id(number)).value();
            REQUIRE(entry);
            CHECK(entry->state == (verdict == settle::verdict::done ? settle::state::done
                                                                    : settle::state::canceled));
        }
        // The callers repeat what they were told, also after the backup.
        std::int64_t canceled = 0;
        for (auto const& [number, verdict] : outcomes) {
            auto const outcome = engine.run(transfer_id(number), numbered_transfer(number));
            CHECK(outcome.verdict == verdict);
            canceled += outcome.canceled() ? 1 : 0;
        }
        CHECK(canceled >= 5);
        check_balances(engine);
    }
};

} // namespace settle_test
