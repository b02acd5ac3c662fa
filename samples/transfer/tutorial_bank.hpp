// SPDX-License-Identifier: BSL-1.0
// The commands of the bank's program for the leftovers of the tutorial's programs.
#pragma once

#include "tutorial.hpp"

#include <shared/tutorial_application.hpp>

#include <settle/mongodb/tutorial/layout.hpp>

#include <array>
#include <string_view>

namespace bank {

class tutorial_bank : public samples::tutorial_application<tutorial_bank, tutorial::transfer_type> {
public:
    static constexpr std::string_view name = "transfer";
    static constexpr std::string_view pieces = "transfers";
    static constexpr std::array<std::string_view, 2> tables{tutorial::accounts.name,
                                                            "transactions"};

    static settle::mongodb::tutorial_layout layout() {
        settle::mongodb::tutorial_layout documents;
        documents.fields = {{"amount", "value"}};
        return documents;
    }

    template <typename Engine, typename Visit>
    static void each_amount(Engine& engine, Visit&& visit) {
        for (tutorial::account const& each : engine.scan(tutorial::accounts)) {
            visit(each.id, each.balance);
        }
    }
};

} // namespace bank
