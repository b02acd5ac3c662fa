// SPDX-License-Identifier: BSL-1.0
// The commands of the shop's program for the leftovers of the tutorial's programs.
#pragma once

#include "tutorial.hpp"

#include <shared/mongodb_collections.hpp>
#include <shared/tutorial_application.hpp>

#include <settle/mongodb/tutorial/layout.hpp>

#include <array>
#include <string>
#include <string_view>

namespace shop {

class tutorial_shop : public samples::tutorial_application<tutorial_shop, tutorial::payment_type> {
public:
    static constexpr std::string_view name = "payment";
    static constexpr std::string_view pieces = "payments";
    static constexpr std::array<std::string_view, 3> tables{tutorial::balances.name,
                                                            tutorial::orders.name, "transaction"};

    static settle::mongodb::tutorial_layout layout() {
        settle::mongodb::tutorial_layout documents;
        documents.transactions = "transaction";
        documents.states = settle::mongodb::spelling::capitalised;
        return documents;
    }
    /// As above, for the database of an address. Some copies of the article call a balance's field
    /// `amount`.
    static settle::mongodb::tutorial_layout layout(std::string const& address) {
        auto documents = layout();
        auto const has = [&](char const* field) {
            return samples::has_field(address, tutorial::balances.name, field);
        };
        if (has("amount") && !has("balance")) documents.record_fields = {{"balance", "amount"}};
        return documents;
    }

    template <typename Engine, typename Visit>
    static void each_amount(Engine& engine, Visit&& visit) {
        for (tutorial::purse const& each : engine.scan(tutorial::balances)) {
            visit(each.id, each.balance);
        }
    }
};

} // namespace shop
