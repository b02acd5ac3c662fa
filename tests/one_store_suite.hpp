// SPDX-License-Identifier: BSL-1.0
// A log and two collections that are bound with objects of their own.
#pragma once

#include <settle/settle.hpp>
#include <settle/testing/store_suite/types.hpp>

#include <doctest/doctest.h>

#include "any_age.hpp"

#include <string>

namespace settle_test::one_store {

using namespace settle::testing;

/// The steps of one transaction.
inline std::string const one_phase = "one phase, end, ";
inline std::string const late = "apply, decide, confirm, close, end, ";

template <typename Log, typename Money, typename Goods, typename... More>
auto engine_over(Log& log, Money& money, Goods& goods, More const&... more) {
    return settle::engine{settle::log_in(log),          settle::bind(ledgers, money),
                          settle::bind(shelves, goods), settle::type<order_type>,
                          settle::type<move_type>,      more...};
}

/// Runs an order that is done, and an order for which the goods do not suffice.
/// Shape:   id - of the order, its account and its shelf
/// Returns: the steps of the first
template <typename Log, typename Money, typename Goods>
std::string steps_of_order(Log& log, Money& money, Goods& goods, std::int64_t id) {
    std::string steps;
    auto const name = "t" + std::to_string(id);
    {
        auto engine = engine_over(log, money, goods,
                                  settle::observed_by([&steps](settle::event const& event) {
                                      steps.append(name_of(event.taken)).append(", ");
                                  }));
        engine.create(ledgers, {name, 100, 0, ""}).value();
        engine.create(shelves, {id, 10}).value();
        CHECK(engine.run(name, order{name, 30, {{id, 4}, {id, 2}}}).done());
    }
    auto engine = engine_over(log, money, goods);
    auto const refused = engine.run(order{name, 30, {{id, 5}}});
    CHECK(refused.participant == "stock");
    CHECK(engine.at(ledgers, name).balance == 70);
    CHECK(engine.at(shelves, id).amount == 4);
    CHECK(engine.reverse(name).done());
    CHECK(engine.at(ledgers, name).balance == 100);
    CHECK(engine.at(shelves, id).amount == 10);
    CHECK(engine.marks().value() == 0);
    return steps;
}

/// A worker that ends after a step.
struct ended_here : crash {};

/// An engine finishes in one store what another has begun in two phases.
template <typename Log, typename Money, typename Goods>
void check_recovery(Log& log, Money& money, Goods& goods) {
    for (auto const last : {settle::step::apply, settle::step::commit}) {
        auto const id = static_cast<std::int64_t>(last) + 1000;
        auto const name = "t" + std::to_string(id);
        auto begins = engine_over(log, money, goods, settle::two_phases,
                                  settle::observed_by([last](settle::event const& event) {
                                      if (event.taken == last) throw ended_here{};
                                  }));
        begins.create(ledgers, {name, 100, 0, ""}).value();
        begins.create(shelves, {id, 10}).value();
        CHECK_THROWS_AS(std::ignore = begins.run(name, order{name, 30, {{id, 4}}}), ended_here);
        auto engine = engine_over(log, money, goods);
        CHECK(engine.marks().value() == 2);
        CHECK(engine.recover(of_any_age()).done == 1);
        CHECK(engine.marks().value() == 0);
        CHECK(engine.at(ledgers, name).balance == 70);
        CHECK(engine.at(shelves, id).amount == 6);
    }
}

/// Two objects of one database of tables.
/// Shape:   Place - a database of a server, or a schema: `address()`
template <typename Database, typename Place>
void check_tables() {
    Place const own;
    Place const elsewhere;
    Database first{own.address()};
    Database second{own.address()};
    Database other{elsewhere.address()};
    CHECK(steps_of_order(first, second, second, 1) == one_phase);
    // The object of the log serves them all.
    auto const before = second.round_trips();
    CHECK(steps_of_order(first, first, second, 2) == one_phase);
    CHECK(second.round_trips() == before);
    CHECK(steps_of_order(first, second, other, 3) == late);
    CHECK(steps_of_order(second, other, first, 4) == late);
    check_recovery(first, second, second);
}

} // namespace settle_test::one_store
