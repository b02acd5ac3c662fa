// SPDX-License-Identifier: BSL-1.0
// Calls that apply parts in another database before their entry is in the log.
#include "../any_age.hpp"
#include "late_bank.hpp"

#include <functional>
#include <thread>

namespace late_entries {

using namespace settle_test;
namespace {

/// A program that ends after a step.
struct ended_here : settle::testing::crash {};

/// Accounts beside the log in one schema, and vaults in another.
struct two_databases {
    fresh_schema books{};
    fresh_schema cellar{};
    std::function<void(settle::event const&)> action{};

    two_databases() {
        ask(books.address(), accounts_sql);
        ask(cellar.address(), vaults_sql);
    }
    [[nodiscard]] std::string sums() const {
        return ask_one(books.address(), "SELECT balance FROM accounts") + "+" +
               ask_one(cellar.address(), "SELECT gold FROM vaults");
    }
    [[nodiscard]] std::string marks() const {
        return ask_one(books.address(), "SELECT count(*) FROM settle_mark") + "+" +
               ask_one(cellar.address(), "SELECT count(*) FROM settle_mark");
    }
};

/// A program with databases of its own.
struct program {
    explicit program(two_databases& made)
        : books{made.books.address()}, cellar{made.cellar.address()}, action{&made.action} {}

    auto engine() {
        return settle::engine{books, settle::bind(vaults, cellar), settle::type<deposit_type>,
                              settle::observed_by([seen = action](settle::event const& event) {
                                  if (*seen) (*seen)(event);
                              })};
    }

    pg::database books;
    pg::database cellar;
    std::function<void(settle::event const&)>* action;
};

} // namespace

TEST_CASE("late: two databases, a worker that is killed at any step, and one that goes on") {
    using settle::step;
    for (auto const last : {step::apply, step::decide, step::confirm, step::close}) {
        CAPTURE(name_of(last));
        two_databases data;
        program first{data};
        auto engine = first.engine();
        data.action = [last](settle::event const& seen) {
            if (seen.taken == last) throw ended_here{};
        };
        CHECK_THROWS_AS(std::ignore = engine.run("t", deposit{"A", "V", 60}), ended_here);
        data.action = {};
        CHECK(data.marks() == (last == step::apply || last == step::decide ? "0+1" : "0+0"));
        program second{data};
        auto next = second.engine();
        CHECK(next.recover(of_any_age()).problem.empty());
        CHECK(data.marks() == "0+0");
        CHECK(data.sums() == (last == step::apply ? "1000+0" : "940+60"));
        CHECK(ask_one(data.books.address(), "SELECT state FROM settle_entry") ==
              (last == step::apply ? "7" : "3"));
        CHECK(next.run("t", deposit{"A", "V", 60}).done());
        CHECK(data.sums() == "940+60");
        CHECK(ask_one(data.books.address(), "SELECT state FROM settle_entry") == "3");
    }
}

TEST_CASE("late: programs run the same ids at once, beside a sweeper") {
    two_databases data;
    static_cast<void>(program{data}.engine());
    std::vector<std::pair<settle::transaction_id, deposit>> work;
    for (int number = 0; number < 60; ++number) {
        work.emplace_back("t" + std::to_string(number), deposit{"A", "V", 1});
    }
    std::vector<std::jthread> threads;
    std::atomic<int> done{0};
    std::atomic<bool> is_over{false};
    std::jthread sweeper{[&] {
        program own{data};
        auto engine = own.engine();
        while (!is_over) std::ignore = engine.sweep();
    }};
    for (std::size_t thread = 0; thread < 3; ++thread) {
        threads.emplace_back([&, thread] {
            program own{data};
            auto engine = own.engine();
            if (thread == 0) {
                for (auto const& outcome : engine.run_all(work)) done += outcome.done() ? 1 : 0;
                return;
            }
            for (auto const& [id, wanted] : work) done += engine.run(id, wanted).done() ? 1 : 0;
        });
    }
    threads.clear();
    is_over = true;
    sweeper.join();
    CHECK(done == 180);
    program last{data};
    auto engine = last.engine();
    CHECK(engine.recover(of_any_age()).problem.empty());
    CHECK(engine.sweep().problem.empty());
    CHECK(data.sums() == "940+60");
    CHECK(data.marks() == "0+0");
}

} // namespace late_entries
