// SPDX-License-Identifier: BSL-1.0
// What the shop's program can do with what the tutorial's programs left.
#pragma once

#include "tutorial.hpp"

#include <shared/tutorial_application.hpp>

#include <settle/mongodb/layout.hpp>

#include <array>
#include <string_view>

namespace shop {

class tutorial_shop : public samples::tutorial_application<tutorial_shop, tutorial::payment_type> {
public:
    static constexpr std::string_view name = "payment";
    static constexpr std::string_view pieces = "payments";
    static constexpr std::array<std::string_view, 3> tables{
        tutorial::balances.name, tutorial::orders.name, "transaction"};

    static settle::mongodb::tutorial_layout layout() {
        settle::mongodb::tutorial_layout documents;
        documents.transactions = "transaction";
        documents.words = settle::mongodb::spelling::capitalised;
        return documents;
    }

    template <typename Engine, typename Visit>
    static void each_amount(Engine& engine, Visit&& visit) {
        auto const visit_one = [&](tutorial::purse const& each) { visit(each.id, each.amount); };
        for (tutorial::purse const& each : engine.scan(tutorial::balances)) visit_one(each);
        for (tutorial::purse const& each : engine.scan(tutorial::orders)) visit_one(each);
    }
};

} // namespace shop
