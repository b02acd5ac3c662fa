// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mariadb.hpp declares.
#pragma once

#include <settle/mariadb.hpp>

#include <settle/mariadb/connection/schema.hpp>

SETTLE_BEGIN
namespace mariadb {

SETTLE_FUNCTION database::database(std::string const& address, options const& limits)
    : settle::detail::sql::database<detail::parts>(
          std::make_unique<detail::pool>(address, limits)) {
    detail::prepare_schema(from());
}

SETTLE_FUNCTION result<std::unique_ptr<database>> database::open(std::string const& address,
                                                                 options const& limits) {
    try {
        return std::make_unique<database>(address, limits);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

} // namespace mariadb
SETTLE_END
