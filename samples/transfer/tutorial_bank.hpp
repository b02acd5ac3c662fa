// SPDX-License-Identifier: BSL-1.0
// The commands of the bank's program for the leftovers of the tutorial's programs.
#pragma once

#include "tutorial.hpp"

#include <settle/mongodb/tutorial/layout.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bank {

class tutorial_bank {
public:
    static constexpr std::string_view name = "transfer";
    static constexpr std::array<std::string_view, 2> tables{tutorial::accounts.name,
                                                            "transactions"};
    static constexpr auto const& type = tutorial::transfer_type;

    static settle::mongodb::tutorial_layout layout(std::string const&) {
        settle::mongodb::tutorial_layout documents;
        documents.fields = {{"amount", "value"}};
        return documents;
    }

    template <typename Store, typename Make>
    auto with_arguments(Store& store, settle::phases how, Make&& make) const {
        return make(store, settle::type<type>, how);
    }

    template <typename Read, typename Visit>
    static void each_account(Read const& read, Visit&& visit) {
        auto [stored] = read(tutorial::accounts);
        for (tutorial::account const& each : stored) {
            visit(tutorial::accounts.name, each.id, std::int64_t{0}, each.balance);
        }
    }
};

} // namespace bank
