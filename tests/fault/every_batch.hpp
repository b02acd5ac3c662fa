// SPDX-License-Identifier: BSL-1.0
// The batches of the searches of windows, whose order matters, and the other workers.
#pragma once

#include "../conformance/fixtures.hpp"

#include <settle/testing/every_run.hpp>
#include <settle/testing/store_suite/types.hpp>

#include <doctest/doctest.h>

#include <tuple>

namespace settle_test {

using namespace settle::testing;
using namespace std::chrono_literals;
using settle::field;
using settle::outcome;
using settle::detail::order_rules;

/// A batch, and the records and entries before it.
template <typename Parameters>
struct scene {
    std::vector<ledger> accounts;
    std::vector<shelf> stock;
    std::vector<Parameters> batch;
    std::size_t submitted = 0; ///< number of its transactions that were submitted before
};

/// The second transfer needs the money of the first. The first and the third compete for the money
/// of A, which suffices for one of them.
inline scene<move> const chain{{{"A", 100, 0, ""}, {"B", 0, 0, ""}, {"C", 0, 0, ""}},
                               {},
                               {{"A", "B", 60}, {"B", "C", 60}, {"A", "C", 60}}};

/// A transfer that also takes goods from a shelf. In `shelf_behind`, the second delivery needs the
/// money of the first; the second and the third each need all goods of the second shelf.
struct delivery {
    BOOST_HANA_DEFINE_STRUCT(delivery, (std::string, payer), (std::string, payee),
                             (std::int64_t, price), (std::int64_t, shelf), (std::int64_t, amount));
};
inline constexpr auto delivery_type = settle::transaction<delivery, "delivery">(
    settle::participant<"payer">(ledgers, settle::param<&delivery::payer>)
        .require(field<&ledger::balance> >= settle::param<&delivery::price>)
        .apply(field<&ledger::balance> -= settle::param<&delivery::price>)
        .compensate(settle::inverse),
    settle::participant<"payee">(ledgers, settle::param<&delivery::payee>)
        .confirm(field<&ledger::balance> += settle::param<&delivery::price>),
    settle::participant<"shelf">(shelves, settle::param<&delivery::shelf>)
        .require(field<&shelf::amount> >= settle::param<&delivery::amount>)
        .apply(field<&shelf::amount> -= settle::param<&delivery::amount>)
        .compensate(settle::inverse));
inline scene<delivery> const shelf_behind{
    {{"A", 100, 0, ""}, {"B", 0, 0, ""}, {"C", 50, 0, ""}},
    {{1, 10}, {2, 10}},
    {{"A", "B", 60, 1, 10}, {"B", "C", 60, 2, 10}, {"C", "A", 10, 2, 10}}};

/// The part of a chain that two transfers can show.
inline scene<move> const pair_of_transfers{
    {{"A", 100, 0, ""}, {"B", 0, 0, ""}, {"C", 0, 0, ""}}, {}, {{"A", "B", 60}, {"B", "C", 60}}};

/// If the third runs first, the money suffices for it, but then not for the second.
inline scene<move> const overtaking{{{"A", 100, 0, ""}, {"B", 10, 0, ""}, {"C", 0, 0, ""}},
                                    {},
                                    {{"A", "B", 50}, {"B", "C", 60}, {"B", "A", 10}}};

/// The first transaction is already in the log, and takes longer than the others.
inline scene<move> const begun{chain.accounts, {}, chain.batch, 1};

/// Each transaction adds to one account and labels the other account exclusively.
inline scene<tally> const crossing{
    {{"A", 0, 0, ""}, {"B", 0, 0, ""}}, {}, {{"A", "B", 1}, {"B", "A", 2}, {"A", "B", 4}}};

/// The other worker beside a batch.
enum class other_worker { recovers, cancels, sweeps, runs_the_same, purges };

[[nodiscard]] inline settle::transaction_id name_of_element(std::size_t number) {
    return "t" + std::to_string(number + 1);
}

template <typename Parameters>
[[nodiscard]] std::vector<std::pair<settle::transaction_id, Parameters>>
named(scene<Parameters> const& scene) {
    std::vector<std::pair<settle::transaction_id, Parameters>> made;
    for (auto const& one : scene.batch) made.emplace_back(name_of_element(made.size()), one);
    return made;
}

/// The outcomes of the elements run one after another.
template <typename Parameters>
[[nodiscard]] std::vector<outcome> one_by_one(scene<Parameters> const& scene) {
    settle::memory::database db;
    settle::engine engine{db, settle::type<move_type>, settle::type<delivery_type>,
                          settle::type<tally_type>};
    for (auto const& account : scene.accounts) engine.create(ledgers, account).value();
    for (auto const& shelf : scene.stock) engine.create(shelves, shelf).value();
    std::vector<outcome> outcomes;
    for (auto const& [id, one] : named(scene)) outcomes.push_back(engine.run(id, one));
    return outcomes;
}

template <typename Engine>
void act_beside(other_worker what, Engine& engine, auto& trial, auto const& batch) {
    settle::recover_options recovery;
    recovery.older_than = 0ms;
    switch (what) {
    case other_worker::recovers: trial.note_report(engine.recover(recovery)); break;
    case other_worker::cancels: trial.note(engine.cancel("t2")); break;
    case other_worker::sweeps: trial.note_report(engine.sweep()); break;
    case other_worker::runs_the_same:
        for (auto const& outcome : engine.run_all(batch)) trial.note(outcome);
        break;
    case other_worker::purges: {
        // The batch and its writes in flight stand still meanwhile.
        settle::purge_options const options;
        trial.pass(options.older_than + 1ms);
        static_cast<void>(engine.purge(options));
        break;
    }
    }
}

/// Runs a batch, alone or beside another worker. Returns the problems, or an empty text.
/// Shape:   trial - new, on its own databases
template <typename Trial, typename Parameters>
std::string run_scene(Trial&& trial, scene<Parameters> const& scene,
                      std::vector<other_worker> const& others) {
    for (auto const& account : scene.accounts) trial.open(ledgers, account);
    for (auto const& shelf : scene.stock) trial.open(shelves, shelf);
    trial.conserves(ledgers, field<&ledger::balance>);
    auto const batch = named(scene);
    std::vector<outcome> outcomes;
    trial.worker([&](auto& engine) {
        for (std::size_t i = 0; i < scene.submitted; ++i) {
            std::ignore = engine.submit(batch[i].first, batch[i].second);
        }
        settle::batch_options options;
        options.window = batch.size();
        auto got = engine.run_all(batch, options);
        for (auto const& one : got) trial.note(one);
        // A write that arrives late, after its undo, may have blocked other transactions.
        if (trial.landed() == 0) outcomes = std::move(got);
    });
    for (auto const one : others) {
        trial.worker([&, one](auto& engine) { act_beside(one, engine, trial, batch); });
    }
    std::string const wrong = trial.run();
    if (!wrong.empty() || !others.empty() || outcomes.empty()) return wrong;
    auto const expected = one_by_one(scene);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].verdict == settle::verdict::undecided || outcomes[i] == expected[i])
            continue;
        return "out of order: " + outcomes[i].text() + ", and alone: " + expected[i].text();
    }
    return {};
}

/// The stores of a batch: new databases for each run.
enum class store_kind {
    memory,
    three_databases,
    file_in_two_phases,
    file_in_one_phase,
    joined_commits, ///< the ledgers are in the file of the log, the shelves elsewhere
    late_entries    ///< the same, with entries that come with the commit
};

/// Shape:   Rules - of the order of a window; arguments - databases and the engine's other
///          arguments
template <typename Rules, typename... Arguments>
auto trial_of(run_choices& choices, Arguments&&... arguments) {
    return basic_trial<Rules, std::remove_cvref_t<Arguments>..., settle::type_tag<move_type>,
                       settle::type_tag<delivery_type>, settle::type_tag<tally_type>>{
        choices, arguments..., settle::type<move_type>, settle::type<delivery_type>,
        settle::type<tally_type>};
}

template <typename Rules, typename Parameters>
std::string run_scene(run_choices& choices, store_kind where, scene<Parameters> const& scene,
                      std::vector<other_worker> const& others) {
    if (where == store_kind::memory) {
        settle::memory::database db;
        return run_scene(trial_of<Rules>(choices, db, settle::early_entries), scene, others);
    }
    if (where == store_kind::three_databases) {
        settle::memory::database log;
        settle::memory::database bank;
        settle::memory::database shop;
        return run_scene(trial_of<Rules>(choices, settle::log_in(log), settle::bind(ledgers, bank),
                                         settle::bind(shelves, shop)),
                         scene, others);
    }
    scratch_file const file;
    settle::sqlite::database db{file.path()};
    if (where == store_kind::joined_commits || where == store_kind::late_entries) {
        settle::memory::database shop;
        auto const how =
            where == store_kind::late_entries ? settle::phases::one : settle::early_entries;
        return run_scene(trial_of<Rules>(choices, db, settle::bind(shelves, shop), how), scene,
                         others);
    }
    auto const how =
        where == store_kind::file_in_one_phase ? settle::phases::one : settle::two_phases;
    return run_scene(trial_of<Rules>(choices, db, how), scene, others);
}

} // namespace settle_test
