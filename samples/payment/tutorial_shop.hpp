// SPDX-License-Identifier: BSL-1.0
// The commands of the shop's program for the leftovers of the tutorial's programs.
#pragma once

#include "tutorial.hpp"

#include <shared/mongodb_store.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace shop {

class tutorial_shop {
public:
    static constexpr std::string_view name = "payment";
    static constexpr std::array<std::string_view, 3> tables{tutorial::balances.name,
                                                            tutorial::orders.name, "transaction"};
    static constexpr auto const& type = tutorial::payment_type;

    /// Some copies of the article call a balance's field `amount`.
    static settle::mongodb::tutorial_layout layout(std::string const& address) {
        settle::mongodb::tutorial_layout documents;
        documents.transactions = "transaction";
        documents.states = settle::mongodb::spelling::capitalised;
        auto const has = [&](char const* field) {
            return !address.empty() && samples::has_field(address, tutorial::balances.name, field);
        };
        if (has("amount") && !has("balance")) documents.record_fields = {{"balance", "amount"}};
        return documents;
    }

    template <typename Store, typename Make>
    auto with_arguments(Store& store, settle::phases how, Make&& make) const {
        return make(store, settle::type<type>, how);
    }

    template <typename Read, typename Visit>
    static void each_account(Read const& read, Visit&& visit) {
        auto [stored] = read(tutorial::balances);
        for (tutorial::purse const& each : stored) {
            visit(tutorial::balances.name, each.id, std::int64_t{0}, each.balance);
        }
    }
};

} // namespace shop
