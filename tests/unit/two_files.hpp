// SPDX-License-Identifier: BSL-1.0
// Types whose records are in two SQLite files: accounts beside the log, and vaults elsewhere.
#pragma once

#include "engine_types.hpp"
#include "sqlite_file.hpp"

#include <thread>
#include <vector>

namespace two_files_test {

using namespace engine_test;
using sqlite_test::folder;
using sqlite_test::sql;

struct vault {
    std::string id;
    std::int64_t gold = 0;
};
struct deposit {
    std::string from, to;
    std::int64_t amount = 0;
};
/// An exclusive effect on an account: its new balance.
struct correction {
    std::string from, to;
    std::int64_t balance = 0;
};

} // namespace two_files_test
BOOST_HANA_ADAPT_STRUCT(two_files_test::vault, id, gold);
BOOST_HANA_ADAPT_STRUCT(two_files_test::deposit, from, to, amount);
BOOST_HANA_ADAPT_STRUCT(two_files_test::correction, from, to, balance);

namespace two_files_test {

inline constexpr settle::collection<vault, "vaults", &vault::id> vaults;

inline constexpr auto deposit_type = settle::transaction<deposit, "deposit">(
    settle::participant<"from">(accounts, param<&deposit::from>)
        .require(field<&account::balance> >= param<&deposit::amount>)
        .apply(field<&account::balance> -= param<&deposit::amount>)
        .compensate(settle::inverse),
    settle::participant<"to">(vaults, param<&deposit::to>)
        .confirm(field<&vault::gold> += param<&deposit::amount>));
inline constexpr auto correction_type = settle::transaction<correction, "correction">(
    settle::participant<"from">(accounts, param<&correction::from>)
        .apply(field<&account::balance> = param<&correction::balance>)
        .compensate(settle::inverse),
    settle::participant<"to">(vaults, param<&correction::to>)
        .confirm(field<&vault::gold> += lit<1>));

/// Accounts beside the log in one file, vaults in another.
struct two_files {
    folder own{};
    settle::sqlite::database books{own.file("books")};
    settle::sqlite::database cellar{own.file("cellar")};
    world_state world{};
    std::function<void(settle::event const&)> action{};

    template <typename... More>
    auto make(More const&... more) {
        return settle::engine{books,
                              settle::bind(vaults, cellar),
                              settle::type<deposit_type>,
                              settle::type<correction_type>,
                              settle::with_environment(manual_environment{world}),
                              settle::observed_by(hook{action}),
                              more...};
    }
    two_files() {
        auto engine = make();
        open_accounts(engine, {{"A", 100}, {"B", 0}});
        engine.create(vaults, {"V", 0}).value();
    }
    /// The marks in both files.
    [[nodiscard]] std::string marks() const {
        std::string const query = "SELECT count(*) FROM settle_mark";
        return sql(own.file("books"), query).at(0) + "+" + sql(own.file("cellar"), query).at(0);
    }
    [[nodiscard]] std::string sums() {
        auto engine = make();
        return std::to_string(balance_of(engine, "A")) + "+" +
               std::to_string(engine.at(vaults, "V").gold);
    }
};

/// Another program that writes into a file, and holds all other writers up.
class holding_program {
public:
    explicit holding_program(std::string const& file) {
        REQUIRE(::sqlite3_open(file.c_str(), &handle_) == SQLITE_OK);
        ::sqlite3_busy_timeout(handle_, 600'000);
        execute("BEGIN IMMEDIATE");
    }
    holding_program(holding_program const&) = delete;
    holding_program& operator=(holding_program const&) = delete;
    ~holding_program() { ::sqlite3_close(handle_); }
    void let_go() { execute("ROLLBACK"); }

private:
    void execute(char const* statement) {
        REQUIRE(::sqlite3_exec(handle_, statement, nullptr, nullptr, nullptr) == SQLITE_OK);
    }

    ::sqlite3* handle_ = nullptr;
};

/// Runs an action on several threads at once, and waits for all.
template <typename Action>
void on_threads(int count, Action const& action) {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < count; ++thread) {
        threads.emplace_back([&action, thread] { action(thread); });
    }
}

/// Windows whose transactions share a record in the log's own file end as in the order of the
/// input.
template <typename Engine>
void check_order_of_windows(two_files& files, Engine& engine) {
    std::vector<correction> corrections;
    for (std::int64_t balance = 1; balance <= 50; ++balance) {
        corrections.push_back({"A", balance % 7 == 0 ? "W" : "V", balance});
    }
    auto const outcomes = engine.run_all(corrections);
    std::int64_t done = 0;
    for (auto const& ended : outcomes) done += ended.done() ? 1 : 0;
    CHECK(done == 43);
    CHECK(files.sums() == "50+43");
    CHECK(files.marks() == "0+0");

    // The first two can be paid, the third not, and the fourth again.
    std::vector<deposit> const paid{{"A", "V", 20}, {"A", "V", 20}, {"A", "V", 20}, {"A", "V", 10}};
    auto const payments = engine.run_all(paid);
    CHECK(payments[0].done());
    CHECK(payments[1].done());
    CHECK(payments[2].why == reason::guard_failed);
    CHECK(payments[3].done());
    CHECK(files.sums() == "0+93");
    CHECK(files.marks() == "0+0");
}

} // namespace two_files_test
