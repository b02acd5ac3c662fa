// SPDX-License-Identifier: BSL-1.0
// The body of the function that kind.hpp declares.
#pragma once

#include <settle/sqlite/kind.hpp>

#include <settle/adapter/held_database.hpp>
#include <settle/sqlite.hpp>

#include <array>

SETTLE_BEGIN
namespace sqlite {

SETTLE_FUNCTION database_kind kind() {
    static constexpr std::array<std::string_view, 1> schemes{"sqlite"};
    return {schemes, "sqlite:PATH", [](std::string const& address) {
                return std::unique_ptr<settle::detail::erased_database>{
                    std::make_unique<settle::detail::held_database<database>>(
                        address.substr(sizeof "sqlite:" - 1))};
            }};
}

} // namespace sqlite
SETTLE_END
