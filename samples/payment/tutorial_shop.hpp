// SPDX-License-Identifier: BSL-1.0
// What the shop's program can do with what the tutorial's programs left.
#pragma once

#include "tutorial.hpp"

#include <shared/application.hpp>
#include <shared/exit_code.hpp>

#include <settle/mongodb/layout.hpp>

#include <array>
#include <string_view>

namespace shop {

class tutorial_shop {
public:
    static constexpr std::string_view name = "payment";
    static constexpr std::string_view pieces = "payments";
    static constexpr auto const& type = tutorial::payment_type;
    static constexpr std::array<std::string_view, 3> tables{
        tutorial::balances.name, tutorial::orders.name, "transaction"};

    static settle::mongodb::tutorial_layout layout() {
        settle::mongodb::tutorial_layout documents;
        documents.transactions = "transaction";
        documents.words = settle::mongodb::spelling::capitalised;
        return documents;
    }

    template <typename Store>
    auto make_engine(Store& store, settle::phases how) const {
        return settle::engine{store, settle::type<type>, how};
    }

    template <typename Engine>
    samples::money_sums sums(Engine& engine) const {
        samples::money_sums sums;
        each_purse(engine, [&](tutorial::purse const& each) {
            sums.now = samples::add(sums.now, each.amount);
        });
        return sums;
    }

    template <typename Engine>
    samples::exit_code show_balances(Engine& engine, std::string const& account) const {
        each_purse(engine, [&](tutorial::purse const& each) {
            if (account.empty() || account == each.id) {
                fmt::print("{:<20} {:>16}\n", each.id, each.amount);
            }
        });
        return samples::exit_code::settled;
    }

private:
    template <typename Engine, typename Visit>
    static void each_purse(Engine& engine, Visit&& visit) {
        for (tutorial::purse const& each : engine.scan(tutorial::balances)) visit(each);
        for (tutorial::purse const& each : engine.scan(tutorial::orders)) visit(each);
    }
};

} // namespace shop
