// SPDX-License-Identifier: BSL-1.0
// The body of the function that kind.hpp declares.
#pragma once

#include <settle/mongodb/kind.hpp>

#include <settle/adapter/held_database.hpp>
#include <settle/mongodb.hpp>

#include <array>

SETTLE_BEGIN
namespace mongodb {

SETTLE_FUNCTION database_kind kind() {
    static constexpr std::array<std::string_view, 2> schemes{"mongodb", "mongodb+srv"};
    return {schemes, "mongodb://HOST[:PORT][,…]/DATABASE", [](std::string const& address) {
                return std::unique_ptr<settle::detail::erased_database>{
                    std::make_unique<settle::detail::held_database<database>>(address)};
            }};
}

} // namespace mongodb
SETTLE_END
