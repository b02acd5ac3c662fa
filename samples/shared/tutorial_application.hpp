// SPDX-License-Identifier: BSL-1.0
// The shared part of an application for leftovers of the tutorial's programs.
#pragma once

#include "application.hpp"

#include <settle/settle.hpp>

#include <string>

namespace samples {

/// Shape:   Type - the type of the programs' transactions; Application offers each_amount(engine,
///          visit), which calls visit(id, amount) for each record that holds money, and the members
///          that commands<> lists for a tutorial
template <typename Application, auto const& Type>
class tutorial_application {
public:
    static constexpr auto const& type = Type;

    template <typename Store, typename Make>
    auto with_arguments(Store& store, settle::phases how, Make&& make) const {
        return make(store, settle::type<Type>, how);
    }

    template <typename Engine>
    money_sums sums(Engine& engine) const {
        money_sums sums;
        Application::each_amount(engine, [&](std::string const&, std::int64_t amount) {
            sums.now = add(sums.now, amount);
        });
        return sums;
    }

    /// Shape:   account - an account's id, or empty for all
    template <typename Engine>
    exit_code show_balances(Engine& engine, std::string const& account) const {
        bool found = account.empty();
        Application::each_amount(engine, [&](std::string const& id, std::int64_t amount) {
            if (!account.empty() && account != id) return;
            found = true;
            print_amount(id, std::to_string(amount));
        });
        if (found) return exit_code::settled;
        complain(Application::name, "there is no account '" + account + "'");
        return exit_code::refused;
    }
};

} // namespace samples
