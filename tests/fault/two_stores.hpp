// SPDX-License-Identifier: BSL-1.0
// One transaction over two stores: accounts in one, stock in the other, the log in either.
#pragma once

#include "scene.hpp"

#include <conformance/fixtures.hpp>

#include <optional>

namespace settle_test {

template <typename Log, typename Accounts, typename Stock>
auto engine_over(Log& log, Accounts& accounts, Stock& stock, manual_environment const& time) {
    return settle::engine{settle::log_in(log),
                          settle::bind(ledgers, accounts),
                          settle::bind(shelves, stock),
                          settle::with_environment(time),
                          fault_limits(),
                          settle::type<order_type>,
                          settle::type<move_type>};
}

/// Both databases are created once; every story has its own records.
/// Shape:   Accounts, Stock - hold a database each: `Accounts::database& open()`
template <typename Accounts, typename Stock, bool LogWithStock>
class two_stores {
public:
    auto plain() {
        if constexpr (LogWithStock) return engine_over(stock(), accounts(), stock(), time);
        else return engine_over(accounts(), accounts(), stock(), time);
    }
    auto fragile(fault_source& source) {
        faulty_accounts_.emplace(accounts(), source);
        faulty_stock_.emplace(stock(), source);
        if constexpr (LogWithStock) {
            return engine_over(*faulty_stock_, *faulty_accounts_, *faulty_stock_, time);
        } else {
            return engine_over(*faulty_accounts_, *faulty_accounts_, *faulty_stock_, time);
        }
    }

    manual_environment time;

private:
    auto& accounts() { return accounts_.open(); }
    auto& stock() { return stock_.open(); }

    Accounts accounts_;
    Stock stock_;
    std::optional<faulty<typename Accounts::database>> faulty_accounts_;
    std::optional<faulty<typename Stock::database>> faulty_stock_;
};

/// A SQLite file of this test.
struct in_file {
    using database = settle::sqlite::database;
    database& open() { return held_; }

private:
    scratch_file path_;
    database held_{path_.path()};
};

/// One story: an id, an account and two shelves that no other story uses.
struct private_order {
    explicit private_order(std::int64_t count)
        : id("t" + std::to_string(count)), account("A" + std::to_string(count)), first(2 * count),
          second(2 * count + 1), parameters{account, 30, {{first, 5}, {second, 20}, {first, 15}}} {}

    template <typename Engine>
    void open(Engine& engine, std::int64_t balance) const {
        engine.create(ledgers, {account, balance, 0, ""}).value();
        engine.create(shelves, {first, 20}).value();
        engine.create(shelves, {second, 20}).value();
    }
    /// Everything was paid and taken, or nothing was.
    template <typename Engine>
    void check(Engine& engine, std::int64_t balance) const {
        auto const found = engine.find(id).value();
        bool const ran = found && found->state == settle::state::done;
        CHECK((!found || settle::is_final(found->state)));
        CHECK(engine.read(ledgers, account).value()->balance == (ran ? balance - 30 : balance));
        CHECK(engine.read(shelves, first).value()->amount == (ran ? 0 : 20));
        CHECK(engine.read(shelves, second).value()->amount == (ran ? 0 : 20));
    }

    std::string id;
    std::string account;
    std::int64_t first;
    std::int64_t second;
    order parameters;
};

template <typename Stores>
void usual_orders() {
    Stores stores;
    auto engine = stores.plain();
    private_order const paid{1};
    paid.open(engine, 100);
    CHECK(engine.run(paid.id, paid.parameters).done());
    CHECK(engine.run(paid.id, paid.parameters).done());
    paid.check(engine, 100);
    private_order const poor{2};
    poor.open(engine, 29);
    outcome const actual = engine.run(poor.id, poor.parameters);
    CHECK(actual.why == settle::reason::guard_failed);
    CHECK(actual.participant == "customer");
    poor.check(engine, 29);
    private_order greedy{3};
    greedy.open(engine, 100);
    greedy.parameters.lines.push_back({greedy.second, 1});
    outcome const short_of_stock = engine.run(greedy.id, greedy.parameters);
    CHECK(short_of_stock.participant == "stock");
    CHECK(short_of_stock.line == 3U);
    greedy.check(engine, 100);
    CHECK(engine.reverse(paid.id).done());
    CHECK(engine.read(ledgers, paid.account).value()->balance == 100);
    CHECK(engine.read(shelves, paid.first).value()->amount == 20);
    CHECK(engine.marks().value() == 0);
    check_settled(engine, {actual, short_of_stock});
}

template <typename Stores>
void hit_everywhere() {
    Stores stores;
    auto plain = stores.plain();
    std::int64_t count = 0;
    for (std::int64_t const balance : {100, 10}) {
        for (fault_kind const kind : every_kind) {
            for (std::size_t number = 1;; ++number) {
                INFO("balance ", balance, ", fault: ", std::string{name_of(kind)}, " at call ",
                     number);
                private_order const story{++count};
                story.open(plain, balance);
                fault_source source;
                source.plan(fault_at(number, kind));
                std::optional<outcome> outcome;
                {
                    auto engine = stores.fragile(source);
                    try {
                        outcome = engine.run(story.id, story.parameters);
                    } catch (crash const&) {
                    }
                }
                if (!is_crash(kind)) {
                    REQUIRE(outcome.has_value());
                    CHECK(outcome->verdict == (balance == 100 ? verdict::done : verdict::canceled));
                }
                bool const reached = source.calls() >= number;
                source.plan({});
                stores.time.advance(1s);
                CHECK(plain.recover(of_any_age()).skipped.empty());
                if (source.deliver_late() != 0) {
                    stores.time.advance(1s);
                    plain.recover(of_any_age());
                    plain.sweep();
                }
                story.check(plain, balance);
                CHECK(plain.marks().value() == 0);
                if (!reached) break;
            }
        }
    }
    CHECK(plain.sweep().looked_at == 0);
}

} // namespace settle_test
