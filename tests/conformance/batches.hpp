// SPDX-License-Identifier: BSL-1.0
// Shared by the batch tests: types, engines of every kind, and the outcomes of single calls.
#pragma once

#include "../unit/sqlite_file.hpp"

#include <settle/memory.hpp>
#include <settle/settle.hpp>
#include <settle/sqlite.hpp>
#include <settle/testing/manual_environment.hpp>

#include <transfer/transfer.hpp>

#include <range/v3/view/iota.hpp>
#include <range/v3/view/istream.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

namespace batched {

/// Thrown to end a worker as a kill would.
struct killed : settle::testing::crash {};

using settle::field;
using settle::param;
using settle::participant;

struct label {
    BOOST_HANA_DEFINE_STRUCT(label, (std::string, id), (std::string, text));
};
inline constexpr settle::collection<label, "labels", &label::id> labels;

struct relabel {
    BOOST_HANA_DEFINE_STRUCT(relabel, (std::string, id), (std::string, before),
                             (std::string, after));
};
/// Requires the label that its predecessor wrote.
inline constexpr auto relabel_type = settle::transaction<relabel, "relabel">(
    participant<"label">(labels, param<&relabel::id>)
        .require(field<&label::text> == param<&relabel::before>)
        .confirm(field<&label::text> = param<&relabel::after>));

struct life {
    BOOST_HANA_DEFINE_STRUCT(life, (std::string, ends), (std::string, begins));
};
/// Erases one record and creates another.
inline constexpr auto life_type = settle::transaction<life, "life">(
    participant<"ends">(labels, param<&life::ends>).confirm(settle::erase),
    participant<"begins">(labels, param<&life::begins>)
        .apply(settle::create(field<&label::text> = param<&life::ends>))
        .compensate(settle::erase));

using orders = std::vector<std::pair<std::string, bank::transfer>>;

inline constexpr int accounts_open = 40;

inline std::string name_of_account(int number) { return "account " + std::to_string(number); }

template <typename Engine>
void open_accounts(Engine& engine) {
    for (int i = 0; i < accounts_open; ++i) {
        engine.create(bank::accounts, bank::account{name_of_account(i), 100, 100}).value();
    }
}

template <typename Engine>
std::int64_t balance_of(Engine& engine, int account) {
    return engine.read(bank::accounts, name_of_account(account)).value()->balance;
}

/// Transfers among the first accounts; many amounts exceed the balance.
inline orders random_transfers(unsigned seed, std::size_t count, int among) {
    std::mt19937 chance{seed};
    orders transfers;
    for (std::size_t i = 0; i < count; ++i) {
        int const from = static_cast<int>(chance() % static_cast<unsigned>(among));
        int const to = static_cast<int>(chance() % static_cast<unsigned>(among));
        std::string number = std::to_string(i);
        transfers.emplace_back("t" + std::string(5 - number.size(), '0') + number,
                               bank::transfer{name_of_account(from), name_of_account(to),
                                              1 + static_cast<std::int64_t>(chance() % 120)});
    }
    return transfers;
}

struct ends {
    std::vector<settle::outcome> outcomes;
    std::vector<std::int64_t> balances;
};

template <typename Engine>
std::vector<std::int64_t> balances_of(Engine& engine) {
    std::vector<std::int64_t> all;
    for (int i = 0; i < accounts_open; ++i) all.push_back(balance_of(engine, i));
    return all;
}

/// The outcomes and balances of the same orders run one after another.
inline ends one_by_one(orders const& batch) {
    settle::memory::database db;
    settle::engine engine{db, settle::type<bank::transfer_type>};
    open_accounts(engine);
    ends ends;
    for (auto const& [id, order] : batch) ends.outcomes.push_back(engine.run(id, order));
    ends.balances = balances_of(engine);
    return ends;
}

template <typename Engine>
bool same_records(Engine& engine, ends const& expected) {
    CHECK(balances_of(engine) == expected.balances);
    CHECK(engine.marks().value() == 0);
    return balances_of(engine) == expected.balances;
}

template <typename Engine>
bool same_end(Engine& engine, std::vector<settle::outcome> const& outcomes, ends const& expected) {
    REQUIRE(outcomes.size() == expected.outcomes.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        CHECK_MESSAGE(outcomes[i] == expected.outcomes[i],
                      outcomes[i].text() << " / " << expected.outcomes[i].text());
    }
    return outcomes == expected.outcomes && same_records(engine, expected);
}

/// Calls `function(engine, name)` with an engine on every kind of store, in every way.
/// Shape:   world - the environment of the engines
template <typename Function, typename Environment = settle::system_environment>
void for_each_engine(Function&& function, Environment const& world = {}) {
    {
        settle::memory::database db;
        settle::engine engine{db, settle::with_environment(world),
                              settle::type<bank::transfer_type>, settle::type<relabel_type>,
                              settle::type<life_type>};
        function(engine, "memory");
    }
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        sqlite_test::folder const folder;
        settle::sqlite::database db{folder.file()};
        settle::engine engine{db,
                              settle::with_environment(world),
                              settle::type<bank::transfer_type>,
                              settle::type<relabel_type>,
                              settle::type<life_type>,
                              how};
        bool const one_phase = how == settle::phases::one;
        function(engine, one_phase ? "sqlite in one phase" : "sqlite in two phases");
    }
    {
        sqlite_test::folder const here;
        settle::sqlite::database log{here.file("log")};
        settle::sqlite::database db{here.file("accounts")};
        settle::memory::database other;
        settle::engine engine{settle::log_in(log),
                              settle::bind(bank::accounts, db),
                              settle::bind(labels, other),
                              settle::with_environment(world),
                              settle::type<bank::transfer_type>,
                              settle::type<relabel_type>,
                              settle::type<life_type>};
        function(engine, "three stores");
    }
}

} // namespace batched
