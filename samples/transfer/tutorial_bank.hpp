// SPDX-License-Identifier: BSL-1.0
// What the bank's program can do with what the tutorial's programs left.
#pragma once

#include "tutorial.hpp"

#include <shared/application.hpp>
#include <shared/exit_code.hpp>

#include <settle/mongodb/layout.hpp>

#include <array>
#include <string_view>

namespace bank {

class tutorial_bank {
public:
    static constexpr std::string_view name = "transfer";
    static constexpr std::string_view pieces = "transfers";
    static constexpr auto const& type = tutorial::transfer_type;
    static constexpr std::array<std::string_view, 2> tables{tutorial::accounts.name,
                                                            "transactions"};

    static settle::mongodb::tutorial_layout layout() {
        settle::mongodb::tutorial_layout documents;
        documents.fields = {{"amount", "value"}};
        return documents;
    }

    template <typename Store>
    auto make_engine(Store& store, settle::phases how) const {
        return settle::engine{store, settle::type<type>, how};
    }

    template <typename Engine>
    samples::money_sums sums(Engine& engine) const {
        samples::money_sums sums;
        for (tutorial::account const& each : engine.scan(tutorial::accounts)) {
            sums.now = samples::add(sums.now, each.balance);
        }
        return sums;
    }

    template <typename Engine>
    samples::exit_code show_balances(Engine& engine, std::string const& account) const {
        for (tutorial::account const& each : engine.scan(tutorial::accounts)) {
            if (account.empty() || account == each.id) {
                fmt::print("{:<20} {:>16}\n", each.id, each.balance);
            }
        }
        return samples::exit_code::settled;
    }
};

} // namespace bank
