// SPDX-License-Identifier: BSL-1.0
// The body of the function that kind.hpp declares.
#pragma once

#include <settle/mariadb/kind.hpp>

#include <settle/adapter/held_database.hpp>
#include <settle/mariadb.hpp>

#include <array>

SETTLE_BEGIN
namespace mariadb {

SETTLE_FUNCTION database_kind kind() {
    static constexpr std::array<std::string_view, 1> schemes{"mariadb"};
    return {schemes, "mariadb://HOST[:PORT]/DATABASE", [](std::string const& address) {
                return std::unique_ptr<settle::detail::erased_database>{
                    std::make_unique<settle::detail::held_database<database>>(address)};
            }};
}

} // namespace mariadb
SETTLE_END
